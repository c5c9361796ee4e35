/** What is to run (PlannedCheck), and what is under way (Run). */
import type { CheckSpec } from "../../engine/contract/messages.ts";
import type { ConcurrencyLimit, Limited } from "../../engine/limits/concurrency.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { CheckOutcome } from "../../model/result.ts";

/** A check of one monitor at one location, by schedule; a heartbeat has one without a spec. */
export interface PlannedCheck {
  /** The check's id in the wheel; reused after removal. */
  readonly id: number;
  readonly location: string;
  monitor: Monitor;
  /** null for heartbeats: nothing runs, the wheel holds their deadline. */
  spec: CheckSpec | null;
  intervalMs: number;
  /** Offset of its due times within the interval, ms; of wall time, so that a restart does not shift it. */
  phaseMs: number;
  /** Of the account behind it; null: none. */
  identity: string | null;
  /** Caps that its next run must pass. */
  limits: readonly ConcurrencyLimit<Run>[];
  /** Unix ms of the due time that the wheel holds; Infinity when it holds none. */
  nextDueAtMs: number;
  /** Unix ms of its last result, or of its planning when it has none yet. The watchdog measures from here. */
  lastSignAtMs: number;
  /** What waits or runs now; null: nothing. When it is due meanwhile, it skips that due time; the skip is counted. */
  run: Run | null;
  /** Paused, deleted, or not checked from that location any more: outcomes that are still under way are dropped. */
  isRemoved: boolean;
}

/**
 * One run of a check, from its due time to its outcome: of the plan, or on demand.
 *
 *   waiting ──limits have room──▶ running ──outcome──▶ over
 *      └─────withdrawn─────▶ over    └──its second look: running again
 */
export interface Run extends Limited<Run> {
  /** Whose due time it is; null: on demand. */
  readonly planned: PlannedCheck | null;
  /** Receives the outcome of a run on demand; null: the outcome is judged as one of the planned check. */
  readonly onEnd: ((outcome: CheckOutcome, attempt: number) => void) | null;
  /** Outcomes of runs with the same `order` are released in the order in which the runs ended. */
  readonly order: object;
  /** null: of no monitor. */
  readonly monitorId: number | null;
  readonly location: string;
  readonly spec: CheckSpec;
  readonly identity: string | null;
  /** Of the target, lowercased; null for what has none. */
  readonly host: string | null;
  /** The target was confirmed up when the outcome came. */
  wasHealthy: boolean;
  /** A checker begins it within this, ms, or never. */
  readonly patienceMs: number;
  /** How long a cap or a held sink kept it from being sent when it was due, ms; null while it is kept. */
  heldMs: number | null;
  /** Unix ms; null: when the limits let it start. */
  readonly dueAtMs: number | null;
  /** Of the running attempt; 0 when none runs. */
  checkId: number;
  /** 1, or 2 for a second look. */
  attempt: number;
}

/** A planned check's run at a due time. A change of the monitor meanwhile does not change it. */
export function runOf(planned: PlannedCheck, spec: CheckSpec, dueAtMs: number): Run {
  return {
    planned,
    onEnd: null,
    order: planned,
    monitorId: planned.monitor.id,
    location: planned.location,
    spec,
    identity: planned.identity,
    host: planned.monitor.host,
    workspace: planned.monitor.organizationId,
    wasHealthy: false,
    // A turn expires when the next one is due (docs/decisions/0006-stores.md).
    patienceMs: planned.intervalMs,
    limits: planned.limits,
    state: "waiting",
    heldMs: 0,
    dueAtMs,
    checkId: 0,
    attempt: 1,
  };
}
