import { describe, expect, it } from "vitest";
import { checksBetween, readMetrics } from "./metrics.ts";

function text(skipped: number, ...counts: readonly number[]): string {
  const bounds = ["0.005", "0.025", "1", "+Inf"];
  const buckets = bounds.map((le, at) => `sonde_check_lateness_seconds_bucket{kind="http",le="${le}"} ${counts[at]}`);
  return ["# TYPE sonde_turns_skipped_total counter", `sonde_turns_skipped_total ${skipped}`, ...buckets, ""].join(
    "\n",
  );
}

describe("what metrics say of checks", () => {
  it("is what came between two readings", () => {
    const checks = checksBetween(readMetrics(text(3, 10, 10, 10, 10)), readMetrics(text(5, 70, 109, 110, 110)));
    expect(checks.skipped).toBe(2);
    expect([checks.late(0.5), checks.late(0.99), checks.late(1)]).toEqual(["5 ms", "25 ms", "1000 ms"]);
  });

  it("adds up kinds, and says what is beyond the largest bound or nothing at all", () => {
    const two = `${text(0, 1, 1, 1, 2)}${text(0, 1, 1, 1, 2)}`;
    expect(checksBetween(readMetrics(""), readMetrics(two)).late(1)).toBe("more than the largest bound");
    expect(checksBetween(readMetrics(two), readMetrics(two)).late(0.5)).toBe("nothing");
  });
});
