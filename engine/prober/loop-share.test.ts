import { describe, expect, test } from "vitest";
import { LoopShare } from "./loop-share.ts";

/** A thread on which time passes as the test says: computing or waiting. */
function thread() {
  const clock = { nowMs: 1_000, cpuMs: 10 };
  let charged = new Map<number, number>();
  const share = new LoopShare(
    clock.nowMs,
    () => clock.cpuMs,
    (holds) => {
      for (const [key, ms] of holds) charged.set(key, (charged.get(key) ?? 0) + ms);
    },
  );
  const take = () => {
    const taken = Object.fromEntries(charged);
    charged = new Map();
    return taken;
  };
  return {
    compute: (ms: number) => {
      clock.nowMs += ms;
      clock.cpuMs += ms;
    },
    wait: (ms: number) => {
      clock.nowMs += ms;
    },
    mark: (key: number) => share.mark(key, clock.nowMs),
    told: take,
    tick: () => {
      share.tick(clock.nowMs);
      return take();
    },
  };
}

describe("LoopShare", () => {
  test("names the check before a long stretch, and the one after it", () => {
    const { compute, mark, tick, told } = thread();
    mark(1);
    compute(300);
    mark(2);
    // Known before the loop turns.
    expect(told()).toEqual({ 1: 300, 2: 300 });
    compute(1);
    mark(3);
    expect(tick()).toEqual({});
  });

  test("names the one before when nothing is marked until the next tick, and adds up what one check does", () => {
    const { compute, mark, tick } = thread();
    mark(7);
    compute(400);
    mark(7);
    compute(200);
    expect(tick()).toEqual({ 7: 600 });
    compute(500);
    // No check has set a mark since the tick.
    expect(tick()).toEqual({});
  });

  test("waiting, a frozen process and a busy thread of many short stretches suspect no check", () => {
    const { compute, wait, mark, tick } = thread();
    mark(1);
    wait(5_000);
    mark(2);
    expect(tick()).toEqual({});
    for (let key = 1; key <= 1_000; key++) {
      mark(key);
      compute(5);
      if (key % 10 === 0) expect(tick()).toEqual({});
    }
    mark(1);
    compute(60);
    mark(2);
    expect(tick()).toEqual({});
  });
});
