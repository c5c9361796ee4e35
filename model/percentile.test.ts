import fc from "fast-check";
import { expect, it } from "vitest";
import { percentileOf } from "./percentile.ts";

it.each([
  [[], 0.5, null],
  [[7], 0.99, 7],
  [[4, 1, 3, 2], 0, 1],
  [[4, 1, 3, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.51, 3],
  [[4, 1, 3, 2], 1, 4],
  [Array.from({ length: 200 }, (_, at) => at + 1), 0.99, 198],
])("of %j the share %d is %s", (numbers, share, expected) => {
  expect(percentileOf(numbers, share)).toBe(expected);
});

it("is one of the numbers, and so many are no larger", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (numbers, share) => {
        const found = percentileOf(numbers, share) ?? Number.NaN;
        expect(numbers).toContain(found);
        expect(numbers.filter((number) => number <= found).length).toBeGreaterThanOrEqual(numbers.length * share);
      },
    ),
  );
});
