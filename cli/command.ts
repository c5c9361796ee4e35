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

/** Of the commands that distinguish a wrong call from a check that did not pass. */
const USAGE = 2;

export function usageError(message: string): CommandError {
  return new CommandError(message, USAGE);
}

/** Wrong options end it as a wrong call, too. */
export function endsWrongCalls(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE));
}
