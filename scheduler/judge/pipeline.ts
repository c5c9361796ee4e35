/**
 * The straight way of a check, in reading order:
 *
 *   due ──▶ limits ──▶ send ──▶ outcome ──▶ hold ──▶ judge ──▶ store
 *    ▲                  ▲                    │        │
 *    │                  └────second look─────┘        │
 *    └──────────────the next one comes sooner─────────┘
 *
 * Each stage is a class that does not know the others; this class hands what one stage yields to the next. One wheel, one set of limits
 * and one sink serve all shards that this process holds.
 */
import type { Admission } from "../../engine/limits/concurrency.ts";
import type { Log } from "../../model/log.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { DueTimes, type OnDue } from "../due/due-times.ts";
import type { CheckSpecs } from "../plan/check-specs.ts";
import type { Plan } from "../plan/plan.ts";
import { type PlannedCheck, type Run, runOf } from "../plan/planned-check.ts";
import { CheckIds, Dispatch, type ProberSet } from "../run/dispatch.ts";
import { OnDemandRuns } from "../run/on-demand.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { JudgedOutcome } from "../sink/judged-outcome.ts";
import type { Sink } from "../sink/sink.ts";
import type { CheckContext } from "./check-context.ts";
import type { CheckDelays } from "./check-delays.ts";
import { missedOutcome } from "./heartbeats.ts";
import { Hold, type OpenSuspects } from "./hold.ts";
import { sayIncidents } from "./incident-log.ts";
import { PlanChanges } from "./plan-changes.ts";
import type { MonitorStates } from "./states.ts";

export interface CheckPipelineOptions {
  readonly plan: Plan;
  readonly specs: CheckSpecs;
  readonly states: MonitorStates;
  readonly sink: Pick<Sink, "add" | "skip">;
  readonly probers: ProberSet;
  readonly admission: Admission<Run>;
  /** Whether checks may begin now; what is due meanwhile waits. */
  readonly mayBegin: () => boolean;
  readonly ownedShards: Pick<OwnedShards, "isActive" | "shardOf">;
  readonly openSuspects: OpenSuspects;
  readonly nowMs: () => number;
  /** Every final outcome, for metrics. */
  readonly onOutcome: (context: CheckContext, outcome: CheckOutcome) => void;
  /** Counts how late checks begin, less what a cap held them back. */
  readonly delays: Pick<CheckDelays, "count">;
  readonly log: Pick<Log, "info">;
}

export class CheckPipeline {
  readonly dueTimes: DueTimes;
  readonly onDemandRuns: OnDemandRuns;
  readonly changes: PlanChanges;
  readonly checkIds: CheckIds;
  readonly #options: CheckPipelineOptions;
  readonly #admission: Admission<Run>;
  readonly #dispatch: Dispatch;
  readonly #hold: Hold;

  constructor(options: CheckPipelineOptions) {
    const { plan, specs, states, sink, probers, admission, ownedShards, nowMs } = options;
    this.#options = options;
    this.checkIds = new CheckIds(nowMs());
    this.dueTimes = new DueTimes(
      nowMs(),
      (id) => plan.byId(id),
      ({ monitor }, count) => sink.skip(ownedShards.shardOf(monitor.id), count),
    );
    this.#admission = admission;
    const dispatch = new Dispatch({ probers, states, checkIds: this.checkIds, nowMs });
    this.#dispatch = dispatch;
    this.#hold = new Hold(states, options.openSuspects, (run, outcome) => this.#judge(run, outcome));
    this.onDemandRuns = new OnDemandRuns({ plan, specs, dispatch, admission });
    const { dueTimes, onDemandRuns } = this;
    this.changes = new PlanChanges({ states, dueTimes, admission, dispatch, onDemandRuns, nowMs });
  }

  get running(): number {
    return this.#admission.running;
  }

  /** Runs that wait for a limit. */
  get waiting(): number {
    return this.#admission.waiting;
  }

  /** Runs that are over, and whose outcome is not known yet or waits behind one of the same monitor that is not known yet. */
  get pending(): number {
    return this.#hold.pending;
  }

  get secondLooks(): number {
    return this.#hold.secondLooks;
  }

  /** Runs that may begin at any moment without a message that says so: a limit, the lease or the disk held them back. */
  get heldBack(): number {
    return this.#admission.waiting + this.#admission.untaken + this.#hold.secondLooks;
  }

  /** Our own network counts as cut: failures become `unfit`. */
  get isCut(): boolean {
    return this.#hold.isCut;
  }

  /** Starts every check that is due, and sends the runs. @returns how many were due */
  advance(): number {
    const due = this.dueTimes.advance(this.#options.nowMs(), this.#due);
    this.flush();
    return due;
  }

  /** due ──▶ limits */
  readonly #due: OnDue = (planned, dueAtMs) => {
    // The shard is about to be given back. Its next holder counts this due time as skipped, or runs it late.
    if (!this.#options.ownedShards.isActive(planned.monitor.id)) return "left";
    if (planned.spec === null) {
      this.#missDeadline(planned, dueAtMs);
      return "taken";
    }
    if (planned.run !== null) return "busy";
    planned.run = runOf(planned, planned.spec, dueAtMs);
    this.#admission.request(planned.run);
    if (planned.run.state !== "running") planned.run.heldMs = null;
    return "taken";
  };

  /** limits ──▶ send */
  flush(): void {
    if (!this.#options.mayBegin()) return;
    for (let run = this.#hold.nextSecondLook(); run !== undefined; run = this.#hold.nextSecondLook()) {
      if (this.#isDropped(run)) {
        this.#over(run);
        continue;
      }
      this.#hold.startSecondLook(run);
      this.#dispatch.send(run);
    }
    for (const run of this.#admission.takeStarted()) {
      // Another scheduler has taken its shard while it waited.
      if (this.#isDropped(run)) {
        this.#over(run);
        continue;
      }
      run.heldMs ??= this.#options.nowMs() - (run.dueAtMs ?? 0);
      this.#dispatch.send(run);
    }
    this.#dispatch.flush();
  }

  /** outcome ──▶ hold: the outcomes of runs, and of pending ones. */
  take(outcomes: readonly CheckOutcome[]): void {
    for (const outcome of outcomes) if (!this.#hold.settle(outcome)) this.#end(outcome, false);
    this.flush();
  }

  /** outcome ──▶ hold: these runs are over; take() gets their outcomes when their checker knows whether its own network had failed. */
  takePending(outcomes: readonly CheckOutcome[]): void {
    for (const outcome of outcomes) this.#end(outcome, true);
    this.flush();
  }

  #end(outcome: CheckOutcome, isPending: boolean): void {
    const run = this.#dispatch.ended(outcome.checkId);
    if (run === undefined) return;
    // Of our own probers, by schedule: what runs elsewhere waits for other processors.
    if (run.dueAtMs !== null && run.attempt === 1 && outcome.checker === undefined)
      this.#options.delays.count(outcome.latenessMs - (run.heldMs ?? 0));
    if (this.#hold.keepForSecondLook(run, outcome, this.#admission.running)) return;
    const isDropped = this.#isDropped(run);
    this.#over(run);
    if (!isDropped) this.#hold.take(run, outcome, isPending);
  }

  /** hold ──▶ judge */
  #judge(run: Run, outcome: CheckOutcome): void {
    const { planned, location, attempt } = run;
    if (run.onEnd !== null) {
      run.onEnd(outcome, attempt);
      return;
    }
    // Removed while its outcome was held.
    if (planned === null || planned.isRemoved) return;
    const isOurs = this.#options.ownedShards.isActive(planned.monitor.id);
    // No checker could run it, so the outcome says nothing about the target. The next holder of its shard counts it by itself.
    if (outcome.verdict === "cancelled") {
      if (isOurs) this.dueTimes.skip(planned, 1);
      return;
    }
    this.judged(planned, this.record({ monitor: planned.monitor, location, attempt, inboxId: null }, outcome));
    if (!isOurs) this.dueTimes.leave(planned, outcome.startedAtMs);
  }

  /** judge ──▶ store */
  record(context: CheckContext, outcome: CheckOutcome): JudgedOutcome {
    const { onOutcome, states, sink, log } = this.#options;
    onOutcome(context, outcome);
    const judged = states.judge(context, outcome);
    if (judged.incidents.length > 0) sayIncidents(log, context.monitor, judged.incidents);
    sink.add(judged);
    return judged;
  }

  /** An outcome of the monitor was judged at this location: the next check may be due sooner than its phase says. */
  judged(planned: PlannedCheck, { nextWithinMs }: JudgedOutcome): void {
    planned.lastSignAtMs = this.#options.nowMs();
    this.dueTimes.hasten(planned, planned.lastSignAtMs + nextWithinMs);
  }

  /** A heartbeat's next deadline, after a call. */
  expect(planned: PlannedCheck, deadlineAtMs: number): void {
    planned.lastSignAtMs = this.#options.nowMs();
    this.dueTimes.set(planned, deadlineAtMs);
  }

  /** Lets out what waits for the canaries: before a stop. */
  releaseSuspects(): void {
    this.#hold.flush();
  }

  /** Asks no canary any more. */
  close(): void {
    this.#hold.close();
  }

  #missDeadline(planned: PlannedCheck, deadlineAtMs: number): void {
    const { monitor, location, intervalMs } = planned;
    const nowMs = this.#options.nowMs();
    const outcome = missedOutcome(monitor, deadlineAtMs, nowMs, this.checkIds.next());
    this.record({ monitor, location, attempt: 1, inboxId: null }, outcome);
    this.expect(planned, nowMs + intervalMs);
  }

  /** The outcome must not count: the monitor was removed, or changed while the run was under way. */
  #isDropped({ planned, spec }: Run): boolean {
    return planned !== null && (planned.isRemoved || planned.spec !== spec);
  }

  /** Frees the run's places under its limits, and its planned check. */
  #over(run: Run): void {
    const { planned, spec } = run;
    if (planned !== null) planned.run = null;
    this.#admission.release(run);
    // The run measured the monitor's old settings, so the new settings are checked at once.
    if (planned !== null && !planned.isRemoved && planned.spec !== spec) {
      this.dueTimes.set(planned, this.#options.nowMs());
    }
  }
}
