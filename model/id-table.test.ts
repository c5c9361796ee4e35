import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { IdTable } from "./id-table.ts";

/** Ids that share slots, and ids as large as those of checks. */
const id = fc.oneof(
  fc.nat(40),
  fc.nat(20).map((n) => n * 2 ** 32),
  fc.nat(90).map((n) => 1_764_200_000_000_000 + n),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, 2 ** 31, 2 ** 32, 2 ** 32 + 1),
);
const step = fc.record({ act: fc.constantFrom("set", "set", "take", "get"), id });

property([fc.array(step, { maxLength: 300 })], { numRuns: 1_000 })("agrees with a Map", (steps) => {
  const table = new IdTable<{ n: number }>();
  const map = new Map<number, { n: number }>();
  steps.forEach((each, n) => {
    if (each.act === "set") {
      table.set(each.id, { n });
      map.set(each.id, { n });
    } else if (each.act === "take") {
      expect(table.take(each.id)).toEqual(map.get(each.id));
      map.delete(each.id);
    }
    expect(table.get(each.id)).toEqual(map.get(each.id));
    expect(table.has(each.id)).toBe(map.has(each.id));
    expect(table.size).toBe(map.size);
  });
  expect(table.values()).toEqual([...map].sort(([a], [b]) => a - b).map(([, value]) => value));
  for (const [known, value] of map) expect(table.take(known)).toEqual(value);
  expect(table.size).toBe(0);
  expect(table.values()).toEqual([]);
});

it("finds each of many that come and go in turn", () => {
  const table = new IdTable<{ id: number }>();
  for (let next = 0; next < 50_000; next++) {
    table.set(next, { id: next });
    if (next >= 3_000) expect(table.take(next - 3_000)?.id).toBe(next - 3_000);
  }
  expect(table.size).toBe(3_000);
});
