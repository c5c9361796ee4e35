/**
 * What SQL told of monitors whose results are asked for, so that results in memory need no question to it. Name, project and pauses stay the same under
 * one generation. Incidents begin and end with a check that changes the monitor's status, and its row is in memory before SQL has it: so they stay the
 * same while no such row has come. That holds only where rows reach this process before a caller can see their statuses: else nothing is kept.
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
/** Nothing that is kept is known to become wrong; what is not known is forgotten after this, ms. */
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
  /** Of the rows, when the downtime was read. */
  readonly turns: number;
}

export class KnownMonitors {
  readonly #options: KnownMonitorsOptions;
  readonly #kept = new BoundedMap<number, Kept>(MOST_KEPT);

  constructor(options: KnownMonitorsOptions) {
    this.#options = options;
  }

  /** To be asked when the caller's rights were looked at: the generation is that of now. */
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
