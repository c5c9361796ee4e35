/** Stand-ins for the suite: results in an array, counters in maps. What they promise is tested with the real stores. */
import { PERIOD_MS } from "../../model/result.ts";
import type { ResultDetails, ResultStore, StoredResult } from "../../store/results/result-store.ts";
import { StoreError } from "../../store/sql/control-plane.ts";
import type { RequestWindow, State, Topic } from "../../store/state/state.ts";

export interface MemoryState extends State {
  readonly published: Topic[];
  readonly endpoints: { readonly endpoint: string; readonly isError: boolean }[];
  isAway: boolean;
}

export function memoryState(): MemoryState {
  const counts = new Map<string, number>();
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  const count = (name: string): number => counts.get(name) ?? 0;
  const windowsOf = (id: number, nowMs: number): Record<RequestWindow, string> => {
    const iso = new Date(nowMs).toISOString();
    return { minute: `${id} ${iso.slice(0, 16)}`, day: `${id} ${iso.slice(0, 10)}`, month: `${id} ${iso.slice(0, 7)}` };
  };
  const bucket = (address: string, nowMs: number) => {
    const known = buckets.get(address) ?? { tokens: 10, atMs: nowMs };
    known.tokens = Math.min(10, known.tokens + (nowMs - known.atMs) / 6_000);
    known.atMs = nowMs;
    buckets.set(address, known);
    return known;
  };
  const state: MemoryState = {
    published: [],
    endpoints: [],
    isAway: false,
    counters: {
      async takeRequest(id, limits, nowMs) {
        if (state.isAway) throw new StoreError("state is away");
        const windows = windowsOf(id, nowMs);
        const all: [RequestWindow, number | null][] = [
          ["minute", limits.perMinute],
          ["day", limits.perDay],
          ["month", limits.perMonth],
        ];
        const refusedBy = all.find(([window, limit]) => limit !== null && count(windows[window]) >= limit)?.[0] ?? null;
        if (refusedBy === null) for (const [window] of all) counts.set(windows[window], count(windows[window]) + 1);
        return { refusedBy, usedInMinute: count(windows.minute) };
      },
      countEndpoint: (_organization, _key, endpoint, isError) => void state.endpoints.push({ endpoint, isError }),
      async usage(id, nowMs) {
        const windows = windowsOf(id, nowMs);
        return { minute: count(windows.minute), day: count(windows.day), month: count(windows.month) };
      },
      mayTryKey: async (address, nowMs) => bucket(address, nowMs).tokens >= 1,
      async wrongKey(address, nowMs) {
        bucket(address, nowMs).tokens -= 1;
      },
      async takeFrom(name, limit, windowMs, nowMs) {
        const window = `${name} ${Math.floor(nowMs / windowMs)}`;
        if (count(window) >= limit) return false;
        counts.set(window, count(window) + 1);
        return true;
      },
    } as State["counters"],
    notices: {
      publish: (topic) => void state.published.push(topic),
      subscribe: () => () => {},
    },
    ping: async () => {
      if (state.isAway) throw new StoreError("state is away");
    },
    close: async () => {},
  } as MemoryState;
  return state;
}

export interface MemoryResults extends ResultStore {
  readonly rows: (StoredResult & { readonly projectId: number; readonly full: ResultDetails })[];
  isAway: boolean;
}

export function memoryResults(): MemoryResults {
  const newestFirst = (a: StoredResult, b: StoredResult): number =>
    b.testedAtMs - a.testedAtMs || Number(BigInt(b.id) - BigInt(a.id));
  const store: MemoryResults = {
    rows: [],
    isAway: false,
    async insert() {},
    async ofMonitor(query) {
      if (store.isAway) throw new StoreError("connection refused");
      const inPeriod = store.rows
        .filter((row) => row.monitorId === query.monitorId && row.testedAtMs > query.nowMs - PERIOD_MS[query.period])
        .sort(newestFirst);
      const matching = inPeriod.filter((row) => query.status === null || row.status === query.status);
      return {
        rows: matching.slice(query.offset, query.offset + query.limit).map((row) => shown(row, query.details)),
        total: matching.length,
        inPeriod: inPeriod.length,
        healthy: inPeriod.filter((row) => row.status === "healthy").length,
      };
    },
    async ofProject(query) {
      if (store.isAway) throw new StoreError("connection refused");
      return store.rows
        .filter((row) => row.projectId === query.projectId && row.testedAtMs > query.nowMs - PERIOD_MS[query.period])
        .filter((row) => !query.onlyDown || row.status === "down")
        .filter((row) => !query.withoutMonitorIds.includes(row.monitorId))
        .sort(newestFirst)
        .slice(0, query.limit)
        .map((row) => shown(row, query.details));
    },
    ping: async () => {},
    thin: async () => {},
    close: async () => {},
  };
  return store;
}

function shown(row: MemoryResults["rows"][number], details: boolean): StoredResult {
  const { projectId: _, full, ...stored } = row;
  return { ...stored, details: details ? full : null };
}
