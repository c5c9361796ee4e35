/**
 * The newest rows of one monitor, or of one project, in the order in which they were judged; the oldest makes room. Lists are in the order of
 * the checks' starts, which may be another: a slow check ends behind one that began after it. So the ring knows up to which start there may be
 * rows that it does not have, and shows only what began later.
 */
import { ROW_STATUSES, type RowStatus } from "../../model/status.ts";
import type { KeptRow, RowColumns } from "./row-columns.ts";

export interface Page {
  /** Places in the columns, newest first. */
  readonly places: readonly number[];
  /** The ring has every row of the window, whatever its status. */
  readonly isWhole: boolean;
}

export class RowRing {
  readonly columns: RowColumns;
  readonly #base: number;
  readonly #capacity: number;
  /** Where the next row goes. */
  #next = 0;
  #count = 0;
  #floorMs: number;

  /** @param base its first place in the columns @param floorMs there may be rows up to this start that it will never get, Unix ms */
  constructor(columns: RowColumns, base: number, capacity: number, floorMs: number) {
    this.columns = columns;
    this.#base = base;
    this.#capacity = capacity;
    this.#floorMs = floorMs;
  }

  get count(): number {
    return this.#count;
  }

  /** Every row that began later is here. */
  get floorMs(): number {
    return this.#floorMs;
  }

  /** Rows up to this start may be missing from now on, or are known not to be. */
  setFloor(floorMs: number): void {
    this.#floorMs = floorMs;
  }

  add(row: KeptRow): void {
    const at = this.#base + this.#next;
    if (this.#count === this.#capacity) {
      this.#floorMs = Math.max(this.#floorMs, this.columns.testedAtMs[at] ?? 0);
      this.columns.clear(at);
    } else this.#count += 1;
    this.columns.set(at, row);
    this.#next = (this.#next + 1) % this.#capacity;
  }

  clear(): void {
    for (let back = 1; back <= this.#count; back++) this.columns.clear(this.place(back));
    this.#count = 0;
    this.#next = 0;
  }

  /** @param back 1 for the row that was judged last */
  place(back: number): number {
    return this.#base + ((this.#next - back + this.#capacity) % this.#capacity);
  }

  /**
   * Rows that began at a time or later, newest first, up to a number.
   * @returns undefined where the ring cannot say which rows these are
   */
  page(fromMs: number, most: number, isWanted: (place: number) => boolean): Page | undefined {
    const isWhole = this.#floorMs < fromMs;
    const places: number[] = [];
    for (const place of this.newestFirst()) {
      const testedAtMs = this.columns.testedAtMs[place] ?? 0;
      if (isWhole ? testedAtMs < fromMs : testedAtMs <= this.#floorMs) break;
      if (!isWanted(place)) continue;
      if (!this.columns.isWhole(place)) return undefined;
      if (places.push(place) === most) break;
    }
    return isWhole || places.length === most ? { places, isWhole } : undefined;
  }

  /** Rows that began at a time or later, by status. */
  counts(fromMs: number): StatusCounts {
    const counts = newCounts();
    for (let back = 1; back <= this.#count; back++) {
      const place = this.place(back);
      if ((this.columns.testedAtMs[place] ?? 0) < fromMs) continue;
      const status = this.columns.status[place] ?? 0;
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  }

  /** All places, in the order of lists. */
  newestFirst(): readonly number[] {
    const places: number[] = [];
    let isSorted = true;
    let before = -1;
    for (let back = 1; back <= this.#count; back++) {
      const place = this.place(back);
      if (before !== -1 && this.columns.compare(before, place) > 0) isSorted = false;
      places.push(place);
      before = place;
    }
    return isSorted ? places : places.sort((one, other) => this.columns.compare(one, other));
  }
}

/** Rows by the place of their status in ROW_STATUSES. */
export type StatusCounts = [healthy: number, down: number, degraded: number, unknown: number];

export function newCounts(): StatusCounts {
  return [0, 0, 0, 0];
}

/** @param status null: of all */
export function countOf(counts: StatusCounts, status: RowStatus | null): number {
  if (status === null) return counts[0] + counts[1] + counts[2] + counts[3];
  return counts[ROW_STATUSES.indexOf(status)] ?? 0;
}
