/** Properties of what takes no time of its own: each input is tried at once, for a promise and a timer for each cost more than most parsers do. */
import fc from "fast-check";
import { it } from "vitest";

export type Arbitraries<Inputs extends [unknown, ...unknown[]]> = {
  [Index in keyof Inputs]: fc.Arbitrary<Inputs[Index]>;
};

/**
 * A property as a test: `property([fc.string()])("name", (text) => …)`.
 * @returns takes the name, the check (throws or says false for what must not be) and how long all of it may take, ms
 */
export function property<Inputs extends [unknown, ...unknown[]]>(
  arbitraries: Arbitraries<Inputs>,
  parameters: fc.Parameters<Inputs> = {},
): (name: string, check: (...inputs: Inputs) => undefined | boolean, withinMs?: number) => void {
  return (name, check, withinMs) => {
    it(name, () => assertProperty(fc.property(...arbitraries, check), parameters), withinMs);
  };
}

/** As fc.assert, for many inputs. @throws with the input that it does not hold of, made as small as may be, and the seed */
export function assertProperty<Inputs>(one: fc.IProperty<Inputs>, parameters: fc.Parameters<Inputs> = {}): void {
  withShortStacks(() => fc.assert(one, parameters));
}

/** Tens of thousands of refusals are thrown and their stacks are not read: recording them costs more than the parsing. */
function withShortStacks(run: () => void): void {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 2;
  try {
    run();
  } finally {
    Error.stackTraceLimit = before;
  }
}
