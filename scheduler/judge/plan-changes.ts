/** Applies a change of the plan to due times, specs and runs, at once. */
import type { Admission } from "../../engine/limits/concurrency.ts";
import { delayAfterS, heartbeatDeadlineMs } from "../../model/schedule.ts";
import type { DueTimes } from "../due/due-times.ts";
import type { PlanChange } from "../plan/plan.ts";
import type { PlannedCheck, Run } from "../plan/planned-check.ts";
import type { Dispatch } from "../run/dispatch.ts";
import type { OnDemandRuns } from "../run/on-demand.ts";
import type { MonitorStates } from "./states.ts";

/**
 * If due times stopped longer ago than this, the last one is not made up for, ms: after a long silence all would run at once. A lease time, and
 * as much to spare.
 */
const CATCH_UP_MS = 60_000;

/**
 * Why a planned check gets its first due time. loaded: this process took its shard · returned: its location has checkers again ·
 * changed: the monitor was made, resumed or changed
 */
export type Arrival = "loaded" | "returned" | "changed";

export interface PlanChangesOptions {
  readonly states: MonitorStates;
  readonly dueTimes: DueTimes;
  readonly admission: Admission<Run>;
  readonly dispatch: Dispatch;
  readonly onDemandRuns: OnDemandRuns;
  readonly nowMs: () => number;
}

export class PlanChanges {
  readonly #options: PlanChangesOptions;

  constructor(options: PlanChangesOptions) {
    this.#options = options;
  }

  /** @param lastCallAtMs of a heartbeat that was loaded, Unix ms; null: none */
  apply({ planned, type, obsoleteSpecKey }: PlanChange, arrival: Arrival, lastCallAtMs: number | null): void {
    const { dispatch, dueTimes, onDemandRuns } = this.#options;
    if (obsoleteSpecKey !== null) dispatch.forget(obsoleteSpecKey);
    if (type === "kept") return;
    if (type === "removed") {
      dueTimes.clear(planned);
      this.#withdraw(planned);
      return;
    }
    if (type !== "rescheduled") {
      // A waiting run would run the monitor's old settings.
      this.#withdraw(planned);
      if (planned.spec !== null) dispatch.define(planned.spec);
      onDemandRuns.adopt(planned);
    }
    this.#setFirst(planned, type, arrival, lastCallAtMs);
  }

  /** The monitor's shard is about to be given back: a run that waits for a limit must not start here any more. */
  retire(planned: PlannedCheck): void {
    this.#withdraw(planned);
  }

  #setFirst(
    planned: PlannedCheck,
    type: "added" | "respecified" | "rescheduled",
    arrival: Arrival,
    lastCallAtMs: number | null,
  ): void {
    const { dueTimes, states, nowMs } = this.#options;
    if (planned.spec === null) dueTimes.set(planned, this.#deadlineOf(planned, arrival, lastCallAtMs));
    else if (type === "rescheduled") dueTimes.settle(planned, nowMs());
    else if (arrival === "changed" || !states.wasChecked(planned.monitor.id)) dueTimes.set(planned, nowMs());
    else this.#resume(planned, arrival);
  }

  /** Continues the schedule from the last check of the shard's previous holder, or from the time when the location lost its last checker. */
  #resume(planned: PlannedCheck, arrival: Arrival): void {
    const { dueTimes, states, nowMs } = this.#options;
    const { monitor, intervalMs } = planned;
    const state = states.live(monitor.id)?.locations[planned.location];
    const lastAtMs = state?.lastCheckAtMs ?? null;
    const latestMs = arrival === "loaded" ? CATCH_UP_MS : 0;
    // Due times before a change (for example a resume) do not count as missed. A monitor that was never checked has missed all due times since the change.
    const sinceMs = lastAtMs === null ? monitor.updatedAtMs : Math.max(lastAtMs, monitor.updatedAtMs - intervalMs);
    dueTimes.resume(planned, sinceMs, nowMs(), latestMs);
    if (state === undefined || lastAtMs === null) return;
    if (state.status !== "pending") return;
    const delayMs = delayAfterS(state, "timeout", monitor.intervalS) * 1_000;
    dueTimes.hasten(planned, Math.max(nowMs(), lastAtMs + delayMs));
  }

  #deadlineOf({ monitor }: PlannedCheck, arrival: Arrival, lastCallAtMs: number | null): number {
    const nowMs = this.#options.nowMs();
    return heartbeatDeadlineMs({
      periodS: monitor.intervalS,
      graceS: monitor.graceS ?? 0,
      lastCallAtMs,
      activeSinceMs: arrival === "loaded" ? monitor.createdAtMs : nowMs,
      readyAtMs: nowMs,
      heardUntilMs: null,
    });
  }

  /** Withdraws a waiting run. A running one ends by itself. */
  #withdraw(planned: PlannedCheck): void {
    const { run } = planned;
    if (run?.state !== "waiting") return;
    this.#options.admission.withdraw(run);
    planned.run = null;
  }
}
