/** An option whose value is a JSON object: as it stands, from a file, or from a pipe. */
import { readFileSync } from "node:fs";
import { CommandError } from "../command.ts";

/** Characters that are read; the longest template of a channel is an eighth of it. */
const MOST_READ = 65_536;

/** @param what how the message names it: `--settings` */
export function jsonOf(words: unknown, what: string): Readonly<Record<string, unknown>> {
  const text = String(words);
  const json = text === "-" ? readText(0, what) : text.startsWith("@") ? readText(text.slice(1), what) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new CommandError(`${what} must be a JSON object`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new CommandError(`${what} must be a JSON object`);
  return value as Readonly<Record<string, unknown>>;
}

function readText(from: string | number, what: string): string {
  let text: string;
  try {
    text = readFileSync(from, "utf8");
  } catch (error) {
    throw new CommandError(`${what}: cannot read ${from} (${(error as NodeJS.ErrnoException).code})`);
  }
  if (text.length > MOST_READ) throw new CommandError(`${what} must have at most ${MOST_READ} characters`);
  return text;
}
