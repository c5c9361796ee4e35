import { describe, expect, it } from "vitest";
import { createPlanClock } from "./clock.ts";

function scene() {
  const hands = { wall: 1_000_000, monotonic: 500 };
  return { hands, clock: createPlanClock({ wallNowMs: () => hands.wall, monotonicNowMs: () => hands.monotonic }) };
}

describe("createPlanClock", () => {
  it("follows the monotonic clock between looks at the wall", () => {
    const { hands, clock } = scene();
    hands.monotonic += 40;
    hands.wall += 900_000;
    expect(clock.nowMs()).toBe(1_000_040);
  });

  it("takes a small correction over without going back", () => {
    const { hands, clock } = scene();
    hands.monotonic += 1_000;
    hands.wall += 990;
    expect(clock.nowMs()).toBe(1_001_000);
    expect(clock.check()).toBe(0);
    expect(clock.nowMs()).toBe(1_001_000);
    hands.monotonic += 20;
    expect(clock.nowMs()).toBe(1_001_010);
  });

  it("reports a step of the wall clock, forward and back", () => {
    const { hands, clock } = scene();
    hands.wall += 3_600_000;
    expect(clock.check()).toBe(3_600_000);
    expect(clock.nowMs()).toBe(4_600_000);
    hands.wall -= 7_200_000;
    expect(clock.check()).toBe(-7_200_000);
    expect(clock.nowMs()).toBe(-2_600_000);
  });
});
