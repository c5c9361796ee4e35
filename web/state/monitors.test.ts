import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client.ts";
import { parseFilter } from "./filter.ts";
import { applyChanges, countByStatus, entriesOf, grouped, select, slowest, sorted, wellWord } from "./monitors.ts";

const columns: Schemas["Overview"] = {
  at: "2026-11-25T10:00:00.000Z",
  counts: { healthy: 1, down: 1, degraded: 0, partial: 0, paused: 1, unknown: 0, maintenance: 1 },
  service: { late_p99_ms: 41, silent: 0, spool_rows: 0, condition: null },
  expiring: [],
  incidents: { active: 1, unacknowledged: 1 },
  kinds: ["http", "vless"],
  tags: ["prod", "eu"],
  subscriptions: [{ id: 5, name: "Provider A" }],
  ids: [12, 3, 7, 9],
  names: ["Shop 10", "Shop 9", "berlin", "Über"],
  interval_s: [60, 30, 60, 300],
  kind: [0, 0, 1, 0],
  status: "hdzm",
  latency_ms: [41, null, 9, null],
  checked_s: [7, 1, null, 60],
  since_s: [100, 10, null, null],
  tag: [[0, 1], [0], [], []],
  subscription: [null, null, 0, null],
};
const names = (entries: readonly { name: string }[]) => entries.map(({ name }) => name);

describe("columns of a project", () => {
  it("become entries with times by the service's clock", () => {
    const first = entriesOf(columns).find(({ id }) => id === "srv_12");
    expect(first).toMatchObject({ id: "srv_12", kind: "http", tags: ["prod", "eu"], status: "healthy", latencyMs: 41 });
    expect(first?.checkedAtMs).toBe(Date.parse("2026-11-25T09:59:53.000Z"));
  });

  it("are called by their id where the name has nothing to see", () => {
    const odd = entriesOf({ ...columns, names: ["\u200b\u202e \u3164", "\u05e9", "", "x\u200b"] });
    expect(new Set(names(odd))).toEqual(new Set(["srv_12", "\u05e9", "srv_7", "x\u200b"]));
  });

  it("are in the order of names, also after one has another name", () => {
    expect(names(entriesOf(columns))).toEqual(["berlin", "Shop 9", "Shop 10", "Über"]);
    expect(names(entriesOf({ ...columns, names: ["Shop 10", "Shop 9", "zürich", "Über"] }))).toEqual([
      "Shop 9",
      "Shop 10",
      "Über",
      "zürich",
    ]);
    expect(names(entriesOf(columns))).toEqual(["berlin", "Shop 9", "Shop 10", "Über"]);
  });

  it("are the slowest of those that work, in their order", () => {
    const [first] = entriesOf(columns);
    if (first === undefined) throw new Error("no entry");
    const entries = [3, 9, null, 7, 9, 1].map((latencyMs) => ({ ...first, status: "healthy" as const, latencyMs }));
    const times = (most: number) => slowest(entries, most).map(({ latencyMs }) => latencyMs);
    expect([times(3), times(9)]).toEqual([
      [9, 9, 7],
      [9, 9, 7, 3, 1],
    ]);
    // Of four, one is down, one has no latency, and one is paused.
    expect(names(slowest(entriesOf(columns), 9))).toEqual(["Shop 10"]);
  });

  it("are sorted by language and number, and what has no value comes last in both directions", () => {
    const entries = entriesOf(columns);
    expect(names(sorted(entries, "name", false))).toEqual(["berlin", "Shop 9", "Shop 10", "Über"]);
    expect(names(sorted(entries, "status", false))).toEqual(["Shop 9", "Über", "berlin", "Shop 10"]);
    expect(names(sorted(entries, "latency", true)).slice(0, 2)).toEqual(["Shop 10", "berlin"]);
    expect(names(sorted(entries, "latency", false)).slice(0, 2)).toEqual(["berlin", "Shop 10"]);
  });

  it("are grouped: a monitor of two tags is in both, what has none is last", () => {
    const groups = grouped(entriesOf(columns), "tag").map(({ name, entries }) => [name, names(entries)]);
    expect(groups).toEqual([
      ["eu", ["Shop 10"]],
      ["prod", ["Shop 9", "Shop 10"]],
      [null, ["Über", "berlin"]],
    ]);
  });

  it("change in place, and the filter sees it", () => {
    const entries = entriesOf(columns);
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const atMs = Date.parse("2026-11-25T10:00:05.000Z");
    expect(
      applyChanges(
        byId,
        [
          [12, "d", null, 1],
          ["srv_3", "h", 5, 0],
          [99, "d", null, 0],
        ],
        atMs,
      ),
    ).toBe(2);
    expect(names(select(entries, parseFilter("status:down")))).toEqual(["Shop 10"]);
    expect(byId.get("srv_12")).toMatchObject({ status: "down", sinceMs: atMs, checkedAtMs: atMs - 1_000 });
    expect(countByStatus(entries)).toMatchObject({ down: 1, healthy: 1, paused: 1, maintenance: 1 });
  });
});

it("all is well only where every monitor was checked and works", () => {
  const of = { unknown: 0, degraded: 0, partial: 0, healthy: 3 };
  expect(wellWord(of)).toBe("verdict.well");
  for (const other of [{ unknown: 1 }, { degraded: 1 }, { partial: 1 }, { healthy: 0 }])
    expect(wellWord({ ...of, ...other })).toBe("verdict.wellSoFar");
});
