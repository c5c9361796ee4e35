import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { DAY_MS, daysOf, type Past, uptimeOf } from "./days.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 24, 6);
const hoursAgo = (hours: number) => NOW_MS - hours * HOUR_MS;
const calm: Past = { incidents: [], pauseEvents: [], maintenance: [], knownFromMs: 0 };
const nothing = { downS: 0, degradedS: 0, maintenanceS: 0, pausedS: 0, unwatchedS: 0, incidents: 0 };

describe("daysOf", () => {
  it("cuts what happened at midnight, the running day at now", () => {
    const incidents = [{ fromMs: hoursAgo(8), downFromMs: hoursAgo(7), toMs: hoursAgo(5) }];
    expect(daysOf({ ...calm, incidents }, 3, NOW_MS)).toEqual([
      { ...nothing, fromMs: Date.UTC(2026, 10, 22) },
      { ...nothing, fromMs: Date.UTC(2026, 10, 23), degradedS: 3_600, downS: 3_600, incidents: 1 },
      { ...nothing, fromMs: Date.UTC(2026, 10, 24), downS: 3_600, incidents: 1 },
    ]);
  });

  it("counts a moment once: not watched, paused, in maintenance, down, in this order", () => {
    const past: Past = {
      incidents: [{ fromMs: hoursAgo(6), downFromMs: hoursAgo(6), toMs: null }],
      pauseEvents: [
        { type: "resumed", atMs: hoursAgo(3) },
        { type: "paused", atMs: hoursAgo(4) },
      ],
      maintenance: [
        { fromMs: hoursAgo(5), toMs: hoursAgo(2) },
        { fromMs: hoursAgo(2.5), toMs: hoursAgo(2) },
      ],
      knownFromMs: hoursAgo(5.5),
    };
    expect(daysOf(past, 1, NOW_MS)).toEqual([
      {
        fromMs: Date.UTC(2026, 10, 24),
        unwatchedS: 1_800,
        pausedS: 3_600,
        maintenanceS: 7_200,
        downS: 9_000,
        degradedS: 0,
        incidents: 1,
      },
    ]);
    expect(uptimeOf(past, 6 * HOUR_MS, NOW_MS)).toBe(0);
    expect(uptimeOf({ ...past, incidents: [] }, 6 * HOUR_MS, NOW_MS)).toBe(100);
  });

  it("has no uptime where nothing was watched", () => {
    expect(uptimeOf({ ...calm, knownFromMs: NOW_MS }, DAY_MS, NOW_MS)).toBeNull();
    expect(uptimeOf({ ...calm, pauseEvents: [{ type: "paused", atMs: hoursAgo(900) }] }, DAY_MS, NOW_MS)).toBeNull();
    expect(uptimeOf({ ...calm, pauseEvents: [{ type: "resumed", atMs: hoursAgo(0) }] }, DAY_MS, NOW_MS)).toBeNull();
  });

  it("agrees with a count of hours, whatever happened", () => {
    const hour = fc.integer({ min: -10, max: 100 });
    const spans = fc
      .uniqueArray(hour, { maxLength: 12 })
      .map((hours) => hours.toSorted((a, b) => b - a))
      .map((hours) =>
        hours.filter((_, index) => index % 2 === 1).map((to, index) => [hours[2 * index] ?? to, to] as const),
      );
    const pasts = fc.record({ incidents: spans, pauses: spans, maintenance: spans, known: hour });
    assertProperty(
      fc.property(pasts, ({ incidents, pauses, maintenance, known }) => {
        const past: Past = {
          incidents: incidents.map(([from, to]) => ({
            fromMs: hoursAgo(from),
            downFromMs: hoursAgo(from),
            toMs: hoursAgo(to),
          })),
          pauseEvents: pauses.toReversed().flatMap(([from, to]) => [
            { type: "resumed" as const, atMs: hoursAgo(to) },
            { type: "paused" as const, atMs: hoursAgo(from) },
          ]),
          maintenance: maintenance.map(([from, to]) => ({ fromMs: hoursAgo(from), toMs: hoursAgo(to) })),
          knownFromMs: hoursAgo(known),
        };
        const isIn = (all: readonly (readonly [number, number])[], ago: number) =>
          all.some(([from, to]) => ago <= from && ago > to);
        const counts = { unwatched: 0, paused: 0, maintenance: 0, down: 0, up: 0 };
        for (let ago = 54; ago > 0; ago -= 1) {
          if (ago > known) counts.unwatched += 1;
          else if (isIn(pauses, ago)) counts.paused += 1;
          else if (isIn(maintenance, ago)) counts.maintenance += 1;
          else counts[isIn(incidents, ago) ? "down" : "up"] += 1;
        }
        const days = daysOf(past, 3, NOW_MS);
        const sum = (field: "downS" | "pausedS" | "maintenanceS" | "unwatchedS") =>
          days.reduce((total, day) => total + day[field], 0) / 3_600;
        expect([sum("unwatchedS"), sum("pausedS"), sum("maintenanceS"), sum("downS")]).toEqual([
          counts.unwatched,
          counts.paused,
          counts.maintenance,
          counts.down,
        ]);
        const watched = counts.up + counts.down;
        const percent = watched === 0 ? null : Math.round((1 - counts.down / watched) * 100_000) / 1_000;
        expect(uptimeOf(past, 54 * HOUR_MS, NOW_MS)).toBe(percent);
      }),
      { numRuns: 200 },
    );
  });
});
