/** A run on its way: which checker has it, and until when. */
import type { CheckRun, CheckSpec, RunTarget } from "../../engine/contract/messages.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckerReport } from "../../store/state/checkers.ts";

export interface Flight {
  readonly run: CheckRun;
  /** The spec that was sent last; undefined: none yet. */
  spec: CheckSpec | undefined;
  readonly place: RunTarget;
  /** null: it waits for a checker, or the stand-in runs it. */
  checker: CheckerReport | null;
  /** The stand-in runs it. */
  isHere: boolean;
  /** By our monotonic clock. */
  sentAtMs: number;
  /** By our monotonic clock; a run without an answer by then is missed. */
  deadlineMs: number;
  /** Checkers that it was sent to. */
  readonly tried: string[];
  /** It was run; the scheduler waits only for its checker's final outcome. */
  isOver: boolean;
}

export function flightOf(run: CheckRun, place: RunTarget): Flight {
  return {
    run,
    spec: undefined,
    place,
    checker: null,
    isHere: false,
    sentAtMs: 0,
    deadlineMs: 0,
    tried: [],
    isOver: false,
  };
}

/** An outcome by a clock that is ahead of ours, ms: by ours. Whole ms, as in rows. */
export const inTime = (outcome: CheckOutcome, aheadMs: number): CheckOutcome => ({
  ...outcome,
  startedAtMs: Math.round(outcome.startedAtMs - aheadMs),
});
