import { describe, expect, it } from "vitest";
import type { CheckView } from "../check/outcome.ts";
import { healthyTable } from "./report.ts";
import type { BulkResult } from "./tally.ts";

function healthy(at: number, latencyMs: number, isCrowded: boolean): BulkResult {
  const view = { status: "healthy", verdict: "ok", latency_ms: latencyMs, connect_ms: 1, latency_crowded: isCrowded };
  const item = { at, id: String(at), kind: "vless" as const, place: `a:${at}`, name: null, settings: {} };
  return { item, view: view as CheckView };
}

describe("the table", () => {
  it("marks latencies that were measured in a crowd, and says what the mark means", () => {
    const lines = healthyTable([healthy(1, 30, true), healthy(2, 9, false)], null).split("\n");
    expect(lines.slice(1, 3).map((line) => line.trim().split(/\s+/)[0])).toEqual(["9", "~30"]);
    expect(lines[3]).toMatch(/^~ measured beside a hundred and more other checks/);
  });

  it("says nothing of a mark that is not there", () => {
    expect(healthyTable([healthy(1, 30, false)], null)).not.toContain("~");
  });
});
