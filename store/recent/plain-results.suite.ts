/** A history of judged rows as retention and the queries see it, in plain arrays: what every answer is compared with. */
import { PERIOD_MS } from "../../model/result.ts";
import { isKept, NEWEST_KEPT } from "../../model/retention.ts";
import { ROW_STATUSES } from "../../model/status.ts";
import type { MonitorResults, ResultStore, StoredResult } from "../results/result-store.ts";

export interface JudgedRow {
  readonly row: StoredResult;
  readonly projectId: number;
  readonly seq: number;
  readonly changed: 0 | 1;
  readonly durationMs: number;
}

export function newestFirst(one: StoredResult, other: StoredResult): number {
  return other.testedAtMs - one.testedAtMs || Number(BigInt(other.id) - BigInt(one.id));
}

type MonitorQuery = Parameters<ResultStore["ofMonitor"]>[0];
type ProjectQuery = Parameters<ResultStore["ofProject"]>[0];

export class PlainResults implements ResultStore {
  /** In the order in which they were judged. */
  rows: readonly JudgedRow[] = [];

  async ofMonitor(query: MonitorQuery): Promise<MonitorResults> {
    const inPeriod = this.#kept(query.nowMs)
      .filter(({ row }) => row.monitorId === query.monitorId && row.testedAtMs >= query.nowMs - PERIOD_MS[query.period])
      .map(({ row }) => row)
      .sort(newestFirst);
    const matching = inPeriod.filter(({ status }) => query.status === null || status === query.status);
    return {
      rows: matching.slice(query.offset, query.offset + query.limit),
      total: matching.length,
      inPeriod: inPeriod.length,
      healthy: inPeriod.filter(({ status }) => status === "healthy").length,
    };
  }

  async ofProject(query: ProjectQuery): Promise<readonly StoredResult[]> {
    return this.#kept(query.nowMs)
      .filter(({ row, projectId }) => projectId === query.projectId && !query.withoutMonitorIds.includes(row.monitorId))
      .map(({ row }) => row)
      .filter((row) => row.testedAtMs >= query.nowMs - PERIOD_MS[query.period])
      .filter(({ status }) => !query.onlyDown || status === "down")
      .sort(newestFirst)
      .slice(0, query.limit);
  }

  async newestOf(projectId: number, monitorIds: readonly number[], nowMs: number) {
    const kept = this.#kept(nowMs).filter((one) => one.projectId === projectId);
    return monitorIds.flatMap((id) => kept.filter(({ row }) => row.monitorId === id).slice(-NEWEST_KEPT));
  }

  async countsOf({ monitorId, period, nowMs }: Parameters<ResultStore["countsOf"]>[0]) {
    const rows = this.rows.filter(
      ({ row }) => row.monitorId === monitorId && row.testedAtMs >= nowMs - PERIOD_MS[period],
    );
    const leaving = rows.map(({ row }) => row).sort((one, other) => newestFirst(other, one));
    return {
      counts: ROW_STATUSES.map((status) => leaving.filter((row) => row.status === status).length),
      newestSeq: Math.max(0, ...rows.map(({ seq }) => seq)),
      // Fewer than the store's, so that their end is met.
      leaving: leaving.slice(0, 20),
      hasMore: leaving.length > 20,
    };
  }

  /** All rows of the monitors count for the rank. */
  #kept(nowMs: number): readonly JudgedRow[] {
    const newest = new Map(this.rows.map(({ row, seq }) => [row.monitorId, seq]));
    return this.rows.filter(({ row, seq, changed }) => {
      const rankFromNewest = (newest.get(row.monitorId) ?? 0) - seq + 1;
      return isKept({ changed }, { ageMs: nowMs - row.testedAtMs, rankFromNewest });
    });
  }

  async latencyOf(): Promise<never[]> {
    return [];
  }

  async insert(): Promise<void> {}
  async ping(): Promise<void> {}
  async thin(): Promise<void> {}
  async close(): Promise<void> {}
}
