/** Judges a text by a user's expressions: what the process for that does with each. It has no time limit of its own. */
import type { Expression } from "jsonata";
import { RE2JS } from "re2js";
import { BoundedMap } from "../../model/bounded-map.ts";
import { wordsOf } from "./expressions.ts";
import { compileQuery } from "./own-jsonata.ts";
import type { TextAnswer, TextRules } from "./text-judge.ts";

/** Compiled expressions that are kept, of each kind. */
const KEPT = 256;
/** Of a value in a message, characters. */
const MOST_SHOWN = 100;

const regexes = new BoundedMap<string, RE2JS>(KEPT);
const queries = new BoundedMap<string, Expression>(KEPT);

const PASSED: TextAnswer = { type: "passed" };

export async function judgeText({ regex, query, expected }: TextRules, text: string): Promise<TextAnswer> {
  if (
    regex !== null &&
    !compiledIn(regexes, regex, (one) => RE2JS.compile(one))
      .matcher(text)
      .find()
  ) {
    return failed("The regular expression matches nothing in the answer");
  }
  return query === null ? PASSED : judgeQuery(query, expected, text);
}

async function judgeQuery(query: string, expected: string | null, text: string): Promise<TextAnswer> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return failed("The answer is not JSON");
  }
  let found: unknown;
  try {
    found = await compiledIn(queries, query, compileQuery).evaluate(json, {});
  } catch (error) {
    return failed(`The query cannot be answered: ${wordsOf(error)}`);
  }
  if (expected === null) {
    return found === undefined || found === null || found === false
      ? failed(`The query gives ${shown(found)}`)
      : PASSED;
  }
  const given = textOf(found);
  return given === expected ? PASSED : failed(`The query gives ${shown(found)}, expected is ${shortened(expected)}`);
}

function compiledIn<Compiled>(known: BoundedMap<string, Compiled>, text: string, compile: (text: string) => Compiled) {
  const before = known.get(text);
  if (before !== undefined) return before;
  const compiled = compile(text);
  known.set(text, compiled);
  return compiled;
}

/** A text as it is, all else as JSON; functions and nothing have none. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shown(value: unknown): string {
  return shortened(textOf(value) ?? "nothing");
}

function shortened(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

function failed(message: string): TextAnswer {
  return { type: "failed", message };
}
