/** A question with yes or no, to a person at a terminal. */
import { createInterface } from "node:readline";
import { CommandError, INTERRUPTED } from "./command.ts";

/** Standard error carries the question: standard output may go elsewhere. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** @returns whether the answer is yes; anything else is no. @throws CommandError on Ctrl-C or Ctrl-D */
export function askYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  return new Promise((resolve, reject) => {
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()));
      lines.close();
    });
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => reject(new CommandError("interrupted", INTERRUPTED)));
  });
}
