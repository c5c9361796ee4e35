import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../testkit/must.ts";
import { assertProperty } from "../testkit/property.ts";
import { EVENT_TYPES } from "./event.ts";
import {
  type AttemptFacts,
  isDelivered,
  isEventType,
  judgeAttempt,
  OFF_AFTER_MS,
  RETRY_DELAYS_MS,
  RETRY_JITTER,
  wantsEvent,
} from "./webhook.ts";

const NOW_MS = 1_795_241_400_000;
const FAILED: AttemptFacts = { attempts: 1, statusCode: 500, endedAtMs: NOW_MS, failingSinceMs: null, random: 0.5 };

const facts = fc.record({
  attempts: fc.integer({ min: 1, max: 12 }),
  statusCode: fc.option(fc.integer({ min: 100, max: 599 })),
  endedAtMs: fc.integer({ min: NOW_MS, max: NOW_MS + 1e9 }),
  failingSinceMs: fc.option(fc.integer({ min: NOW_MS - 1e9, max: NOW_MS })),
  random: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
});

describe("judgeAttempt", () => {
  it("retries after the times of the table", () => {
    expect(RETRY_DELAYS_MS.map((ms) => ms / 60_000)).toEqual([1 / 12, 5, 30, 120, 300, 600, 840, 1_200, 1_440]);
    const waits = RETRY_DELAYS_MS.map(
      (_delay, index) => (judgeAttempt({ ...FAILED, attempts: index + 1 }).nextAttemptAtMs ?? 0) - NOW_MS,
    );
    expect(waits).toEqual(RETRY_DELAYS_MS);
    expect(judgeAttempt({ ...FAILED, attempts: 10 })).toMatchObject({ state: "failed", nextAttemptAtMs: null });
  });

  it("keeps every rule for whatever comes", () => {
    assertProperty(
      fc.property(facts, (attempt) => {
        const judged = judgeAttempt(attempt);
        const isGood = isDelivered(attempt.statusCode);
        mustEqual(judged.state === "delivered", isGood);
        mustEqual(judged.nextAttemptAtMs !== null, judged.state === "pending");
        if (isGood) expect(judged).toMatchObject({ failingSinceMs: null, off: null });
        else mustEqual(judged.failingSinceMs, attempt.failingSinceMs ?? attempt.endedAtMs);
        if (attempt.statusCode === 410) expect(judged).toMatchObject({ state: "failed", off: "gone" });
        const failingMs = attempt.endedAtMs - (attempt.failingSinceMs ?? attempt.endedAtMs);
        if (!isGood && attempt.statusCode !== 410) mustEqual(judged.off === "failing", failingMs >= OFF_AFTER_MS);
        if (judged.nextAttemptAtMs === null) return;
        const delayMs = RETRY_DELAYS_MS[attempt.attempts - 1] ?? Number.NaN;
        const waitMs = judged.nextAttemptAtMs - attempt.endedAtMs;
        expect(waitMs).toBeGreaterThanOrEqual(Math.floor(delayMs * (1 - RETRY_JITTER)));
        expect(waitMs).toBeLessThanOrEqual(Math.ceil(delayMs * (1 + RETRY_JITTER)));
      }),
      { numRuns: 5_000 },
    );
  });

  it("spreads retries of one moment", () => {
    const at = (random: number) => judgeAttempt({ ...FAILED, attempts: 3, random }).nextAttemptAtMs;
    expect(new Set([0, 0.2, 0.4, 0.6, 0.8, 0.999].map(at)).size).toBe(6);
  });

  it("switches off after five days without a success, and only then", () => {
    const day = 24 * 3_600_000;
    expect(judgeAttempt({ ...FAILED, failingSinceMs: NOW_MS - 5 * day + 1 }).off).toBeNull();
    expect(judgeAttempt({ ...FAILED, failingSinceMs: NOW_MS - 5 * day }).off).toBe("failing");
    expect(judgeAttempt({ ...FAILED, statusCode: 204, failingSinceMs: NOW_MS - 9 * day }).off).toBeNull();
  });
});

describe("wantsEvent", () => {
  it("sends what was chosen, everything when nothing was, and a test always", () => {
    for (const type of EVENT_TYPES) {
      expect(wantsEvent(null, type)).toBe(true);
      expect(wantsEvent(["incident.opened"], type)).toBe(type === "incident.opened" || type === "webhook.test");
    }
  });

  it("knows types by their whole name only", () => {
    expect(EVENT_TYPES.every((type) => isEventType(type))).toBe(true);
    for (const word of ["", "incident", "incident.Opened", "constructor"]) expect(isEventType(word)).toBe(false);
  });
});
