import { describe, expect, it } from "vitest";
import type { CheckView } from "../check/outcome.ts";
import { failedTable, healthyTable, summary } from "./report.ts";
import { type BulkResult, latencySpread, Tally } from "./tally.ts";

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

describe("on a terminal", () => {
  it("no line is wider than it is, and what matters most stays", () => {
    const fast = healthy(1, 30, false);
    const named = {
      ...fast,
      item: { ...fast.item, name: "a name that is long, and longer", place: "host.test-site.org:12345" },
    };
    for (const columns of [80, 60]) {
      const lines = healthyTable([named], null, columns).trimEnd().split("\n");
      expect([columns, Math.max(...lines.map(({ length }) => length)) <= columns]).toEqual([columns, true]);
      expect(lines[0]).toMatch(/^latency ms .*server .*name$/);
    }
  });

  it("shows what failed by its reason, in the words of the check, and no healthy one", () => {
    const down = (at: number, reason: string, words: string): BulkResult => {
      const { item, view } = healthy(at, 1, false);
      const failed = { ...view, status: "down", error_category: reason, error_message: words } as CheckView;
      return { item, view: failed };
    };
    const all = [down(1, "timeout", "late"), healthy(2, 9, false), down(3, "auth_failed", "wrong \u001b[31mkey")];
    const lines = failedTable(all, null, null).trimEnd().split("\n");
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual(["failed", "auth_failed", "timeout"]);
    expect(lines[1]).toMatch(/wrong \ufffd\[31mkey$/);
  });
});

describe("the counts", () => {
  const list = { items: [], bad: [], duplicates: [], messages: [] };
  const told = (results: readonly BulkResult[]): string => {
    const tally = new Tally(results.length);
    for (const result of results) tally.add(result);
    return summary(list, tally, { durationMs: 1_000, isInterrupted: false });
  };

  it("say how the latencies of what is healthy lie, also where some were measured in a crowd", () => {
    const results = Array.from({ length: 200 }, (_, at) => healthy(at, 1_200 - at, at % 2 === 0));
    expect(latencySpread(results)).toEqual({
      ...{ count: 200, crowded: 100, min: 1_001, p50: 1_100, p90: 1_180, p99: 1_198, max: 1_200 },
    });
    expect(told(results)).toContain("\n  latency ms: 1,001 to 1,200 · half ≤ 1,100 · 90 % ≤ 1,180 · 99 % ≤ 1,198\n");
  });

  it("have no such line where nothing is healthy, or has no latency", () => {
    const { item, view } = healthy(1, 5, false);
    const down = { item, view: { ...view, status: "down" } as CheckView };
    const unmeasured = { item, view: { ...view, latency_ms: null } };
    expect([latencySpread([down, unmeasured]), told([down, unmeasured]).includes("latency")]).toEqual([null, false]);
  });
});
