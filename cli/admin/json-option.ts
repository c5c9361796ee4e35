/** An option whose value is a JSON object: as it stands, from a file, or from a pipe. */
import { readFileSync } from "node:fs";
import { isFields } from "../../model/plain-values.ts";
import { readStdin } from "../check/stdin.ts";
import { CommandError } from "../command.ts";

/** Characters that are read; the longest template of a channel is an eighth of it. */
const MOST_READ = 65_536;

/** @param what how the message names it: `--settings` */
export async function jsonOf(words: unknown, what: string): Promise<Readonly<Record<string, unknown>>> {
  const text = String(words);
  const json = text === "-" ? await readPipe(what) : text.startsWith("@") ? readText(text.slice(1), what) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new CommandError(`${what} must be a JSON object, such as {"name": "value"}, @file or - for stdin`);
  }
  if (!isFields(value)) throw new CommandError(`${what} must be a JSON object`);
  return value;
}

function readPipe(what: string): Promise<string> {
  return readStdin(MOST_READ, tooLong(what));
}

function tooLong(what: string): CommandError {
  return new CommandError(`${what} must have at most ${MOST_READ} characters`);
}

function readText(from: string, what: string): string {
  let text: string;
  try {
    text = readFileSync(from, "utf8");
  } catch (error) {
    throw new CommandError(`${what}: cannot read ${from} (${(error as NodeJS.ErrnoException).code})`);
  }
  if (text.length > MOST_READ) throw tooLong(what);
  return text;
}
