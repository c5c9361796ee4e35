/** Entries of the wheel: one per monitor and location that can be checked; a heartbeat has one without a spec. */
import type { CheckSpec } from "../engine/check.ts";
import type { Monitor } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";

/**
 * idle ──due──▶ waiting ──caps allow──▶ running ──outcome──▶ idle
 *                  └──removed──▶ idle       └──removed──▶ gone: its outcome is dropped
 * An entry that is due while it waits or runs skips that turn; the skip is counted.
 */
export type EntryState = "idle" | "waiting" | "running" | "gone";

export interface Entry {
  /** Names the entry in the wheel; reused after removal. */
  readonly id: number;
  readonly location: string;
  monitor: Monitor;
  /** null for heartbeats: nothing runs, the wheel holds their deadline. */
  spec: CheckSpec | null;
  intervalMs: number;
  /** Offset of its turns within the interval, ms; of wall time, so that a restart does not shift it. */
  phaseMs: number;
  /** Of the account behind it; null: none. */
  identity: string | null;
  /** Caps that its next turn must pass. */
  gates: readonly Gate[];
  /** Caps of the waiting or running turn: a change of the monitor meanwhile does not change them. */
  held: readonly Gate[];
  state: EntryState;
  /** Unix ms of the turn the wheel holds; Infinity when it holds none. */
  nextTurnAtMs: number;
  /** Unix ms of the turn that waits or runs. */
  turnAtMs: number;
  /** Of the running attempt; 0 when none runs. */
  checkId: number;
  /** 1 for a turn's first attempt. */
  attempt: number;
  /** When it last had a result, or was planned; the watchdog measures from here. */
  lastSignAtMs: number;
  /** Set: it runs once and the wheel never turns it; null for the plan's own. */
  readonly errand: Errand | null;
}

/** An on-demand run: a test of a monitor, or a config that is not stored. */
export interface Errand {
  /** The monitor's own entry at that location: outcomes of both are judged in their order. */
  readonly inOrderOf: Entry | null;
  /** It has its final outcome. */
  end(outcome: CheckOutcome, attempt: number): void;
}

/** A cap on what runs at the same time; several entries share one. */
export interface Gate {
  readonly limit: number;
  running: number;
  /** Entries that found this gate full, oldest first. */
  readonly waiting: Entry[];
}
