/** Foreign bytes and texts by the hundred thousand: how every decoder is tried, in few seconds each. */
import fc from "fast-check";
import { it } from "vitest";
import { type Arbitraries, assertProperty } from "../../testkit/property.ts";

/** Inputs of one property, unless it makes several of each. */
const INPUTS = 100_000;
/** So many inputs or so long, whichever is less, on a machine that may be busy with other things, ms. */
const MAX_MS = 30_000;
const TIMEOUT_MS = 90_000;

/** @param check throws for what must not be; must() costs nothing where an expect() costs more than the decoder */
export function fuzz<Inputs extends [unknown, ...unknown[]]>(
  name: string,
  arbitraries: Arbitraries<Inputs>,
  check: (...inputs: Inputs) => void,
  numRuns = INPUTS,
): void {
  it(
    name,
    () => {
      const property = fc.property(...arbitraries, check);
      assertProperty(property, { numRuns, interruptAfterTimeLimit: MAX_MS });
    },
    TIMEOUT_MS,
  );
}
