import { describe, expect, it } from "vitest";
import { SharedTime } from "./shared-time.ts";

const HOUR = 3_600_000;

/** A machine whose clock says so much more than the right one; the steady clock began at another moment. */
function machineThat(isOffBy: { ms: number }, at = { ms: 1_000_000_000_000 }) {
  return { wallNowMs: () => at.ms + isOffBy.ms, steadyNowMs: () => at.ms - 999_999_000_000.25, at };
}
/** What the others say, minus the steady clock. */
const RIGHT = 999_999_000_000.25;

describe("the common time", () => {
  it("is the machine's own while nothing else is known, and while it is right", () => {
    const off = { ms: 0 };
    const time = new SharedTime(undefined, machineThat(off));
    expect(time.wallNowMs()).toBe(1_000_000_000_000);
    expect(time.agree({ sqlMs: RIGHT + 900, redisMs: RIGHT - 1_500 })).toEqual({ ours: 0, sql: 0, redis: 0 });
    expect(time.wallNowMs()).toBe(1_000_000_000_000);
    expect(time.isAnyOff).toBe(false);
  });

  it("is the middle one of three while the machine's clock is off, in whole ms, in every thread", () => {
    for (const offMs of [HOUR, -HOUR, 300_000, -2_500]) {
      const machine = machineThat({ ms: offMs });
      const time = new SharedTime(undefined, machine);
      expect(time.agree({ sqlMs: RIGHT + 20, redisMs: RIGHT - 20 }).ours).not.toBe(0);
      const thread = new SharedTime(time.memory, machine);
      expect(Math.abs(thread.wallNowMs() - 1_000_000_000_000)).toBeLessThanOrEqual(21);
      expect(Number.isInteger(thread.wallNowMs())).toBe(true);
      expect(Math.abs(thread.machineAheadMs() - offMs)).toBeLessThanOrEqual(21);
      expect(thread.isAnyOff).toBe(true);
    }
  });

  it("does not follow a store whose clock is off, and says by how much Redis's is", () => {
    const time = new SharedTime(undefined, machineThat({ ms: 0 }));
    expect(time.agree({ sqlMs: RIGHT - HOUR, redisMs: RIGHT })).toEqual({ ours: 0, sql: -HOUR, redis: 0 });
    expect(time.wallNowMs()).toBe(1_000_000_000_000);
    expect(time.agree({ sqlMs: RIGHT, redisMs: RIGHT + HOUR })).toEqual({ ours: 0, sql: 0, redis: HOUR });
    expect([time.wallNowMs(), time.redisAheadMs(), time.isAnyOff]).toEqual([1_000_000_000_000, HOUR, true]);
  });

  it("goes on when the machine's clock is set between two looks, and uses it again when it is right", () => {
    const off = { ms: 0 };
    const machine = machineThat(off);
    const time = new SharedTime(undefined, machine);
    time.agree({ sqlMs: RIGHT, redisMs: RIGHT });
    off.ms = HOUR;
    machine.at.ms += 500;
    expect(time.wallNowMs()).toBe(1_000_000_000_500);
    time.agree({ sqlMs: RIGHT, redisMs: RIGHT });
    off.ms = 1_500;
    time.agree({ sqlMs: RIGHT, redisMs: RIGHT });
    expect(time.wallNowMs()).toBe(1_000_000_000_500);
    off.ms = 900;
    time.agree({ sqlMs: RIGHT, redisMs: RIGHT });
    expect([time.wallNowMs(), time.isAnyOff]).toEqual([1_000_000_001_400, false]);
  });
});
