/** Results in an array, for the suite, and the real state with an ear to it. What stores promise is tested with the stores. */

import type { MaybePromise } from "../../model/maybe-promise.ts";
import { PERIOD_MS } from "../../model/result.ts";
import { NEWEST_KEPT } from "../../model/retention.ts";
import { ROW_STATUSES } from "../../model/status.ts";
import { StoreError } from "../../store/errors.ts";
import type { ResultDetails, ResultStore, StoredResult } from "../../store/results/result-store.ts";
import type { State, Topic } from "../../store/state/state.ts";

export interface WatchedState extends State {
  readonly published: Topic[];
  readonly endpoints: { readonly endpoint: string; readonly isError: boolean }[];
  isAway: boolean;
}

/** Keeps what was published and counted; `isAway` makes it refuse. */
export function watchState(real: State): WatchedState {
  const orAway = async <T>(answer: () => MaybePromise<T>): Promise<T> => {
    if (state.isAway) throw new StoreError("state is away");
    return answer();
  };
  const state: WatchedState = {
    published: [],
    endpoints: [],
    isAway: false,
    counters: {
      ...real.counters,
      takeRequest: (...request) => orAway(() => real.counters.takeRequest(...request)),
      countEndpoint(organizationId, keyId, endpoint, isError, nowMs) {
        state.endpoints.push({ endpoint, isError });
        real.counters.countEndpoint(organizationId, keyId, endpoint, isError, nowMs);
      },
    },
    notices: {
      publish(topic) {
        state.published.push(topic);
        real.notices.publish(topic);
      },
      subscribe: (topic, listener) => real.notices.subscribe(topic, listener),
    },
    rows: real.rows,
    answers: real.answers,
    broadcasts: real.broadcasts,
    ping: () => orAway(() => real.ping()),
    close: () => real.close(),
  };
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
    async newestOf(projectId, monitorIds) {
      if (store.isAway) throw new StoreError("connection refused");
      return monitorIds.flatMap((monitorId) =>
        store.rows
          .filter((row) => row.monitorId === monitorId && row.projectId === projectId)
          .sort((one, other) => newestFirst(other, one))
          .map((row, index) => ({ row: shown(row, false), seq: index + 1, durationMs: row.full.duration_ms }))
          .slice(-NEWEST_KEPT),
      );
    },
    async countsOf({ monitorId, period, nowMs }) {
      if (store.isAway) throw new StoreError("connection refused");
      const rows = store.rows
        .filter((row) => row.monitorId === monitorId && row.testedAtMs >= nowMs - PERIOD_MS[period])
        .sort((one, other) => newestFirst(other, one));
      const counts = ROW_STATUSES.map((status) => rows.filter((row) => row.status === status).length);
      const newestSeq = store.rows.filter((row) => row.monitorId === monitorId).length;
      return { counts, newestSeq, leaving: rows, hasMore: false };
    },
    async latencyOf({ monitorId, fromMs, toMs, stepS }) {
      if (store.isAway) throw new StoreError("connection refused");
      const points = new Map<number, number[]>();
      for (const { monitorId: id, testedAtMs, latencyMs } of store.rows) {
        if (id !== monitorId || testedAtMs < fromMs || testedAtMs >= toMs) continue;
        const atMs = Math.floor(testedAtMs / (stepS * 1_000)) * stepS * 1_000;
        points.set(atMs, [...(points.get(atMs) ?? []), latencyMs ?? Number.NaN]);
      }
      return [...points]
        .sort(([one], [other]) => one - other)
        .map(([atMs, all]) => {
          const ms = all.filter((value) => !Number.isNaN(value));
          const most = ms.length === 0 ? null : Math.max(...ms);
          const figures = { min: ms.length === 0 ? null : Math.min(...ms), avg: most, p50: most, p95: most, max: most };
          return { atMs, ...figures, checks: all.length, failed: all.length - ms.length, ours: 0, phases: {} };
        });
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
