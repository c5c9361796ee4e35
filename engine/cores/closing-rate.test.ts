import { describe, expect, it } from "vitest";
import { ClosingRate } from "./closing-rate.ts";

describe("the rate of closing", () => {
  it("is 0 before anything has closed", () => {
    expect(new ClosingRate().perMs(1_000)).toBe(0);
  });

  it.each([0.2, 1, 5])("comes near to %d a millisecond that goes on for a second", (perMs) => {
    const rate = new ClosingRate();
    for (let atMs = 0; atMs < 1_000; atMs += 1 / perMs) rate.closed(atMs);
    expect(rate.perMs(1_000) / perMs).toBeCloseTo(1, 1);
  });

  it("forgets what was long ago, and begins low", () => {
    const rate = new ClosingRate();
    for (let atMs = 0; atMs < 1_000; atMs++) rate.closed(atMs);
    expect(rate.perMs(4_000)).toBeLessThan(0.001);
    rate.closed(4_001);
    expect(rate.perMs(4_001)).toBeLessThan(0.01);
  });
});
