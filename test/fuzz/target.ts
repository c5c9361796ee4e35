/** A parser as the fuzz driver runs it. Seeds are valid inputs, made in code. */
import { Violation } from "./violation.ts";

type ErrorClass = abstract new (...args: never[]) => Error;

export interface FuzzTarget {
  readonly name: string;
  /** Inputs that the parser accepts. */
  readonly seeds: readonly Uint8Array[];
  /** Pieces that this format knows. */
  readonly words?: readonly (string | Uint8Array)[];
  /** What the parser may throw by its contract; nothing else may leave it. */
  readonly refusals?: readonly ErrorClass[];
  /** Characters of a refusal's message, at most. */
  readonly mostMessage?: number;
  /** Bytes of an input, at most. */
  readonly longest?: number;
  /** How many times the standard processor time an input may take; 1 when absent. */
  readonly cost?: number;
  /**
   * @returns what kind of result it was: inputs that lead to a new kind are kept and mutated further
   * @throws a refusal, or what must() throws when a property does not hold
   */
  run(input: Buffer): string | number | undefined;
}

export const text = (input: Uint8Array): string => Buffer.from(input.buffer, input.byteOffset, input.length).toString();

export const utf8 = (...texts: readonly string[]): readonly Buffer[] => texts.map((one) => Buffer.from(one));

export const json = (...values: readonly unknown[]): readonly Buffer[] =>
  utf8(...values.map((value) => JSON.stringify(value)));

/** Pieces of any JSON text. */
export const JSON_WORDS: readonly string[] = [...'",:{}[]', "null", "true", "1e309", "-0", "\\ud800", "\\u0000"];

/** @throws Violation with these words unless it is so */
export function must(isSo: boolean, words: string): void {
  if (!isSo) throw new Violation(words);
}
