/** The contract of a command: one file each in commands/, listed in commands/index.ts. */
import type { Command } from "commander";

/** Adds itself to the program: name, words, options, an example, and what it does. */
export type AddCommand = (program: Command) => void;

/** An error that the person at the terminal can correct: one line, no stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Exit code after Ctrl-C: 128 and SIGINT's number, as a shell reports it. */
export const INTERRUPTED = 130;
/** Exit code when the reader of our output has closed it: 128 and SIGPIPE's number, as a shell reports it. */
export const READER_GONE = 141;

/** Of the commands that distinguish a wrong call from a check that did not pass. */
const USAGE = 2;

/** Parser of an option that may be given several times: its words in their order. */
export function collected(word: string, before: readonly string[] = []): readonly string[] {
  return [...before, word];
}

export function usageError(message: string): CommandError {
  return new CommandError(message, USAGE);
}

/** Wrong options end it as a wrong call, too. */
export function endsWrongCalls(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE));
}
