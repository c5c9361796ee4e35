import { describe, expect, it } from "vitest";
import { FULL_RETENTION_MS, isKept, MAX_RETENTION_MS, NEWEST_KEPT } from "./retention.ts";

const HOUR_MS = 3_600_000;

describe("isKept", () => {
  it.each<[string, number, number, 0 | 1, boolean]>([
    ["fresh", 0, 1, 0, true],
    ["of the last day, however many are newer", FULL_RETENTION_MS, 50_000, 0, true],
    ["a moment older, same status, not among the newest", FULL_RETENTION_MS + 1, NEWEST_KEPT + 1, 0, false],
    ["a moment older, but the hundredth", FULL_RETENTION_MS + 1, NEWEST_KEPT, 0, true],
    ["a moment older, but its status changed", FULL_RETENTION_MS + 1, 50_000, 1, true],
    ["of seven days ago, its status changed", 7 * 24 * HOUR_MS, 50_000, 1, true],
    ["of eight days ago, its status changed", MAX_RETENTION_MS, 50_000, 1, true],
    ["older than eight days, its status changed", MAX_RETENTION_MS + 1, 2, 1, false],
    ["older than eight days, the newest there is", MAX_RETENTION_MS + 1, 1, 0, false],
  ])("%s", (_name, ageMs, rankFromNewest, changed, kept) => {
    expect(isKept({ changed }, { ageMs, rankFromNewest })).toBe(kept);
  });

  it("has the contract's numbers", () => {
    expect([FULL_RETENTION_MS, MAX_RETENTION_MS, NEWEST_KEPT]).toEqual([24 * HOUR_MS, 192 * HOUR_MS, 100]);
  });
});
