import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { rowsAtOnce, rowsInView } from "./window.ts";

it("draws what is seen and a few more, as many everywhere", () => {
  expect(rowsInView(10_000, 36, 0, 720)).toEqual({ first: 0, end: 37 });
  expect(rowsInView(10_000, 36, 36_000, 720)).toEqual({ first: 992, end: 1_029 });
  expect(rowsInView(10_000, 36, 359_000, 720)).toEqual({ first: 9_963, end: 10_000 });
  expect(rowsInView(5, 36, -200, 720)).toEqual({ first: 0, end: 5 });
  expect(rowsInView(0, 36, 0, 720)).toEqual({ first: 0, end: 0 });
});

property([fc.nat(20_000), fc.integer({ min: -2_000, max: 900_000 }), fc.integer({ min: 0, max: 4_000 })])(
  "every row that is seen is drawn, and never more rows than there are",
  (count, top, view) => {
    const { first, end } = rowsInView(count, 36, top, view);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(end).toBeLessThanOrEqual(count);
    expect(end - first).toBe(Math.min(count, rowsAtOnce(36, view)));
    for (const row of [Math.floor(top / 36), Math.floor((top + view - 1) / 36)])
      if (row >= 0 && row < count && view > 0) expect(row >= first && row < end).toBe(true);
  },
);
