/** What a property checks a hundred thousand times: an expect() costs many times what the code under test does, so it runs only where it fails. */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** @throws with these words unless it is so */
export function must(isSo: boolean, words: string): void {
  if (!isSo) throw new Error(words);
}

/** @throws with the difference unless both are equal in values and shape */
export function mustEqual(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted);
}
