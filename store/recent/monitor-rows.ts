/** What memory has of one monitor: its newest rows, and how many rows of each status it had. */
import { PERIOD_MS, type Period } from "../../model/result.ts";
import { FULL_RETENTION_MS, NEWEST_KEPT } from "../../model/retention.ts";
import { type LiveStatus, ROW_STATUSES, type RowStatus } from "../../model/status.ts";
import type { KeptRow } from "./row-columns.ts";
import { newCounts, type RowRing, type StatusCounts } from "./row-ring.ts";

/** Rows of a ring: what retention keeps, and some for those that were not judged in the order of their starts. */
export const RING_ROWS = NEWEST_KEPT + 12;

export interface Newest {
  readonly seq: number;
  readonly status: RowStatus;
  /** The monitor's own, as the latest row left it; null: not known, the rows come from the store. */
  readonly liveStatus: LiveStatus | null;
  readonly testedAtMs: number;
  readonly latencyMs: number | null;
}

export interface WindowQuery {
  readonly period: Period;
  readonly status: RowStatus | null;
  readonly limit: number;
  readonly offset: number;
  readonly nowMs: number;
}

export class MonitorRows {
  readonly monitorId: number;
  readonly projectId: number;
  readonly ring: RowRing;
  #newestSeq = 0;
  #liveStatus: LiveStatus | null = null;
  #turns = 0;
  /** Every row from the first one is counted below. */
  #isCountedWhole = false;
  /** The earliest start of those that are counted, Unix ms. */
  #firstMs = Number.POSITIVE_INFINITY;
  readonly #counted: StatusCounts = newCounts();
  /** When it was last asked for or written to, Unix ms. */
  usedAtMs = 0;
  /** When the store was asked for its newest rows, Unix ms. */
  filledAtMs = Number.NEGATIVE_INFINITY;

  constructor(monitorId: number, projectId: number, ring: RowRing) {
    this.monitorId = monitorId;
    this.projectId = projectId;
    this.ring = ring;
  }

  get newestSeq(): number {
    return this.#newestSeq;
  }

  /** Grows whenever the monitor's status has changed, or may have. */
  get turns(): number {
    return this.#turns;
  }

  /** Rows since it is in memory, by status: for the difference between two moments. */
  get counted(): StatusCounts {
    return this.#counted;
  }

  /** undefined: it has no row. */
  newest(): Newest | undefined {
    if (this.ring.count === 0) return undefined;
    const { columns } = this.ring;
    const place = this.ring.place(1);
    return {
      seq: this.#newestSeq,
      status: columns.statusOf(place),
      liveStatus: this.#liveStatus,
      testedAtMs: columns.testedAtMs[place] ?? 0,
      latencyMs: columns.latencyOf(place),
    };
  }

  /**
   * A row that was judged just now. One that is known is passed over. When rows before it were missed, it begins anew.
   * @param liveStatus null: not known
   */
  add(row: KeptRow, liveStatus: LiveStatus | null, nowMs: number): void {
    if (row.seq <= this.#newestSeq) {
      // Another row under the same number: a scheduler wrote it that took the monitor over.
      if (this.#isOther(row)) this.forget(nowMs);
      else return;
    } else if (row.seq !== this.#newestSeq + 1 && this.#isKnown) this.forget(nowMs);
    if (row.seq === 1) {
      this.#isCountedWhole = true;
      this.ring.setFloor(Number.NEGATIVE_INFINITY);
    }
    this.ring.add(row);
    this.#newestSeq = row.seq;
    if (liveStatus === null || liveStatus !== this.#liveStatus) this.#turns += 1;
    this.#liveStatus = liveStatus;
    this.#count(row);
  }

  /** Which row was the last is known, or that there is none. */
  get #isKnown(): boolean {
    return this.#newestSeq > 0 || this.ring.floorMs === Number.NEGATIVE_INFINITY;
  }

  #isOther({ seq, id }: KeptRow): boolean {
    const back = this.#newestSeq - seq + 1;
    if (back > this.ring.count) return false;
    const place = this.ring.place(back);
    const { columns } = this.ring;
    return columns.seq[place] !== seq || columns.idOf(place) !== id;
  }

  #count({ status, testedAtMs }: Pick<KeptRow, "status" | "testedAtMs">): void {
    const at = ROW_STATUSES.indexOf(status);
    this.#counted[at] = (this.#counted[at] ?? 0) + 1;
    this.#firstMs = Math.min(this.#firstMs, testedAtMs);
  }

  /** Rows up to now may be missing: only later ones are shown until the store is read. */
  forget(nowMs: number): void {
    this.ring.clear();
    this.ring.setFloor(nowMs);
    this.filledAtMs = Number.NEGATIVE_INFINITY;
    this.#newestSeq = 0;
    this.#liveStatus = null;
    this.#turns += 1;
    this.#isCountedWhole = false;
    this.#firstMs = Number.POSITIVE_INFINITY;
    this.#counted.fill(0);
  }

  /**
   * Puts the store's newest rows before those that came since.
   * @param stored by seq, ascending @param floorMs the store has rows up to this start that are not among them
   * @returns false when rows between the two are on their way to the store: later it has them
   */
  fill(stored: readonly KeptRow[], floorMs: number): boolean {
    const held: KeptRow[] = [];
    for (let back = this.ring.count; back >= 1; back--)
      held.push(this.ring.columns.rowOf(this.ring.place(back), this.monitorId));
    const firstHeld = held[0]?.seq ?? Number.POSITIVE_INFINITY;
    const lastStored = stored.at(-1)?.seq ?? 0;
    if (held.length > 0 && lastStored < firstHeld - 1) return false;
    const before = stored.filter(({ seq }) => seq < firstHeld);
    const rows = [...before, ...held];
    this.ring.clear();
    this.ring.setFloor(rows[0]?.seq === 1 ? Number.NEGATIVE_INFINITY : floorMs);
    for (const row of rows) this.ring.add(row);
    this.#newestSeq = rows.at(-1)?.seq ?? 0;
    this.#turns += 1;
    if (!this.#isCountedWhole) {
      for (const row of before) this.#count(row);
      this.#isCountedWhole = rows[0]?.seq === 1 && rows.length === this.#newestSeq;
    }
    return true;
  }

  /** Places of a page of the window, newest first; undefined: memory does not have all of it. */
  page({ period, status, limit, offset, nowMs }: WindowQuery): readonly number[] | undefined {
    const fromMs = nowMs - PERIOD_MS[period];
    const { columns } = this.ring;
    const wanted = status === null ? -1 : ROW_STATUSES.indexOf(status);
    const page = this.ring.page(fromMs, offset + limit, (place) => wanted === -1 || columns.status[place] === wanted);
    if (page === undefined) return undefined;
    const oldest = page.places.at(-1);
    const oldestMs = oldest === undefined ? nowMs : (columns.testedAtMs[oldest] ?? 0);
    if (!this.#isRetained(oldestMs, nowMs)) return undefined;
    return page.places.slice(offset);
  }

  /** Rows of the window by status; undefined: memory does not know. */
  countsOf(period: Period, nowMs: number): StatusCounts | undefined {
    const fromMs = nowMs - PERIOD_MS[period];
    if (this.#isCountedWhole && this.#firstMs >= fromMs && this.#isRetained(this.#firstMs, nowMs)) return this.#counted;
    if (this.ring.floorMs >= fromMs || !this.#isRetained(fromMs, nowMs)) return undefined;
    return this.ring.counts(fromMs);
  }

  /** Rows that are older than a day are kept for what they say, or while they are among the newest. */
  #isRetained(oldestMs: number, nowMs: number): boolean {
    return oldestMs >= nowMs - FULL_RETENTION_MS || this.ring.count <= NEWEST_KEPT;
  }
}
