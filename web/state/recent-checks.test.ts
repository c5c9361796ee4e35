import { expect, it } from "vitest";
import { recentFrom } from "./recent-checks.ts";

it("counts what passed, and tells what nineteen of twenty are faster than", () => {
  const latencies = Array.from({ length: 20 }, (_, n) => 20 - n);
  expect(recentFrom(`${"h".repeat(19)}d`, latencies)).toMatchObject({ passed: 19, p95Ms: 19 });
  expect(recentFrom("dd", [null, null])).toMatchObject({ passed: 0, p95Ms: null });
  expect(recentFrom("", [])).toMatchObject({ passed: 0, p95Ms: null });
});
