/**
 * How many steps a regular expression becomes when its repetitions are written out, as RE2 does it. Its length says little: `(.{0,1000})` ninety times is
 * a thousand characters, and took half a second to compile. Pure.
 */

const COUNT = /\{(\d{1,4})(?:(,)(\d{0,4}))?\}/y;
/** A class of characters, with what may stand in it. */
const CLASS = /\[\^?\]?(?:\\.|\[:\^?\w{1,10}:\]|[^\]\\])*\]?/sy;
/** One character or class by its name, and a text that is taken as it is. */
const ESCAPE = /\\(?:Q(?:.*?(?:\\E|$))|[pPx]\{[^}]*\}?|.)?/sy;

/** Upper and lower case are one: RE2 then looks at each character of a range. */
const FOLDS = /\(\?[a-zA-Z]*i/;
/** A range in a class that goes beyond ASCII: up to 125,000 characters, which take 5 ms (measured). */
const LARGE_RANGE = /-(?:\\[x0-9]|\P{ASCII})/gu;
/** What such a range counts for, steps. */
const FOLDED_STEPS = 1_000;

/** @returns about so many as the compiled program has, of what is no expression some number */
export function stepsOf(regex: string): number {
  const folds = FOLDS.test(regex);
  const outer: number[] = [];
  let sum = 0;
  /** Of what a repetition behind it repeats. */
  let last = 0;
  for (let at = 0; at < regex.length; ) {
    const sign = regex[at];
    const count = sign === "{" ? matched(COUNT, regex, at) : null;
    const token = sign === "\\" ? matched(ESCAPE, regex, at) : sign === "[" ? matched(CLASS, regex, at) : count;
    at += token?.[0].length ?? 1;
    if (count !== null) {
      const [, least = "", isRange, most = ""] = count;
      const times = Math.max(1, Number(least) + (isRange !== undefined && most === "" ? 1 : 0), Number(most));
      sum += last * (times - 1);
      last *= times;
    } else if (sign === "(") {
      outer.push(sum);
      sum = 0;
      last = 0;
    } else if (sign === ")") {
      last = sum + 2;
      sum = (outer.pop() ?? 0) + last;
    } else if (sign === "*" || sign === "+" || sign === "?" || sign === "|") {
      sum += 1;
      last = sign === "|" ? 0 : last + 1;
    } else {
      const length = token?.[0].startsWith("\\Q") === true ? token[0].length : 1;
      const ranges = folds && sign === "[" ? (token?.[0].match(LARGE_RANGE)?.length ?? 0) : 0;
      sum += length + ranges * FOLDED_STEPS;
      last = 1;
    }
  }
  return outer.reduce((all, one) => all + one, sum);
}

function matched(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}
