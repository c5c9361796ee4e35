import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { must, mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { HOLD_MS, SuspectBuffer } from "./suspect-buffer.ts";

describe("SuspectBuffer", () => {
  test("keeps suspicious failures for a while, everything else goes at once", () => {
    const buffer = new SuspectBuffer<string>();
    expect(buffer.hold("pass", 1, false, 0)).toBe(false);
    expect(buffer.hold("fail", 2, true, 0)).toBe(true);
    expect(buffer.nextAtMs()).toBe(HOLD_MS);
    expect(buffer.release(HOLD_MS - 1, false)).toEqual([]);
    expect(buffer.release(HOLD_MS, false)).toEqual(["fail"]);
    expect(buffer.nextAtMs()).toBeUndefined();
  });

  test("one failure delays only what comes within its wait, however often the target is asked", () => {
    const buffer = new SuspectBuffer<string>();
    expect(buffer.hold("fail", 1, true, 0)).toBe(true);
    expect(buffer.hold("first pass", 1, false, 1_000)).toBe(true);
    expect(buffer.release(HOLD_MS, false)).toEqual(["fail", "first pass"]);
    expect(buffer.hold("second pass", 1, false, 2_000)).toBe(false);
  });

  test("a cut releases all at once", () => {
    const buffer = new SuspectBuffer<number>();
    for (let target = 0; target < 5_000; target++) buffer.hold(target, target, true, target);
    expect(buffer.release(0, true)).toHaveLength(5_000);
    expect(buffer.size).toBe(0);
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
    assertProperty(
      fc.property(fc.array(result, { maxLength: 60 }), (results) => {
        const buffer = new SuspectBuffer<number>();
        const applied: { index: number; atMs: number }[] = [];
        const arrivedAtMs: number[] = [];
        let nowMs = 0;
        const release = (isCut: boolean) => {
          for (const index of buffer.release(nowMs, isCut)) applied.push({ index, atMs: nowMs });
        };
        results.forEach(({ target, isSuspicious, gapMs, isCut }, index) => {
          // The owner's timer: releases exactly when due.
          const untilMs = nowMs + gapMs;
          for (let next = buffer.nextAtMs(); next !== undefined && next <= untilMs; next = buffer.nextAtMs()) {
            nowMs = Math.max(nowMs, next);
            release(false);
          }
          nowMs = untilMs;
          arrivedAtMs.push(nowMs);
          if (!buffer.hold(index, target, isSuspicious, nowMs)) applied.push({ index, atMs: nowMs });
          if (isCut) release(true);
        });
        for (let next = buffer.nextAtMs(); next !== undefined; next = buffer.nextAtMs()) {
          nowMs = Math.max(nowMs, next);
          release(false);
        }
        mustEqual(
          applied.map(({ index }) => index).toSorted((a, b) => a - b),
          results.map((_, index) => index),
        );
        for (const { index, atMs } of applied) {
          must(atMs - (arrivedAtMs[index] ?? 0) <= HOLD_MS, "it was held too long");
        }
        for (let target = 0; target <= 4; target++) {
          const order = applied.map(({ index }) => index).filter((index) => results[index]?.target === target);
          mustEqual(
            order,
            order.toSorted((a, b) => a - b),
          );
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test("is bounded when everything fails and no cut is found", () => {
    const buffer = new SuspectBuffer<number>();
    for (let each = 0; each < 150_000; each++) buffer.hold(each, each, true, 0);
    expect(buffer.release(0, false)).toHaveLength(50_000);
    expect(buffer.size).toBe(100_000);
  });
});
