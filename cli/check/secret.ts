/** Passwords: from a file, from stdin, or typed without being shown; never from the command line, which every process can read. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError, INTERRUPTED, usageError } from "../command.ts";
import { readStdin } from "./stdin.ts";

/** Of a password file, bytes: one line of it is read. */
const LARGEST_BYTES = 65_536;

/** The first line. @param file `-` for stdin */
export async function readSecret(file: string): Promise<string> {
  const tooLarge = usageError(`${file} is no password file: it is larger than 64 KiB`);
  let text: string;
  try {
    text = file === "-" ? await readStdin(LARGEST_BYTES, tooLarge) : readFileSync(file, "utf8");
  } catch (error) {
    if (error === tooLarge) throw error;
    throw usageError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
  if (text.length > LARGEST_BYTES) throw tooLarge;
  const [secret = ""] = text.split(/\r?\n/, 1);
  if (secret === "") throw usageError(`${file === "-" ? "stdin" : file} has no password in its first line`);
  return secret;
}

/** @throws CommandError when there is no terminal to ask on */
export function askSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageError(`${question} is missing: give --password-file, or - as its file for stdin`);
  }
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(`${question}: `);
  return new Promise((resolve, reject) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => {
      process.stderr.write("\n");
      reject(new CommandError("interrupted", INTERRUPTED));
    });
  });
}
