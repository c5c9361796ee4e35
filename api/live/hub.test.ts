import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { writeLiveMessage } from "../../model/live-message.ts";
import type { IncidentRecord } from "../../store/sql/incidents/port.ts";
import type { EndedTestJob } from "../../store/sql/jobs/port.ts";
import type { ChangedMonitor, SubscriptionState } from "../../store/sql/monitors/live-reads-port.ts";
import type { OverviewState } from "../../store/sql/monitors/overview-port.ts";
import { Overviews } from "../overview/overviews.ts";
import { LiveHub } from "./hub.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 6, 10);

/** A store and broadcasts in memory, whose contents tests change. */
function scene() {
  const store = {
    generation: 5,
    changes: [] as ChangedMonitor[],
    states: [] as OverviewState[],
    subscriptions: [] as SubscriptionState[],
    tests: [] as EndedTestJob[],
    incidents: [] as IncidentRecord[],
  };
  const listeners = new Map<number, (text: string) => void>();
  const notices = new Map<string, () => void>();
  const warnings: unknown[] = [];
  const overview = {
    monitors: async () => [],
    states: async () => store.states,
    subscriptions: async () => [],
    expiring: async () => [],
    openIncidents: async () => ({ active: 2, unacknowledged: 1 }),
  };
  const controlPlane = {
    generation: async () => store.generation,
    shards: { view: async () => ({ shards: [], schedulers: [] }) } as never,
    incidents: { named: async () => store.incidents } as never,
    overview,
    liveReads: {
      changedSince: async (since: number) => ({
        generation: store.generation,
        changes: since < store.generation ? store.changes : [],
      }),
      subscriptions: async () => store.subscriptions,
    },
    jobs: { endedTests: async () => store.tests } as never,
  };
  const overviews = new Overviews({ controlPlane, storeCondition: () => null });
  const drop = vi.spyOn(overviews, "drop");
  const hub = new LiveHub({
    controlPlane,
    state: {
      broadcasts: {
        isHeard: () => true,
        publish() {},
        listen(projectId, listener) {
          listeners.set(projectId, listener);
          return () => void listeners.delete(projectId);
        },
      },
      notices: {
        publish() {},
        subscribe(topic, listener) {
          notices.set(topic, listener);
          return () => void notices.delete(topic);
        },
      },
    },
    overviews,
    nowMs: () => NOW_MS,
    log: { warn: (fields) => void warnings.push(fields) },
    version: "0.1.0",
  });
  return { store, listeners, notices, overviews, drop, hub, warnings, overview };
}

function page() {
  const events: [string, unknown][] = [];
  const texts: string[] = [];
  const sink = {
    full: false,
    ended: false,
    beats: 0,
    send: (event: string) => {
      const [, name = "", data = ""] = /^event: (\w+)\ndata: (.+)\n\n$/.exec(event) ?? [];
      texts.push(event);
      events.push([name, JSON.parse(data)]);
    },
    keepAlive() {
      sink.beats += 1;
    },
    end() {
      sink.ended = true;
    },
  };
  const caller = (projectId: number, watched: readonly number[] = []) => ({
    projectId,
    watched,
  });
  return { events, texts, sink, caller, named: (name: string) => events.filter(([each]) => each === name) };
}

const stateOf = (monitorId: number, status: OverviewState["status"]): OverviewState => ({
  monitorId,
  status,
  statusSinceMs: NOW_MS,
  lastCheckedAtMs: NOW_MS - 2_500,
  latencyMs: 1.4,
  latenessMs: 0,
});
const check = (monitorId: number, letter: string, isChanged: boolean) => ({
  monitorId,
  letter,
  latencyMs: 7,
  checkedAtMs: NOW_MS - 3_000,
  isChanged,
});
const message = (...checks: ReturnType<typeof check>[]): string => writeLiveMessage({ checks, turns: [] });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("LiveHub", () => {
  it("greets, then tells once a second what changed and what is watched", async () => {
    const { hub, listeners, drop } = scene();
    const { events, sink, caller } = page();
    hub.open(caller(1, [3]), sink);
    listeners.get(1)?.(message(check(9, "h", false)));
    await vi.advanceTimersByTimeAsync(0);
    const at = new Date(NOW_MS).toISOString();
    expect(events).toEqual([["hello", { at, version: "0.1.0", monitors: 0, active_incidents: 2 }]]);
    drop.mockClear();
    listeners.get(1)?.(message(check(1, "d", true), check(2, "h", false), check(3, "h", false)));
    expect(drop).toHaveBeenCalledExactlyOnceWith(1);
    listeners.get(1)?.(message(check(1, "g", false)));
    await vi.advanceTimersByTimeAsync(1_000);
    const told = {
      at,
      m: [
        [1, "g", 7, 3],
        [3, "h", 7, 3],
      ],
    };
    expect(events.slice(1)).toEqual([["s", told]]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(events).toHaveLength(2);
    hub.close();
  });

  it("tells all pages the same; one that takes nothing or came later catches up, one that watches has its own", async () => {
    const { hub, listeners } = scene();
    const [first, slow, watching, late] = [page(), page(), page(), page()];
    hub.open(first.caller(1), first.sink);
    hub.open(slow.caller(1), slow.sink);
    hub.open(watching.caller(1, [3]), watching.sink);
    await vi.advanceTimersByTimeAsync(0);
    slow.sink.full = true;
    listeners.get(1)?.(message(check(1, "d", true), check(2, "h", false), check(3, "h", false)));
    await vi.advanceTimersByTimeAsync(1_000);
    hub.open(late.caller(1), late.sink);
    await vi.advanceTimersByTimeAsync(0);
    slow.sink.full = false;
    listeners.get(1)?.(message(check(2, "g", true)));
    await vi.advanceTimersByTimeAsync(1_000);
    const monitors = ({ named }: ReturnType<typeof page>) =>
      named("s").map(([, data]) => (data as { m: unknown[][] }).m.map(([id]) => id));
    expect([first, slow, watching, late].map(monitors)).toEqual([[[1], [2]], [[1, 2]], [[1, 3], [2]], [[2]]]);
    expect(late.texts.at(-1)).toBe(first.texts.at(-1));
    hub.close();
  });

  it("keeps one entry a monitor while the reader takes nothing", async () => {
    const { hub, listeners } = scene();
    const { sink, caller, named } = page();
    hub.open(caller(1), sink);
    await vi.advanceTimersByTimeAsync(0);
    sink.full = true;
    for (let round = 0; round < 50; round++) {
      listeners.get(1)?.(message(check(1, round % 2 === 0 ? "d" : "h", true), check(2, "d", true)));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect([named("s"), sink.beats]).toEqual([[], 0]);
    sink.full = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(named("s")).toMatchObject([
      [
        "s",
        {
          m: [
            [1, "h", 7, 3],
            [2, "d", 7, 3],
          ],
        },
      ],
    ]);
    hub.close();
  });

  it("tells what changed before publishers knew of the page", async () => {
    const { hub, store } = scene();
    store.states = [stateOf(1, "healthy"), stateOf(2, "healthy")];
    const { sink, caller, named } = page();
    hub.open(caller(1), sink);
    await vi.advanceTimersByTimeAsync(0);
    store.states = [stateOf(1, "down"), stateOf(2, "healthy"), stateOf(3, "unknown")];
    await vi.advanceTimersByTimeAsync(5_000);
    expect(named("s")).toMatchObject([
      [
        "s",
        {
          m: [
            [1, "d", 1, 2],
            [3, "u", 1, 2],
          ],
        },
      ],
    ]);
    hub.close();
  });

  it("tells of monitors that were changed or deleted, by notice and without, and of very many as all", async () => {
    const { hub, store, notices, drop } = scene();
    const { sink, caller, named } = page();
    hub.open(caller(1), sink);
    await vi.advanceTimersByTimeAsync(0);
    drop.mockClear();
    store.generation = 6;
    store.changes = [
      { id: 4, projectId: 1, isGone: false },
      { id: 5, projectId: 2, isGone: false },
      { id: 6, projectId: 1, isGone: true },
    ];
    notices.get("monitors")?.();
    notices.get("monitors")?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(named("monitors")).toEqual([["monitors", { changed: ["srv_4"], gone: ["srv_6"] }]]);
    expect(drop).toHaveBeenCalledWith(1);
    store.generation = 7;
    store.changes = Array.from({ length: 1_001 }, (_, id) => ({ id, projectId: 2, isGone: false }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(named("monitors")[1]).toEqual(["monitors", { changed: "all", gone: [] }]);
    hub.close();
  });

  it("tells of incidents, syncs and tests of its project", async () => {
    const { hub, store, listeners, notices } = scene();
    const { sink, caller, named } = page();
    const subscription = { id: 5, projectId: 1, lastSyncStatus: "pending" as const, lastSyncedAtMs: null };
    store.subscriptions = [{ ...subscription, lastServerCount: null, isSyncing: false }];
    const result = {
      reason: "ran",
      status: "healthy",
      latencyMs: 3.2,
      connectMs: null,
      message: null,
      testedAtMs: 1,
    } as const;
    store.tests = [{ id: 1, projectId: 1, monitorId: 2, testId: "tst_a", result }];
    hub.open(caller(1), sink);
    await vi.advanceTimersByTimeAsync(0);
    store.incidents = [
      {
        ...{ id: 9, monitorId: 2, monitorName: "m", monitorKind: "http", projectId: 1, level: "down", startedAtMs: 1 },
        ...{ endedAtMs: null, acknowledgedAtMs: null, acknowledgedBy: null, errorMessage: "x", errorCategory: null },
        ...{ locations: [], eventCount: 1, monitorPaused: false },
      },
    ];
    const turns = [
      { monitorId: 2, incidentId: null, what: "opened" as const },
      { monitorId: 2, incidentId: 9, what: "acknowledged" as const },
      { monitorId: 3, incidentId: null, what: "opened" as const },
    ];
    listeners.get(1)?.(writeLiveMessage({ checks: [], turns }));
    store.subscriptions = [{ ...subscription, lastServerCount: null, isSyncing: true }];
    store.tests = [{ id: 2, projectId: 1, monitorId: 2, testId: "tst_b", result }, ...store.tests];
    notices.get("jobs")?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(named("incident")).toMatchObject([
      ["incident", { what: "opened", incident: { id: "inc_9", server_id: "srv_2" } }],
      ["incident", { what: "acknowledged", incident: { id: "inc_9" } }],
    ]);
    expect(named("subscription")).toEqual([
      ["subscription", { id: 5, lastSyncStatus: "pending", lastSyncedAt: null, lastServerCount: null, syncing: true }],
    ]);
    expect(named("job")).toEqual([
      ["job", { test_id: "tst_b", server_id: "srv_2", status: "healthy", latency_ms: 3, error_message: null }],
    ]);
    hub.close();
  });

  it("keeps connections alive, and closes the room behind the last page", async () => {
    const { hub, listeners, notices } = scene();
    const [first, second] = [page(), page()];
    const leave = hub.open(first.caller(1), first.sink);
    const leaveToo = hub.open(second.caller(1), second.sink);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([first.sink.beats, second.sink.beats]).toEqual([1, 1]);
    leave();
    expect([listeners.size, notices.size]).toEqual([1, 2]);
    leaveToo();
    expect([listeners.size, notices.size]).toEqual([0, 0]);
    hub.close();
  });

  it("listens to nothing and runs nothing without a page", async () => {
    const { hub, listeners, notices } = scene();
    const { sink, caller } = page();
    hub.open(caller(1), sink)();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([listeners.size, notices.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
    hub.close();
  });

  it("ends a page that cannot be greeted, and says why", async () => {
    const { hub, overview, warnings } = scene();
    overview.states = async () => {
      throw new Error("away");
    };
    const { sink, caller, events } = page();
    hub.open(caller(1), sink);
    await vi.advanceTimersByTimeAsync(0);
    expect([sink.ended, events, warnings.length]).toEqual([true, [], 1]);
    hub.close();
  });

  it("passes over messages that are none", async () => {
    const { hub, listeners } = scene();
    const { sink, caller, named } = page();
    hub.open(caller(1), sink);
    await vi.advanceTimersByTimeAsync(0);
    listeners.get(1)?.("{");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(named("s")).toEqual([]);
    hub.close();
  });
});
