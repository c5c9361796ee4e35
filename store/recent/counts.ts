/**
 * How many rows of each status a monitor has in a window. The store counts once; from then on rows that come are added, and rows that leave the
 * window are taken off, because the store has said when the next thousand do.
 */
import { PERIOD_MS, type Period } from "../../model/result.ts";
import { ROW_STATUSES } from "../../model/status.ts";
import type { CountedRows } from "../results/result-store.ts";
import type { MonitorRows } from "./monitor-rows.ts";
import { newCounts, type StatusCounts } from "./row-ring.ts";

/** The store is asked again after this long, ms: rows of a scheduler that died may have reached it late. Shorter than any period. */
const KEPT_MS = 10 * 60_000;

export class WindowCounts {
  readonly #counted: CountedRows;
  /** Of the monitor's rows in memory, those that the store has counted too. */
  readonly #before: StatusCounts;
  readonly #countedAtMs: number;
  readonly #periodMs: number;
  readonly #left: StatusCounts = newCounts();
  #next = 0;

  /** @returns undefined when rows between the store's newest and memory's oldest are on their way to the store */
  static of(counted: CountedRows, rows: MonitorRows, period: Period, nowMs: number): WindowCounts | undefined {
    const before = countedUpTo(rows, counted.newestSeq);
    return before === undefined ? undefined : new WindowCounts(counted, before, period, nowMs);
  }

  private constructor(counted: CountedRows, before: StatusCounts, period: Period, nowMs: number) {
    this.#counted = counted;
    this.#before = before;
    this.#countedAtMs = nowMs;
    this.#periodMs = PERIOD_MS[period];
  }

  /** @param rows of the same monitor, in memory ever since @returns undefined when the store must be asked again */
  at(rows: MonitorRows, nowMs: number): StatusCounts | undefined {
    if (nowMs < this.#countedAtMs || nowMs - this.#countedAtMs > KEPT_MS) return undefined;
    const { leaving, hasMore, counts } = this.#counted;
    const fromMs = nowMs - this.#periodMs;
    for (let row = leaving[this.#next]; row !== undefined && row.testedAtMs < fromMs; row = leaving[this.#next]) {
      const status = ROW_STATUSES.indexOf(row.status);
      this.#left[status] = (this.#left[status] ?? 0) + 1;
      this.#next += 1;
    }
    if (hasMore && this.#next === leaving.length) return undefined;
    const now = newCounts();
    for (let status = 0; status < now.length; status++) {
      const came = (rows.counted[status] ?? 0) - (this.#before[status] ?? 0);
      now[status] = (counts[status] ?? 0) + came - (this.#left[status] ?? 0);
    }
    return now;
  }
}

/** What the monitor's rows in memory counted when the one of this seq was the newest. */
function countedUpTo(rows: MonitorRows, seq: number): StatusCounts | undefined {
  const later = rows.newestSeq - seq;
  const { ring } = rows;
  if (later < 0 || later > ring.count) return undefined;
  const counts: StatusCounts = [...rows.counted];
  for (let back = 1; back <= later; back++) {
    const status = ring.columns.status[ring.place(back)] ?? 0;
    counts[status] = (counts[status] ?? 0) - 1;
  }
  return counts;
}
