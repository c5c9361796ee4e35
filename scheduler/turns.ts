/**
 * Due times of entries. Periods do not drift: the next turn is computed from the phase, never from the end of the last one.
 * Turns that could not be taken (a freeze, a check that still runs) are counted and not made up for.
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
  /** Turns that were not taken. */
  readonly onSkipped: (entry: Entry, turns: number) => void;
  /** A heartbeat's deadline passed. */
  readonly missed: (entry: Entry, deadlineAtMs: number) => void;
}

export interface Turns {
  /** The entry's next turn, replacing the one it had. */
  set(entry: Entry, atMs: number): void;
  /** Sets the first turn of its phase after a time. */
  settle(entry: Entry, afterMs: number): void;
  /**
   * The entry was last checked by another scheduler or before a restart. Of the turns since then, the last is taken late if they
   * stopped no longer ago than `latestMs`; all others are counted.
   */
  resume(entry: Entry, lastAtMs: number, nowMs: number, latestMs: number): void;
  /** Moves the next turn to a time, unless it is sooner already. */
  hasten(entry: Entry, atMs: number): void;
  clear(entry: Entry): void;
  /** Takes all turns that are due. */
  advance(nowMs: number): void;
  /** The clock was set: all turns are set again by phase, without a burst. */
  restart(entries: Iterable<Entry>, nowMs: number): void;
  /** Turns that came to nothing. */
  skip(entry: Entry, turns: number): void;
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

  function skip(entry: Entry, turns: number): void {
    if (turns === 0) return;
    skipped += turns;
    options.onSkipped(entry, turns);
  }

  function resume(entry: Entry, lastAtMs: number, nowMs: number, latestMs: number): void {
    const { intervalMs, phaseMs } = entry;
    const dueAtMs = nextDue(lastAtMs, intervalMs, phaseMs);
    // Of several the last is taken, and the others are counted, when it is.
    if (nowMs - dueAtMs <= latestMs) {
      set(entry, dueAtMs);
      return;
    }
    skip(entry, Math.floor((nowMs - dueAtMs) / intervalMs) + 1);
    settle(entry, nowMs);
  }

  function take(entry: Entry, nowMs: number): void {
    const dueAtMs = entry.nextTurnAtMs;
    entry.nextTurnAtMs = Number.POSITIVE_INFINITY;
    if (entry.spec === null) {
      options.missed(entry, dueAtMs);
      return;
    }
    const late = Math.floor((nowMs - dueAtMs) / entry.intervalMs);
    const isTaken = options.begin(entry, dueAtMs + late * entry.intervalMs);
    skip(entry, isTaken ? late : late + 1);
    settle(entry, nowMs);
  }

  return {
    set,
    clear,
    settle,
    resume,
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
        // A heartbeat's deadline was computed by the wrong clock.
        if (entry.spec === null) set(entry, nowMs + patienceMs(entry.monitor));
        else settle(entry, nowMs);
      }
    },
    skip,
    get skipped() {
      return skipped;
    },
  };
}
