/**
 * Expressions that users write, checked before they are stored. The libraries are loaded with the first expression, because most processes never see one.
 * What an expression costs is not known before it runs, so it runs in a process of its own (judge-process.ts).
 */
import { createRequire } from "node:module";
import { stepsOf } from "./regex-steps.ts";

type Regexes = typeof import("re2js");
type Jsonata = typeof import("jsonata");

const load = createRequire(import.meta.url);
/** Of a message of a library, characters. */
const MOST_WORDS = 160;

/** Of a regular expression with its repetitions written out. Compiling takes 5 µs of a processor for each at worst, on a thread that others wait for. */
const MOST_STEPS = 10_000;

/** @returns why it is no regular expression of RE2, in words; undefined: it is one */
export function regexFault(text: string): string | undefined {
  if (stepsOf(text) > MOST_STEPS) return `its repetitions and ranges make more than ${MOST_STEPS} steps`;
  const { RE2JS } = load("re2js") as Regexes;
  return faultOf(() => RE2JS.compile(text));
}

/** @returns why it is no JSONata, in words; undefined: it is some */
export function queryFault(text: string): string | undefined {
  const jsonata = load("jsonata") as Jsonata;
  return faultOf(() => jsonata(text));
}

function faultOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return wordsOf(error);
  }
}

/** JSONata throws objects that are no errors. */
export function wordsOf(error: unknown): string {
  const said = typeof error === "object" && error !== null && "message" in error ? error.message : error;
  return String(said).replace(/\s+/g, " ").slice(0, MOST_WORDS);
}
