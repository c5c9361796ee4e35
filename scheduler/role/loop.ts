/**
 * The scheduler's loop, on the shards that this process holds. All shards share one wheel, one set of limits and one sink, so that a process
 * costs the same whatever it holds, and taking or losing a shard affects no other. The loop follows the control plane, advances the wheel,
 * sends checks, takes outcomes, and bounds every queue. The system's timers are used here and nowhere deeper.
 */
import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import type { EngineOptions } from "../../engine/contract/options.ts";
import { Admission, type ConcurrencyLimit, ConcurrencyLimits } from "../../engine/limits/concurrency.ts";
import { after } from "../../engine/transport/after.ts";
import type { Canary } from "../../engine/trust/canary.ts";
import { OwnNetwork } from "../../engine/trust/own-network.ts";
import type { Caps } from "../../model/caps.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { LiveState } from "../../model/status.ts";
import { onTicks } from "../../model/ticks.ts";
import type { Pump } from "../../store/results/pump.ts";
import type { Spool } from "../../store/results/spool.ts";
import type { SetAside } from "../../store/set-aside.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ShardLease } from "../../store/sql/coordination/shards-port.ts";
import type { Broadcasts } from "../../store/state/broadcasts.ts";
import type { CheckServerOptions } from "../../store/state/checks.ts";
import type { Notices, RowFeed } from "../../store/state/state.ts";
import { type Clocks, createPlanClock, type PlanClock } from "../clock.ts";
import type { CheckContext } from "../judge/check-context.ts";
import type { CheckDelays } from "../judge/check-delays.ts";
import type { OpenSuspects } from "../judge/hold.ts";
import { HeartbeatInbox } from "../judge/inbox.ts";
import { CheckPipeline } from "../judge/pipeline.ts";
import type { Arrival } from "../judge/plan-changes.ts";
import type { MonitorStates } from "../judge/states.ts";
import { TestJobs } from "../judge/test-jobs.ts";
import { type OneAtATime, oneAtATime } from "../one-at-a-time.ts";
import type { ReadInput } from "../plan/check-inputs.ts";
import { CheckSpecs } from "../plan/check-specs.ts";
import { Plan, type PlanChange } from "../plan/plan.ts";
import type { PlannedCheck, Run } from "../plan/planned-check.ts";
import type { ProberSet } from "../run/dispatch.ts";
import { OneOffChecks } from "../run/one-off.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { JudgedRow } from "../sink/judged-outcome.ts";
import { LivePublisher } from "../sink/live-publisher.ts";
import { RowPublisher } from "../sink/row-publisher.ts";
import { Sink } from "../sink/sink.ts";
import type { Tenure } from "../tenure.ts";
import { CommitWatch } from "./commit-watch.ts";
import { Follower } from "./follow.ts";
import { Watchdog } from "./watchdog.ts";

/** How often the wheel is advanced at most, ms: the resolution of lateness. */
const TICK_MS = 5;
/**
 * The same after a turn with few due checks. Each turn wakes this thread and a prober's up: with 5 ms, 1,000 checks a second take a tenth more processor time
 * (docs/develop/cost.md).
 */
const CALM_TICK_MS = 10;
/** More are many: they begin one after the other, and twice as many would begin later. Our choice: 1,600 a second make so many in 10 ms. */
const FEW_DUE = 16;
/** How long it is not advanced while checks are held back, ms: what waits for its lease or the disk begins that late at most. */
const BUSY_TICK_MS = 25;
/** The same while none is. What is made due sooner, and what a check says, wakes the loop up. */
const IDLE_TICK_MS = 1_000;
/** How often the control plane is asked for changes, in case a notice was lost; docs/decisions/0006-stores.md. */
const FOLLOW_MS = 1_000;
const WATCHDOG_MS = 5_000;
/** How long checks of shards that are given back may run on, ms; what has not ended by then is run by their next holder. */
const GIVE_BACK_MS = 3_000;

export interface LoopOptions {
  readonly ownedShards: OwnedShards;
  /** A write was refused because another scheduler holds these. */
  readonly onLost: (leases: readonly ShardLease[]) => void;
  /** The database lacks changes that it had. */
  readonly onSetBack: () => void;
  readonly controlPlane: ControlPlane;
  readonly states: MonitorStates;
  readonly spool: Spool;
  readonly pump: Pick<Pump, "wake">;
  /** Keeps rows that a store refuses for their values. */
  readonly setAside: Pick<SetAside, "add" | "has">;
  readonly notices: Notices & { readonly rows: RowFeed };
  readonly broadcasts: Pick<Broadcasts, "isHeard" | "publish">;
  readonly probers: ProberSet;
  readonly clocks: Clocks;
  /** Checks in flight at the same time. */
  readonly caps: Caps;
  /** While it lasts checks begin. */
  readonly tenure: Pick<Tenure, "mayBegin">;
  /** Reads the input of a monitor's check. */
  readonly readInput: ReadInput;
  /** Whether a checker runs there. */
  readonly hasChecker: (location: string) => boolean;
  /** How our own network is watched, and the locations that are measured over it; null: this process measures nothing itself. */
  readonly ownNetwork: {
    readonly engine: EngineOptions;
    readonly canaries: readonly Canary[];
    readonly locations: readonly string[];
  } | null;
  readonly log: Logger;
  /** Counts how late checks begin, less what a cap held them back. */
  readonly delays: CheckDelays;
  /** Every final outcome, for metrics. */
  readonly onOutcome: (context: CheckContext, outcome: CheckOutcome) => void;
}

export interface LoopState {
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly skippedTurns: number;
  readonly secondLooks: number;
  readonly silentMonitors: number;
  /** Outcomes that are judged and that SQL does not know of yet. */
  readonly backlogRows: number;
  /** Outcomes that SQL knows of and that no disk has yet. */
  readonly lateRows: number;
  /** Late ones that were dropped because too many waited. */
  readonly lostRows: number;
  /** Outcomes of shards that another scheduler took before they were written. */
  readonly refusedRows: number;
  readonly trouble: string | null;
  /** Our own network counts as cut: failures become `unfit`. */
  readonly isCut: boolean;
}

export class Loop {
  readonly #options: LoopOptions;
  readonly #clock: PlanClock;
  readonly #plan: Plan;
  readonly #sink: Sink;
  readonly #pipeline: CheckPipeline;
  readonly #admission: Admission<Run>;
  readonly #limits = new ConcurrencyLimits<Run>();
  readonly #testJobs: TestJobs;
  readonly #inbox: HeartbeatInbox;
  readonly #follower: Follower;
  readonly #watchdog: Watchdog;
  readonly #oneOffChecks: OneOffChecks;
  #stopTimers: () => Promise<void> = async () => undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#clock = createPlanClock(options.clocks);
    const { nowMs } = this.#clock;
    this.#admission = new Admission<Run>(options.caps.overall);
    const specs = new CheckSpecs(this.#limits, options.caps, options.readInput);
    this.#plan = new Plan(specs, options.hasChecker);
    this.#sink = openSink(options, this.#admission);
    this.#pipeline = new CheckPipeline({
      ...options,
      plan: this.#plan,
      specs,
      sink: this.#sink,
      admission: this.#admission,
      mayBegin: () => options.tenure.mayBegin,
      openSuspects: suspectsOf(options, nowMs),
      nowMs,
    });
    const parts = { ...options, plan: this.#plan, pipeline: this.#pipeline, sink: this.#sink, nowMs };
    this.#testJobs = new TestJobs(parts);
    this.#inbox = new HeartbeatInbox(parts);
    this.#follower = new Follower({
      ...parts,
      breathe: () => setImmediate(),
      apply: (change, arrival, lastCallAtMs) => this.#apply(change, arrival, lastCallAtMs),
    });
    this.#watchdog = new Watchdog(options.log);
    const { onDemandRuns } = this.#pipeline;
    this.#oneOffChecks = new OneOffChecks({ onDemandRuns, flush: () => this.#pipeline.flush(), after });
  }

  /**
   * Resolves when the plan is made and the first due times are set.
   * @param owned shards that this process holds from the start
   * @param replay called when their data is loaded and nothing is planned yet
   */
  async start(owned: readonly ShardLease[], replay: () => Promise<void>): Promise<void> {
    await this.load(owned, replay);
    this.#stopTimers = this.#startTimers();
  }

  /** Takes outcomes of runs. */
  take(outcomes: readonly CheckOutcome[]): void {
    this.#pipeline.take(outcomes);
  }

  /** These runs are over; take() gets their outcomes when their checker knows whether its own network had failed. */
  takePending(outcomes: readonly CheckOutcome[]): void {
    this.#pipeline.takePending(outcomes);
  }

  /** Checkers came or went: the answer of hasChecker() has changed for some location. */
  reconsider(): void {
    this.#follower.reconsider();
    this.#pipeline.flush();
  }

  /** Runs a config that is not stored. */
  readonly check: CheckServerOptions["take"] = (check, checkClass) => this.#oneOffChecks.run(check, checkClass);

  /** Starts work on shards that were taken. */
  async load(leases: readonly ShardLease[], replay?: () => Promise<void>): Promise<void> {
    await this.#follower.load(leases, replay);
    this.#pipeline.flush();
  }

  /** Ends work on them: running checks end and are written, then the shards are dropped. */
  async giveBack(leases: readonly ShardLease[]): Promise<void> {
    const { clocks, ownedShards } = this.#options;
    const shards = new Set(leases.map(({ shard }) => shard));
    for (const shard of shards) ownedShards.retire(shard);
    const leaving: PlannedCheck[] = [];
    for (const planned of this.#plan.all()) {
      if (shards.has(ownedShards.shardOf(planned.monitor.id))) leaving.push(planned);
    }
    for (const planned of leaving) this.#pipeline.changes.retire(planned);
    await until(() => leaving.every(({ run }) => run === null), clocks, GIVE_BACK_MS);
    for (const shard of shards) await this.#sink.flush(shard);
    for (const { shard, epoch } of leases) if (ownedShards.lease(shard)?.epoch === epoch) ownedShards.drop(shard);
    this.#forgetLost();
  }

  /** Drops them with all that is under way: another scheduler holds them. */
  lose(leases: readonly ShardLease[]): void {
    for (const { shard } of leases) this.#options.ownedShards.drop(shard);
    this.#forgetLost();
  }

  state(): LoopState {
    const { backlogRows, lateRows, lostRows, refusedRows, trouble } = this.#sink;
    const { running, waiting, secondLooks, isCut, dueTimes } = this.#pipeline;
    return {
      monitors: this.#plan.monitorCount,
      running,
      waiting,
      skippedTurns: dueTimes.skipped,
      secondLooks,
      silentMonitors: this.#watchdog.silent,
      backlogRows,
      lateRows,
      lostRows,
      refusedRows,
      trouble,
      isCut,
    };
  }

  /** Starts nothing more, waits for running checks up to a bound, and writes everything. */
  async drain(longestMs: number): Promise<void> {
    await this.#stopTimers();
    const { ownedShards } = this.#options;
    // What a stop cancels is due again after the next start, or with the next holder.
    for (const { shard } of ownedShards.leases()) ownedShards.retire(shard);
    this.#admission.hold(true);
    await until(() => this.#pipeline.running + this.#pipeline.pending === 0, this.#options.clocks, longestMs);
    this.#pipeline.releaseSuspects();
    await this.#sink.flush();
  }

  /** Asks no canary any more. */
  close(): void {
    this.#pipeline.close();
  }

  #apply(change: PlanChange, arrival: Arrival, lastCallAtMs: number | null): void {
    this.#pipeline.changes.apply(change, arrival, lastCallAtMs);
    if (change.type === "respecified" || change.type === "removed") this.#testJobs.refresh(change.planned.monitor.id);
  }

  /** Drops everything of shards that are not held (any more): due times, waiting and running checks, states, unwritten rows. */
  #forgetLost(): void {
    const { ownedShards, states } = this.#options;
    this.#follower.drop();
    this.#testJobs.forget();
    this.#inbox.forget();
    states.forgetAll((monitorId) => ownedShards.leaseOf(monitorId) === undefined);
    this.#sink.drop();
    this.#pipeline.flush();
  }

  /** @returns a function that stops them, and waits for what is under way */
  #startTimers(): () => Promise<void> {
    const { clocks, controlPlane, log, notices } = this.#options;
    const commits = new CommitWatch(() => controlPlane.stamp(), clocks.monotonicNowMs);
    const tryingAgain = (work: () => Promise<void>, what: string): OneAtATime =>
      oneAtATime(work, (error) => {
        commits.forget();
        log.error({ err: error }, `${what} failed and is tried again`);
      });
    const following = tryingAgain(
      () => this.#follower.follow().then(() => this.#pipeline.flush()),
      "following the control plane",
    );
    const draining = tryingAgain(() => this.#inbox.look(), "reading heartbeats");
    const testing = tryingAgain(() => this.#testJobs.look().then(() => this.#pipeline.flush()), "looking for tests");
    const works = [following, draining, testing];
    const unsubscribe = [
      notices.subscribe("monitors", following.request),
      notices.subscribe("heartbeats", draining.request),
      notices.subscribe("jobs", testing.request),
    ];
    const stops = [
      ...unsubscribe,
      onTicks(FOLLOW_MS, () => this.#checkClock()),
      onTicks(FOLLOW_MS, () => {
        // The time of an open test may pass.
        if (commits.hasNews() || this.#testJobs.areOpen) for (const work of works) work.request();
      }),
      onTicks(WATCHDOG_MS, () => this.#watch()),
    ];
    draining.request();
    testing.request();
    const stopTurns = this.#startTurns();
    return async () => {
      stopTurns();
      for (const stop of stops.splice(0)) stop();
      await Promise.all(works.map((work) => work.stop()));
    };
  }

  /** Advances the wheel when something is due, and a little more often than that. @returns a function that stops it */
  #startTurns(): () => void {
    const { clocks } = this.#options;
    const pipeline = this.#pipeline;
    let startedAtMs = Number.NEGATIVE_INFINITY;
    let tickMs = TICK_MS;
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      const longestMs = pipeline.heldBack > 0 ? BUSY_TICK_MS : IDLE_TICK_MS;
      const untilDueMs = Math.min(pipeline.dueTimes.nextMs() - this.#clock.nowMs(), longestMs);
      const tookMs = clocks.monotonicNowMs() - startedAtMs;
      timer = setTimeout(turn, Math.ceil(Math.max(untilDueMs, tickMs - tookMs, 1)));
    };
    const turn = (): void => {
      startedAtMs = clocks.monotonicNowMs();
      tickMs = pipeline.advance() > FEW_DUE ? TICK_MS : CALM_TICK_MS;
      wait();
    };
    pipeline.dueTimes.onSooner(wait);
    wait();
    return () => {
      pipeline.dueTimes.onSooner(() => {});
      clearTimeout(timer);
    };
  }

  #checkClock(): void {
    const movedMs = this.#clock.check();
    if (movedMs === 0) return;
    this.#options.log.warn(
      { movedMs: Math.round(movedMs) },
      "the wall clock was set: every check goes to its phase anew",
    );
    this.#pipeline.dueTimes.restart(this.#plan.all(), this.#clock.nowMs());
  }

  /** Looks for silent monitors, and forgets limits that nothing uses. */
  #watch(): void {
    this.#watchdog.look(this.#plan.all(), this.#clock.nowMs());
    const inUse = new Set<ConcurrencyLimit<Run>>();
    for (const planned of this.#plan.all()) for (const limit of planned.limits) inUse.add(limit);
    this.#limits.sweep(inUse);
  }
}

function openSink(options: LoopOptions, admission: Admission<Run>): Sink {
  const { broadcasts, controlPlane, log, notices, onLost, ownedShards, pump, setAside, spool, states } = options;
  const live = new LivePublisher(broadcasts, (monitorId) => states.monitor(monitorId)?.projectId);
  const publisher = new RowPublisher({ feed: notices.rows, name: spool.name, monitor: (id) => states.monitor(id) });
  const events = {
    onSpooled: (items: readonly JudgedRow[]) => publisher.publish(items),
    onRefused: (monitorId: number) => publisher.refuse(monitorId),
    onApplied: (appliedSeq: number) => pump.wake(appliedSeq),
    onWritten: (items: readonly JudgedRow[], moved: readonly LiveState[]) => live.written(items, moved),
    onTestsEnded: () => notices.publish("jobs"),
    onLost,
    onHold: (isHeld: boolean) => admission.hold(isHeld),
  };
  return new Sink({ spool, store: controlPlane.sink, setAside, ownedShards, states, events, log });
}

function suspectsOf({ ownNetwork, log }: LoopOptions, nowMs: () => number): OpenSuspects {
  if (ownNetwork === null) return () => null;
  const { locations, ...network } = ownNetwork;
  return (deliver) => ({ locations, suspects: new OwnNetwork<Run>({ ...network, nowMs, log, deliver }) });
}

async function until(isSo: () => boolean, clocks: Clocks, longestMs: number): Promise<void> {
  const endAtMs = clocks.monotonicNowMs() + longestMs;
  while (!isSo() && clocks.monotonicNowMs() < endAtMs) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}
