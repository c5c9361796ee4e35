import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areForgotten, quarantineMessage, type Strikes, strike } from "./quarantine.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("strike", () => {
  test("holds for an hour, then four, then a day and no longer", () => {
    let known: Strikes | undefined;
    const held: number[] = [];
    for (let round = 0; round < 5; round++) {
      const nowMs: number = known?.untilMs ?? 0;
      known = strike(known, nowMs);
      held.push(known.untilMs - nowMs);
    }
    expect(held).toEqual([HOUR_MS, 4 * HOUR_MS, DAY_MS, DAY_MS, DAY_MS]);
  });

  test("counts one event once, and begins anew after a week", () => {
    const first = strike(undefined, 1_000);
    expect(strike(first, 1_000 + HOUR_MS - 1)).toEqual(first);
    expect(strike(first, 1_000 + HOUR_MS).strikes).toBe(2);
    expect(areForgotten(first, 1_000 + 7 * DAY_MS)).toBe(false);
    expect(areForgotten(first, 1_001 + 7 * DAY_MS)).toBe(true);
    expect(strike(first, 1_001 + 7 * DAY_MS)).toMatchObject({ strikes: 1, lastAtMs: 1_001 + 7 * DAY_MS });
  });

  test("whatever comes when: it is held for an hour at least, a day at most, and never shorter than before", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 * DAY_MS }), { maxLength: 30 }), (gaps) => {
        let nowMs = 0;
        let known: Strikes | undefined;
        for (const gap of gaps) {
          nowMs += gap;
          const next = strike(known, nowMs);
          expect(next.untilMs).toBeGreaterThan(nowMs);
          expect(next.untilMs - next.lastAtMs).toBeGreaterThanOrEqual(HOUR_MS);
          expect(next.untilMs - next.lastAtMs).toBeLessThanOrEqual(DAY_MS);
          expect(next.untilMs).toBeGreaterThanOrEqual(known?.untilMs ?? 0);
          known = next;
        }
      }),
    );
  });

  test("the message says until when and why", () => {
    expect(quarantineMessage("hangs in native code", 0)).toBe(
      "This configuration brought a checker's thread down and is quarantined until 1970-01-01T00:00:00.000Z (hangs in native code)",
    );
  });
});
