/** Small counters by name that expire. Bounded, so that anonymous callers cannot fill the memory; changed ones are tracked. */
import { BoundedMap } from "../../model/bounded-map.ts";

export interface Cell {
  readonly values: number[];
  expiresAtMs: number;
}

export interface Cells {
  /** The cell while it has not expired. */
  get(name: string, nowMs: number): Cell | undefined;
  set(name: string, cell: Cell): void;
  /** Call after values of a cell were changed in place. */
  touch(name: string): void;
  /** @returns the cells that changed since the last call, without those that have expired */
  takeChanged(): readonly (readonly [name: string, cell: Cell])[];
  dropExpired(nowMs: number): void;
  readonly size: number;
}

/**
 * @param most cells kept: beyond it the oldest is removed
 * @param tracksChanges takeChanged() is called: what has changed waits for it
 */
export function createCells(most: number, tracksChanges = true): Cells {
  const cells = new BoundedMap<string, Cell>(most);
  let changed = new Set<string>();
  return {
    get(name, nowMs) {
      const cell = cells.get(name);
      return cell !== undefined && cell.expiresAtMs > nowMs ? cell : undefined;
    },
    set(name, cell) {
      cells.set(name, cell);
      if (tracksChanges) changed.add(name);
    },
    touch(name) {
      if (tracksChanges) changed.add(name);
    },
    takeChanged() {
      const names = changed;
      changed = new Set();
      const found: [string, Cell][] = [];
      for (const name of names) {
        const cell = cells.get(name);
        if (cell !== undefined) found.push([name, cell]);
      }
      return found;
    },
    dropExpired(nowMs) {
      for (const [name, cell] of cells) if (cell.expiresAtMs <= nowMs) cells.delete(name);
    },
    get size() {
      return cells.size;
    },
  };
}
