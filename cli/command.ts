/** The contract of a command: one file each in commands/, listed in commands/index.ts. */
import type { Command } from "commander";

/** Adds itself to the program: name, words, options, an example, and what it does. */
export type AddCommand = (program: Command) => void;

/** Something the person at the terminal can mend: one line, exit code 1, no stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
