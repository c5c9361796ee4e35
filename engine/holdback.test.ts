import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOLD_MS, Holdback } from "./holdback.ts";

describe("Holdback", () => {
  test("keeps suspicious failures for a while, everything else goes at once", () => {
    const holdback = new Holdback<string>();
    expect(holdback.hold("pass", 1, false, 0)).toBe(false);
    expect(holdback.hold("fail", 2, true, 0)).toBe(true);
    expect(holdback.nextAtMs()).toBe(HOLD_MS);
    expect(holdback.release(HOLD_MS - 1, false)).toEqual([]);
    expect(holdback.release(HOLD_MS, false)).toEqual(["fail"]);
    expect(holdback.nextAtMs()).toBeUndefined();
  });

  test("one failure delays only what comes within its wait, however often the target is asked", () => {
    const holdback = new Holdback<string>();
    expect(holdback.hold("fail", 1, true, 0)).toBe(true);
    expect(holdback.hold("first pass", 1, false, 1_000)).toBe(true);
    expect(holdback.release(HOLD_MS, false)).toEqual(["fail", "first pass"]);
    expect(holdback.hold("second pass", 1, false, 2_000)).toBe(false);
  });

  test("a cut releases all at once", () => {
    const holdback = new Holdback<number>();
    for (let target = 0; target < 5_000; target++) holdback.hold(target, target, true, target);
    expect(holdback.release(0, true)).toHaveLength(5_000);
    expect(holdback.size).toBe(0);
  });

  test("nothing is lost, doubled, or overtaken by a later result of its target, or held too long", {
    timeout: 120_000,
  }, () => {
    const result = fc.record({
      target: fc.nat(4),
      isSuspicious: fc.boolean(),
      gapMs: fc.nat(900),
      isCut: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(result, { maxLength: 60 }), (results) => {
        const holdback = new Holdback<number>();
        const applied: { index: number; atMs: number }[] = [];
        const arrivedAtMs: number[] = [];
        let nowMs = 0;
        const release = (isCut: boolean) => {
          for (const index of holdback.release(nowMs, isCut)) applied.push({ index, atMs: nowMs });
        };
        results.forEach(({ target, isSuspicious, gapMs, isCut }, index) => {
          // The owner's timer: releases exactly when due.
          const untilMs = nowMs + gapMs;
          for (let next = holdback.nextAtMs(); next !== undefined && next <= untilMs; next = holdback.nextAtMs()) {
            nowMs = Math.max(nowMs, next);
            release(false);
          }
          nowMs = untilMs;
          arrivedAtMs.push(nowMs);
          if (!holdback.hold(index, target, isSuspicious, nowMs)) applied.push({ index, atMs: nowMs });
          if (isCut) release(true);
        });
        for (let next = holdback.nextAtMs(); next !== undefined; next = holdback.nextAtMs()) {
          nowMs = Math.max(nowMs, next);
          release(false);
        }
        expect(applied.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(results.map((_, index) => index));
        for (const { index, atMs } of applied) {
          expect(atMs - (arrivedAtMs[index] ?? 0)).toBeLessThanOrEqual(HOLD_MS);
        }
        for (let target = 0; target <= 4; target++) {
          const order = applied.map(({ index }) => index).filter((index) => results[index]?.target === target);
          expect(order).toEqual(order.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test("is bounded when everything fails and no cut is found", () => {
    const holdback = new Holdback<number>();
    for (let each = 0; each < 150_000; each++) holdback.hold(each, each, true, 0);
    expect(holdback.release(0, false)).toHaveLength(50_000);
    expect(holdback.size).toBe(100_000);
  });
});
