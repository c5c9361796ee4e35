import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { PassingRows } from "./passing-rows.ts";

const passing = (rows: PassingRows, end: number) => Array.from({ length: end }, (_, n) => n).filter((n) => rows.has(n));

it("draws rows whole while few come into view", () => {
  const rows = new PassingRows();
  expect(rows.moved({ first: 0, end: 20 }, { first: 3, end: 23 })).toBe(false);
  expect(passing(rows, 30)).toEqual([]);
});

it("draws in part those of many that come, and whole a few at a time when they rest", () => {
  const rows = new PassingRows();
  expect(rows.moved({ first: 0, end: 20 }, { first: 8, end: 28 })).toBe(true);
  expect(passing(rows, 40)).toEqual([20, 21, 22, 23, 24, 25, 26, 27]);
  expect(rows.settle()).toBe(true);
  expect(passing(rows, 40)).toEqual([25, 26, 27]);
  expect(rows.settle()).toBe(false);
  expect(passing(rows, 40)).toEqual([]);
});

property([fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 20 })])(
  "only rows of the view are drawn in part, and soon none",
  (places) => {
    const rows = new PassingRows();
    let before = { first: 0, end: 30 };
    for (const first of places) {
      const next = { first, end: first + 30 };
      rows.moved(before, next);
      before = next;
      for (const index of passing(rows, 600)) expect(index >= next.first && index < next.end).toBe(true);
    }
    let turns = 0;
    while (rows.settle()) turns += 1;
    expect(turns).toBeLessThan(30);
    expect(rows.isEmpty).toBe(true);
    expect(passing(rows, 600)).toEqual([]);
  },
);
