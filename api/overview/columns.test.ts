import { describe, expect, it } from "vitest";
import type { OverviewMonitor, OverviewState } from "../../store/sql/monitors/overview-port.ts";
import { fixedColumns, liveColumns } from "./columns.ts";

const NOW_MS = 1_000_000;

function monitorOf(id: number, over: Partial<OverviewMonitor> = {}): OverviewMonitor {
  const none = { tags: [], subscriptionId: null, intervalS: 60, isPaused: false, pausedAtMs: null, maintenance: null };
  return { id, name: `m${id}`, kind: "http", ...none, ...over };
}

function stateOf(monitorId: number, over: Partial<OverviewState> = {}): [number, OverviewState] {
  const checked = { statusSinceMs: NOW_MS - 61_999, lastCheckedAtMs: NOW_MS - 7_999, latencyMs: 41.4, latenessMs: 2 };
  return [monitorId, { monitorId, status: "healthy", ...checked, ...over }];
}

describe("the columns of an overview", () => {
  it("name each kind, tag and subscription once", () => {
    const monitors = [
      monitorOf(1, { tags: ["prod", "blue"], subscriptionId: 5 }),
      monitorOf(2, { kind: "vless", tags: ["prod"] }),
      monitorOf(3, { subscriptionId: 9 }),
    ];
    expect(fixedColumns(monitors, [{ id: 5, name: null }])).toEqual({
      kinds: ["http", "vless"],
      tags: ["blue", "prod"],
      subscriptions: [{ id: 5, name: null }],
      ids: [1, 2, 3],
      names: ["m1", "m2", "m3"],
      intervalS: [60, 60, 60],
      kind: [0, 1, 0],
      tag: [[1, 0], [1], []],
      subscription: [0, null, null],
    });
  });

  it("have a letter for each monitor: paused wins over maintenance, maintenance over the status", () => {
    const maintenance = { fromMs: NOW_MS - 1, untilMs: NOW_MS + 1 };
    const over = { fromMs: NOW_MS - 2, untilMs: NOW_MS };
    const monitors = [
      monitorOf(1),
      monitorOf(2),
      monitorOf(3, { maintenance }),
      monitorOf(4, { maintenance, isPaused: true, pausedAtMs: NOW_MS - 5_000 }),
      monitorOf(5, { maintenance: over }),
      monitorOf(6),
    ];
    const states = new Map([
      stateOf(1),
      stateOf(2, { status: "down", latencyMs: null, latenessMs: 30 }),
      stateOf(3, { status: "down", statusSinceMs: null }),
      stateOf(4, { status: "healthy", latenessMs: 9_999 }),
      stateOf(5, { status: "degraded", lastCheckedAtMs: NOW_MS + 400 }),
    ]);
    expect(liveColumns(monitors, states, NOW_MS)).toEqual({
      counts: { healthy: 1, down: 1, degraded: 1, partial: 0, paused: 1, unknown: 1, maintenance: 1 },
      status: "hdmzgu",
      latencyMs: [41, null, 41, 41, 41, null],
      checkedS: [7, 7, 7, 7, 0, null],
      sinceS: [61, 61, null, 5, 61, null],
      lateP99Ms: 30,
    });
  });

  it("tell the 99th percentile of the lateness, and nothing of none", () => {
    const monitors = Array.from({ length: 200 }, (_, index) => monitorOf(index));
    const states = new Map(monitors.map(({ id }) => stateOf(id, { latenessMs: id })));
    expect(liveColumns(monitors, states, NOW_MS).lateP99Ms).toBe(197);
    expect(liveColumns([], new Map(), NOW_MS)).toMatchObject({ lateP99Ms: null, status: "" });
  });
});
