import fc from "fast-check";
import { expect, it } from "vitest";
import { newLiveState } from "../../model/live.ts";
import { MONITOR_DEFAULTS, type Monitor } from "../../model/monitor.ts";
import type { LiveState } from "../../model/status.ts";
import { rewriterOf, viewMonitor } from "./view.ts";

const NOW_MS = 1_790_000_000_000;

function monitorOf(over: Partial<Monitor>): Monitor {
  return {
    ...MONITOR_DEFAULTS,
    ...{ id: 7, projectId: 1, organizationId: 1, name: 'A "shop",\n\u2028 {"status":1}', kind: "http" },
    ...{ settings: { url: "https://shop.test-site.org/" }, intervalS: 60, timeoutS: 10, locations: ["any", "nl"] },
    ...{ maintenance: null, createdAtMs: 1, updatedAtMs: 1 },
    ...over,
  } as Monitor;
}

const time = fc.option(fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }));
const location = fc.record({
  status: fc.constantFrom("healthy", "down", "pending", "unavailable"),
  lastCheckAtMs: time,
  pingMs: fc.option(fc.double({ min: 0, max: 60_000, noNaN: true })),
  errorCategory: fc.constantFrom(null, "timeout"),
});
const live = fc
  .record({
    status: fc.constantFrom("healthy", "down", "degraded", "partial", "unknown"),
    lastCheckedAtMs: time,
    latencyMs: fc.option(fc.double({ min: 0, max: 60_000, noNaN: true })),
    region: fc.option(fc.string()),
    certificate: fc.option(fc.record({ valid: fc.boolean(), expiresAtMs: fc.integer({ min: 0, max: 2e12 }) })),
    locations: fc.dictionary(fc.constantFrom("any", "nl"), location),
  })
  .map((made) => ({ ...newLiveState(7), ...made }) as LiveState);
const monitor = fc
  .record({
    kind: fc.constantFrom("http", "keyword", "ping", "push"),
    pauseReasons: fc.constantFrom([], ["user"]),
    tags: fc.array(fc.string()),
    disabledLocations: fc.constantFrom([], ["nl"]),
  })
  .map((made) => monitorOf(made as Partial<Monitor>));

it("is rewritten for a later check as its view would be made anew", () => {
  fc.assert(
    fc.property(monitor, live, live, time, (one, first, later, atMs) => {
      const url = "https://shop.test-site.org/";
      const rewrite = rewriterOf(one, viewMonitor({ monitor: one, live: first }, NOW_MS, { url }));
      const nowMs = atMs ?? NOW_MS;
      const words = JSON.stringify(viewMonitor({ monitor: one, live: later }, nowMs, { url }));
      expect(rewrite?.(later, nowMs).toString()).toBe(words);
      const before = rewrite?.(first, NOW_MS) ?? Buffer.of();
      const other = Buffer.alloc(Buffer.byteLength(words));
      for (const over of [before, other]) expect(rewrite?.(later, nowMs, over).toString()).toBe(words);
      expect(rewrite?.(later, nowMs, other)).toBe(other);
    }),
  );
});

it("is not rewritten where more than checks moves it", () => {
  const maintenance = { fromMs: 0, untilMs: 1 };
  for (const one of [monitorOf({ kind: "wireguard" as Monitor["kind"] }), monitorOf({ maintenance })])
    expect(rewriterOf(one, viewMonitor({ monitor: one, live: newLiveState(7) }, NOW_MS))).toBeNull();
});
