import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alertsOf, rememberSent, type SentExpiryAlert } from "./alert.ts";
import { newLiveState } from "./live.ts";
import type { LiveState, LiveStatus } from "./status.ts";

const DAY_MS = 86_400_000;
const AT_MS = 1_795_241_400_000;
const MONITOR = {
  kind: "http",
  locations: ["de", "nl"],
  disabledLocations: [],
  notifyOnPartial: true,
  sslExpirationDays: 14,
  domainExpirationDays: 30,
} as const;
const QUIET = { certificate: null, domainExpiresAtMs: null, startedAtMs: AT_MS };

function live(status: LiveStatus): LiveState {
  const down = {
    status: "down",
    confirmed: "down",
    notPassed: 2,
    failingSinceMs: AT_MS,
    lastCheckAtMs: AT_MS,
    pingMs: null,
  } as const;
  const up = {
    status: "up",
    confirmed: "up",
    notPassed: 0,
    failingSinceMs: null,
    lastCheckAtMs: AT_MS,
    pingMs: 1,
  } as const;
  return {
    ...newLiveState(7),
    status,
    locations: { de: { ...down, errorCategory: null }, nl: { ...up, errorCategory: null } },
  };
}

function expiring(days: number, atMs = AT_MS) {
  return {
    certificate: { valid: true, expiresAtMs: AT_MS + days * DAY_MS },
    domainExpiresAtMs: null,
    startedAtMs: atMs,
  };
}

describe("alertsOf", () => {
  it("tells of a partial outage when it begins, with the locations that are down", () => {
    const begun = alertsOf(MONITOR, "healthy", live("partial"), QUIET, []);
    expect(begun).toEqual([
      { type: "partial", monitorId: 7, atMs: AT_MS, previousStatus: "healthy", locationsDown: ["de"] },
    ]);
    expect(alertsOf(MONITOR, "partial", live("partial"), QUIET, [])).toEqual([]);
    expect(alertsOf({ ...MONITOR, notifyOnPartial: false }, "down", live("partial"), QUIET, [])).toEqual([]);
  });

  it("tells of a certificate once its threshold is crossed, and not when none is set", () => {
    const told = (days: number, threshold: number | null) =>
      alertsOf({ ...MONITOR, sslExpirationDays: threshold }, "healthy", live("healthy"), expiring(days), []);
    expect(told(15, 14)).toEqual([]);
    expect(told(14.5, 14)).toMatchObject([{ type: "expiring", subject: "certificate", thresholdDays: 14 }]);
    expect(told(-3, 14)).toHaveLength(1);
    expect(told(1, null)).toEqual([]);
  });

  it("tells of the domain apart from the certificate", () => {
    const outcome = { ...expiring(3), domainExpiresAtMs: AT_MS + 20 * DAY_MS };
    const alerts = alertsOf(MONITOR, "healthy", live("healthy"), outcome, []);
    expect(alerts).toMatchObject([{ subject: "certificate" }, { subject: "domain", thresholdDays: 30 }]);
  });

  it("tells each certificate and threshold once, whatever is seen in whatever order", () => {
    const step = fc.record({
      certificate: fc.integer({ min: 0, max: 3 }),
      afterDays: fc.integer({ min: 0, max: 20 }),
      threshold: fc.constantFrom(1, 3, 7, 14, 30, 60),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let told: readonly SentExpiryAlert[] = [];
        let nowMs = AT_MS;
        const best = new Map<number, number>();
        for (const { certificate, afterDays, threshold } of steps) {
          nowMs += afterDays * DAY_MS;
          const expiresAtMs = AT_MS + (certificate + 1) * 90 * DAY_MS;
          const outcome = { ...QUIET, certificate: { valid: true, expiresAtMs }, startedAtMs: nowMs };
          const monitor = { ...MONITOR, sslExpirationDays: threshold };
          const alerts = alertsOf(monitor, "healthy", live("healthy"), outcome, told);
          const isDue = Math.floor((expiresAtMs - nowMs) / DAY_MS) <= threshold;
          // A lower threshold than any told of this certificate is a crossing of its own.
          expect(alerts).toHaveLength(isDue && threshold < (best.get(expiresAtMs) ?? Number.POSITIVE_INFINITY) ? 1 : 0);
          for (const alert of alerts) {
            if (alert.type !== "expiring") continue;
            told = rememberSent(told, alert);
            best.set(expiresAtMs, threshold);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
