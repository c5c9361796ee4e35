/** What is wrong with a value that was sent, in words for people: zod's own name types of JavaScript, such as `undefined`, which JSON has not. */
import type { z } from "zod";

type Issue = z.core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
/** What is counted of each type; of all others the value itself is bounded. */
const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "entries" };

/**
 * To be given to `safeParse` as `error`; what a schema says in words of its own is said in those.
 * @returns what stands behind the path of the value, without a full stop; undefined: zod's own words
 */
export function issueWords(issue: Issue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is missing"
        : `must be ${TYPES[issue.expected] ?? `of type ${issue.expected}`}`;
    case "too_small":
      return `must ${bounded("at least", issue.minimum, issue.origin)}`;
    case "too_big":
      return `must ${bounded("at most", issue.maximum, issue.origin)}`;
    case "invalid_value":
      return `must be ${listed(issue.values.map(String))}`;
    case "unrecognized_keys":
      return `has no member ${issue.keys[0]?.slice(0, 60)}`;
    default:
      return undefined;
  }
}

function bounded(side: string, bound: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `be ${side} ${bound}`;
  return side === "at least" && bound === 1 ? "not be empty" : `have ${side} ${bound} ${unit}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
