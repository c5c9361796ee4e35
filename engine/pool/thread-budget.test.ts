import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ThreadBudget } from "./thread-budget.ts";

describe("ThreadBudget", () => {
  test("a check that is charged enough is set aside; light runs acquit it", () => {
    const budget = new ThreadBudget();
    expect(budget.charge(1, 300, 0)).toBe(false);
    expect(budget.standing(1, 0)).toBeNull();
    expect(budget.charge(1, 300, 59_000)).toBe(true);
    expect([budget.standing(1, 59_000), budget.standing(2, 59_000)]).toEqual(["aside", null]);
    expect(budget.measured(1, 5, 60_000)).toBe(0);
    expect(budget.standing(1, 60_000)).toBe("aside");
    expect(budget.measured(1, 5, 61_000)).toBe(0);
    expect([budget.standing(1, 61_000), budget.aside, budget.over]).toEqual([null, 0, 0]);
    // Charged anew, twice as many runs have to prove it.
    expect(budget.charge(1, 600, 62_000)).toBe(true);
    for (const left of [3, 2, 1, 0]) {
      budget.measured(1, 5, 63_000);
      expect([left, budget.aside]).toEqual([left, left === 0 ? 0 : 1]);
    }
  });

  test("charges of more than a minute ago are forgotten", () => {
    const budget = new ThreadBudget();
    for (let nowMs = 0; nowMs < 600_000; nowMs += 61_000) expect(budget.charge(1, 400, nowMs)).toBe(false);
  });

  test("a check that holds the thread rests so long that its share is a fiftieth, ten minutes at most", () => {
    const budget = new ThreadBudget();
    budget.charge(1, 1_500, 0);
    expect(budget.measured(1, 1_500, 1_000)).toBe(75_000);
    expect([budget.standing(1, 75_999), budget.standing(1, 76_000)]).toEqual(["rests", "aside"]);
    expect(budget.over).toBe(1);
    expect(budget.measured(1, 60_000, 76_000)).toBe(600_000);
    budget.forget(1);
    expect([budget.standing(1, 77_000), budget.aside, budget.over]).toEqual([null, 0, 0]);
  });

  test("whatever comes: the counts are those of the checks, and what is remembered is bounded", () => {
    const act = fc.record({
      type: fc.constantFrom("charge", "measured", "forget"),
      key: fc.integer({ min: 1, max: 5 }),
      ms: fc.integer({ min: 0, max: 2_000 }),
      laterMs: fc.integer({ min: 0, max: 100_000 }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const budget = new ThreadBudget();
        let nowMs = 0;
        for (const { type, key, ms, laterMs } of acts) {
          nowMs += laterMs;
          if (type === "charge") budget.charge(key, ms, nowMs);
          if (type === "measured") budget.measured(key, ms, nowMs);
          if (type === "forget") budget.forget(key);
          const aside = [1, 2, 3, 4, 5].filter((one) => budget.standing(one, nowMs) !== null);
          expect(budget.aside).toBe(aside.length);
          expect(budget.over).toBeGreaterThanOrEqual(0);
          expect(budget.over).toBeLessThanOrEqual(budget.aside);
        }
      }),
    );
    const budget = new ThreadBudget();
    for (let key = 1; key <= 12_000; key++) budget.charge(key, 1_000, 0);
    expect(budget.aside).toBeLessThanOrEqual(10_000);
  });
});
