import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Downtime, uptimePercent } from "./uptime.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 24);
const WEEK = { fromMs: NOW_MS - 168 * HOUR_MS, toMs: NOW_MS };
const hoursAgo = (hours: number) => NOW_MS - hours * HOUR_MS;
const calm: Downtime = { down: [], pauseEvents: [], knownFromMs: 0 };

describe("uptimePercent", () => {
  it("weighs six hours of a week by time", () => {
    const down = [{ fromMs: hoursAgo(60), toMs: hoursAgo(54) }];
    expect(uptimePercent({ ...calm, down }, WEEK)).toBe(96.429);
  });

  it("is 100 without incidents, and 0 for one that lasts since before the period", () => {
    expect(uptimePercent(calm, WEEK)).toBe(100);
    expect(uptimePercent({ ...calm, down: [{ fromMs: hoursAgo(900), toMs: null }] }, WEEK)).toBe(0);
  });

  it("does not count pauses, though an incident stays open in one", () => {
    const down = [{ fromMs: hoursAgo(100), toMs: hoursAgo(20) }];
    const pauseEvents = [
      { type: "resumed", atMs: hoursAgo(21) },
      { type: "paused", atMs: hoursAgo(99) },
    ] as const;
    // Down for one hour before the pause and one behind it; watched for 168 - 78.
    expect(uptimePercent({ ...calm, down, pauseEvents }, WEEK)).toBe(97.778);
  });

  it("is null when nothing was watched", () => {
    expect(uptimePercent({ ...calm, pauseEvents: [{ type: "paused", atMs: hoursAgo(500) }] }, WEEK)).toBeNull();
    expect(uptimePercent({ ...calm, knownFromMs: NOW_MS }, WEEK)).toBeNull();
  });

  it("agrees with a count of hours, whatever happened", () => {
    const spans = fc.uniqueArray(fc.integer({ min: 0, max: 200 }), { maxLength: 20 }).map((ends) => {
      const sorted = ends.toSorted((a, b) => a - b);
      return Array.from(
        { length: Math.floor(sorted.length / 2) },
        (_, i) => [sorted[2 * i] ?? 0, sorted[2 * i + 1] ?? 0] as const,
      );
    });
    fc.assert(
      fc.property(spans, spans, fc.integer({ min: 0, max: 200 }), (downs, pauses, made) => {
        // Hours ago, from 200 to 0; the larger is the earlier.
        const known: Downtime = {
          down: downs.map(([end, begin]) => ({ fromMs: hoursAgo(begin), toMs: hoursAgo(end) })),
          pauseEvents: pauses.flatMap(([end, begin]) => [
            { type: "resumed" as const, atMs: hoursAgo(end) },
            { type: "paused" as const, atMs: hoursAgo(begin) },
          ]),
          knownFromMs: hoursAgo(made),
        };
        const within = (hour: number, [end, begin]: readonly [number, number]) => hour > end && hour <= begin;
        const hours = Array.from({ length: Math.min(made, 168) }, (_, i) => i + 1);
        const watched = hours.filter((hour) => !pauses.some((span) => within(hour, span)));
        const failed = watched.filter((hour) => downs.some((span) => within(hour, span)));
        const expected = watched.length === 0 ? null : (1 - failed.length / watched.length) * 100;
        const found = uptimePercent(known, WEEK);
        if (expected === null) expect(found).toBeNull();
        else expect(found).toBeCloseTo(expected, 2);
      }),
    );
  });
});
