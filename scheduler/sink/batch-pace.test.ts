import { describe, expect, it } from "vitest";
import { BatchPace } from "./batch-pace.ts";

describe("BatchPace", () => {
  it("lets the first of few wait for its moment, and the next until a second has passed", () => {
    const pace = new BatchPace();
    expect(pace.waitMs(false, 5_000)).toBe(20);
    pace.begin(3, 5_020);
    expect(pace.waitMs(false, 5_100)).toBe(920);
    expect(pace.waitMs(false, 6_000)).toBe(20);
    expect(pace.waitMs(false, 60_000)).toBe(20);
  });

  it("lets nothing wait for a second that a caller waits for", () => {
    const pace = new BatchPace();
    pace.begin(1, 5_000);
    expect(pace.waitMs(true, 5_001)).toBe(20);
  });

  it("writes four times a second while more come, and seldom again when they do no more", () => {
    const pace = new BatchPace();
    pace.begin(1, 1_000);
    pace.begin(5, 2_000);
    expect(pace.waitMs(false, 2_000)).toBe(250);
    expect(pace.waitMs(true, 2_000)).toBe(250);
    // Two in 250 ms are eight a second.
    pace.begin(2, 2_250);
    expect(pace.waitMs(false, 2_250)).toBe(250);
    pace.begin(1, 2_500);
    expect(pace.waitMs(false, 2_500)).toBe(1_000);
  });
});
