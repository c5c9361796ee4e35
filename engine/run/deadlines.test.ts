import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { DeadlineLink, Deadlines } from "./deadlines.ts";

class Entry extends DeadlineLink {
  readonly id: number;
  constructor(id: number) {
    super();
    this.id = id;
  }
}

const step = fc.oneof(
  fc.record({ act: fc.constant("add" as const), lengthMs: fc.constantFrom(0, 1, 10, 1000, 30_000) }),
  fc.record({ act: fc.constant("remove" as const), pick: fc.nat(1000) }),
  fc.record({ act: fc.constant("advance" as const), byMs: fc.nat(12_000) }),
);

describe("Deadlines", () => {
  test("agree with a plain list", { timeout: 120_000 }, () => {
    assertProperty(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const deadlines = new Deadlines<Entry>();
        const plain = new Map<Entry, number>();
        let nowMs = 0;
        let lastId = 0;
        for (const each of steps) {
          if (each.act === "add") {
            const entry = new Entry(++lastId);
            deadlines.add(entry, each.lengthMs, nowMs);
            plain.set(entry, nowMs + each.lengthMs);
          } else if (each.act === "remove") {
            const entry = [...plain.keys()][each.pick % Math.max(1, plain.size)];
            if (entry === undefined) continue;
            deadlines.remove(entry);
            deadlines.remove(entry);
            plain.delete(entry);
          } else {
            nowMs += each.byMs;
            const due = deadlines.takeDue(nowMs).map(({ id }) => id);
            const expected = [...plain].filter(([, atMs]) => atMs <= nowMs).map(([{ id }]) => id);
            mustEqual(
              due.toSorted((a, b) => a - b),
              expected,
            );
            for (const entry of plain.keys()) if (due.includes(entry.id)) plain.delete(entry);
          }
          mustEqual(deadlines.nextAtMs(), plain.size === 0 ? undefined : Math.min(...plain.values()));
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test("many lengths do not pile up", () => {
    const deadlines = new Deadlines<Entry>();
    for (let lengthMs = 0; lengthMs < 5_000; lengthMs++) {
      const entry = new Entry(lengthMs);
      deadlines.add(entry, lengthMs, 0);
      if (lengthMs % 100 !== 0) deadlines.remove(entry);
    }
    expect(deadlines.takeDue(5_000)).toHaveLength(50);
  });
});
