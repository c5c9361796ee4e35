/**
 * What SQL said of monitors whose results were asked for. While it is still true, results that are in memory are answered without a question to SQL.
 *
 * A monitor's name, project and pauses are still true while the control plane has the same generation. Its incidents are still true while no check has
 * changed its status: only such a check begins or ends an incident, and its row is in memory before SQL has it. That order holds only where rows reach
 * this process before a caller can see their statuses. Elsewhere nothing is kept.
 */
import { BoundedMap } from "../model/bounded-map.ts";
import type { Downtime } from "../model/uptime.ts";
import type { MonitorRows } from "../store/recent/monitor-rows.ts";
import type { KnownMonitor } from "../store/recent/recent-results.ts";
import type { RecentRows } from "../store/recent/recent-rows.ts";
import type { CheckedMonitor } from "../store/sql/monitors/port.ts";
import type { AuthCache } from "./auth-cache.ts";

/** Bounds memory: about 500 bytes each. */
const MOST_KEPT = 20_000;
/** What is kept is read again after this, ms, in case it became wrong in a way that is not known. */
const KEPT_MS = 30_000;

export interface KnownMonitorsOptions {
  readonly auth: Pick<AuthCache, "generation">;
  readonly rows: Pick<RecentRows, "monitor">;
  /** Takes the rows that other threads have published; absent: rows may be on their way while SQL has their statuses. */
  readonly catchUp: (() => void) | undefined;
}

export interface Known {
  readonly monitor: KnownMonitor;
  readonly name: string;
  /** Of the last seven days; null: not known now. */
  readonly downtime: Downtime | null;
}

interface Kept extends Known {
  readonly generation: number;
  readonly atMs: number;
  readonly rows: MonitorRows;
  /** The `turns` of the rows when the downtime was read: where they have grown since, an incident may have begun or ended. */
  readonly turns: number;
}

export class KnownMonitors {
  readonly #options: KnownMonitorsOptions;
  readonly #kept = new BoundedMap<number, Kept>(MOST_KEPT);

  constructor(options: KnownMonitorsOptions) {
    this.#options = options;
  }

  /** To be called after the caller's rights were looked at, because that brings the generation up to date. */
  find(projectId: number, id: number, nowMs: number): Known | undefined {
    const { auth, rows, catchUp } = this.#options;
    const kept = this.#kept.get(id);
    if (kept === undefined || catchUp === undefined || kept.monitor.projectId !== projectId) return undefined;
    if (kept.generation !== auth.generation() || nowMs < kept.atMs || nowMs - kept.atMs >= KEPT_MS) return undefined;
    catchUp();
    if (rows.monitor(id) !== kept.rows) return undefined;
    return kept.turns === kept.rows.turns ? kept : { ...kept, downtime: null };
  }

  /** @param generation before anything of it was read @param downtime read after the monitor; null: it was not read */
  keep(found: CheckedMonitor, downtime: Downtime | null, generation: number, nowMs: number): void {
    const { auth, rows, catchUp } = this.#options;
    // What was never checked is answered as quickly, and its first row says more than a later one.
    if (catchUp === undefined || found.seq === 0 || generation !== auth.generation()) return;
    catchUp();
    const inMemory = rows.monitor(found.id);
    // A row that SQL does not have yet may begin an incident that was not read.
    if (inMemory === undefined || inMemory.newestSeq !== found.seq) return;
    const { id, projectId, seq, name } = found;
    // The latest row is in memory.
    const monitor = { id, projectId, seq, latest: undefined };
    this.#kept.set(id, { monitor, name, downtime, generation, atMs: nowMs, rows: inMemory, turns: inMemory.turns });
  }
}
