import { describe, expect, it } from "vitest";
import { PLANS } from "./plan.ts";
import {
  defaultGraceS,
  defaultIntervalS,
  delayAfterS,
  heartbeatDeadlineMs,
  refuseInterval,
  refusePeriod,
  timeoutMsOf,
} from "./schedule.ts";
import type { RegionalStatus } from "./status.ts";
import { VERDICTS, type Verdict } from "./verdict.ts";

describe("defaults", () => {
  it("checks every 180 s, or as often as the plan allows where that is less", () => {
    expect(defaultIntervalS(PLANS.free)).toBe(300);
    expect(defaultIntervalS(PLANS.starter)).toBe(180);
    expect(defaultIntervalS(PLANS.business)).toBe(180);
  });

  it.each([
    [60, 60],
    [299, 60],
    [300, 60],
    [302, 60],
    [303, 61],
    [3_600, 720],
    [86_400, 17_280],
    [604_800, 120_960],
  ])("a period of %i s has a grace of %i s", (periodS, graceS) => {
    expect(defaultGraceS(periodS)).toBe(graceS);
  });
});

describe("how long a check may take", () => {
  it.each([
    [1, 10],
    [30, 30],
    [3_600, 120],
  ])("follows an interval of %i s within the bounds of a time-out, where that was chosen", (intervalS, expectedS) => {
    expect(timeoutMsOf({ intervalS, timeoutS: 60, timeoutFollowsInterval: true })).toBe(expectedS * 1_000);
    expect(timeoutMsOf({ intervalS, timeoutS: 60, timeoutFollowsInterval: false })).toBe(60_000);
  });
});

describe("the plan's shortest", () => {
  it("refuses an interval below it", () => {
    expect(refuseInterval(29, PLANS.business)).toBe("The shortest interval on your plan is 30 seconds (requested 29).");
    expect(refuseInterval(299, PLANS.free)).toBe("The shortest interval on your plan is 300 seconds (requested 299).");
    expect(refuseInterval(30, PLANS.business)).toBeUndefined();
  });

  it("refuses a period below it", () => {
    expect(refusePeriod(60, PLANS.free)).toBe("The shortest period on your plan is 300 seconds (requested 60).");
    expect(refusePeriod(300, PLANS.free)).toBeUndefined();
  });
});

describe("delayAfterS", () => {
  it.each<[RegionalStatus, Verdict, number, number]>([
    ["up", "ok", 180, 180],
    ["pending", "timeout", 180, 30],
    ["pending", "timeout", 5, 5],
    ["pending", "auth-failed", 180, 30],
    ["down", "timeout", 180, 180],
    ["degraded", "auth-failed", 180, 180],
    ["pending", "unfit", 180, 30],
    ["down", "unfit", 180, 30],
    ["pending", "unsupported", 180, 180],
  ])("%s after %s, every %i s: %i s", (status, verdict, intervalS, delayS) => {
    expect(delayAfterS({ status }, verdict, intervalS)).toBe(delayS);
  });

  it("is never longer than the interval", () => {
    for (const verdict of VERDICTS) expect(delayAfterS({ status: "pending" }, verdict, 1)).toBe(1);
  });
});

describe("heartbeatDeadlineMs", () => {
  const facts = {
    periodS: 300,
    graceS: 60,
    lastCallAtMs: null,
    activeSinceMs: 1_000_000,
    readyAtMs: 0,
    heardUntilMs: null,
  };

  it.each([
    ["before the first call, from creation", {}, 1_360_000],
    ["from the last call", { lastCallAtMs: 1_100_000 }, 1_460_000],
    ["from a resume that came after the last call", { lastCallAtMs: 500_000 }, 1_360_000],
    ["not moved when it lies after we were ready", { readyAtMs: 1_359_999 }, 1_360_000],
    ["moved when it fell into our downtime", { readyAtMs: 1_400_000, heardUntilMs: 1_200_000 }, 1_760_000],
    ["moved when it fell on its very end", { readyAtMs: 1_360_000, heardUntilMs: 1_200_000 }, 1_720_000],
    ["moved when it is not known since when we were away", { readyAtMs: 1_400_000 }, 1_760_000],
    ["not moved when it had passed before", { readyAtMs: 1_400_000, heardUntilMs: 1_360_000 }, 1_360_000],
  ])("%s", (_name, more, deadlineMs) => {
    expect(heartbeatDeadlineMs({ ...facts, ...more })).toBe(deadlineMs);
  });
});
