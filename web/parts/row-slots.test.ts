import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { RowSlots } from "./row-slots.ts";

const AT_ONCE = 5;
const idsFrom = (first: number) => Array.from({ length: AT_ONCE }, (_, n) => `id ${first + n}`);
const keysOf = (rows: ReturnType<RowSlots["place"]>) => new Map(rows.map(({ index, key }) => [index, key]));

it("shows what comes into view in the rows that leave it, and puts them in order when it is asked", () => {
  const slots = new RowSlots();
  const before = keysOf(slots.place(0, idsFrom(0), AT_ONCE, null, false));
  const scrolled = slots.place(2, idsFrom(2), AT_ONCE, null, false);
  expect(scrolled.map(({ index }) => index)).toEqual([5, 6, 2, 3, 4]);
  expect([5, 6].map((index) => keysOf(scrolled).get(index))).toEqual([0, 1].map((index) => before.get(index)));
  const ordered = slots.place(2, idsFrom(2), AT_ONCE, null, true);
  expect(ordered.map(({ index }) => index)).toEqual([2, 3, 4, 5, 6]);
  expect(keysOf(ordered)).toEqual(keysOf(scrolled));
});

it("never lets the row that has the focus show another thing", () => {
  const slots = new RowSlots();
  const held = keysOf(slots.place(0, idsFrom(0), AT_ONCE, null, false)).get(1);
  // What it shows has gone up by one: so does the row.
  const moved = slots.place(0, ["id 1", "id 0", "id 2", "id 3", "id 4"], AT_ONCE, 1, false);
  expect(keysOf(moved).get(0)).toBe(held);
  const away = slots.place(2, idsFrom(2), AT_ONCE, 0, false);
  expect([...keysOf(away).values()]).not.toContain(held);
});

property([fc.array(fc.tuple(fc.nat(40), fc.option(fc.nat(44)), fc.boolean()), { maxLength: 20 })])(
  "each row is drawn once, with a key of its own",
  (steps) => {
    const slots = new RowSlots();
    for (const [first, focused, inOrder] of steps) {
      const rows = slots.place(first, idsFrom(first), AT_ONCE, focused, inOrder);
      expect(rows.map(({ index }) => index).sort((a, b) => a - b)).toEqual(idsFrom(0).map((_, n) => first + n));
      expect(new Set(rows.map(({ key }) => key)).size).toBe(AT_ONCE);
    }
  },
);
