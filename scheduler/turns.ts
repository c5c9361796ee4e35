/**
 * Turns: when each entry is due. Periods do not drift: the next turn comes from the phase, never from when the last one ended.
 * Turns that nobody could take (a freeze, a check that still runs) are counted and not made up for.
 */
import type { Entry } from "./entry.ts";
import { patienceMs } from "./heartbeats.ts";
import { nextDue } from "./spread.ts";
import { createWheel } from "./wheel.ts";

export interface TurnsOptions {
  readonly nowMs: number;
  readonly entry: (id: number) => Entry | undefined;
  /** Starts a check's turn; false when the turn before is not over. */
  readonly begin: (entry: Entry, turnAtMs: number) => boolean;
  /** A heartbeat's deadline passed. */
  readonly missed: (entry: Entry, deadlineAtMs: number) => void;
}

export interface Turns {
  /** The entry's next turn, replacing the one it had. */
  set(entry: Entry, atMs: number): void;
  /** Into its phase: the first turn after a time. */
  settle(entry: Entry, afterMs: number): void;
  /** No later than a time; a turn that comes sooner stays. */
  hasten(entry: Entry, atMs: number): void;
  clear(entry: Entry): void;
  /** Takes all turns that are due. */
  advance(nowMs: number): void;
  /** The clock was set: everything goes to its phase anew, without a burst. */
  restart(entries: Iterable<Entry>, nowMs: number): void;
  /** Turns that were not taken since the start. */
  readonly skipped: number;
}

export function createTurns(options: TurnsOptions): Turns {
  let wheel = createWheel(options.nowMs);
  let skipped = 0;

  function set(entry: Entry, atMs: number): void {
    clear(entry);
    entry.nextTurnAtMs = atMs;
    wheel.insert(entry.id, atMs);
  }

  function clear(entry: Entry): void {
    if (entry.nextTurnAtMs === Number.POSITIVE_INFINITY) return;
    wheel.remove(entry.id);
    entry.nextTurnAtMs = Number.POSITIVE_INFINITY;
  }

  function settle(entry: Entry, afterMs: number): void {
    set(entry, nextDue(afterMs, entry.intervalMs, entry.phaseMs));
  }

  function take(entry: Entry, nowMs: number): void {
    const dueAtMs = entry.nextTurnAtMs;
    entry.nextTurnAtMs = Number.POSITIVE_INFINITY;
    if (entry.spec === null) {
      options.missed(entry, dueAtMs);
      return;
    }
    const late = Math.floor((nowMs - dueAtMs) / entry.intervalMs);
    skipped += late;
    if (!options.begin(entry, dueAtMs + late * entry.intervalMs)) skipped += 1;
    settle(entry, nowMs);
  }

  return {
    set,
    clear,
    settle,
    hasten(entry, atMs) {
      if (atMs < entry.nextTurnAtMs) set(entry, atMs);
    },
    advance(nowMs) {
      wheel.advance(nowMs, (id) => {
        const entry = options.entry(id);
        if (entry !== undefined) take(entry, nowMs);
      });
    },
    restart(entries, nowMs) {
      wheel = createWheel(nowMs);
      for (const entry of entries) {
        entry.nextTurnAtMs = Number.POSITIVE_INFINITY;
        // A heartbeat's deadline was reckoned by the clock that was wrong.
        if (entry.spec === null) set(entry, nowMs + patienceMs(entry.monitor));
        else settle(entry, nowMs);
      }
    },
    get skipped() {
      return skipped;
    },
  };
}
