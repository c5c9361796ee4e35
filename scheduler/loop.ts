/**
 * The scheduler's loop, on the shards that this process holds. All shards share one wheel, one set of caps and one sink, so that a process
 * costs the same whatever it holds, and taking or losing a shard affects no other. The loop follows the control plane, advances the wheel,
 * sends checks, takes outcomes, and bounds every queue. The system's timers are used here and nowhere deeper.
 */
import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import type { CanaryReport } from "../engine/network-fitness.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { Pump } from "../store/results/pump.ts";
import type { Spool } from "../store/results/spool.ts";
import type { SetAside } from "../store/set-aside.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import type { Fence } from "../store/sql/ports/shards.ts";
import type { CheckServerOptions } from "../store/state/checks.ts";
import type { Notices } from "../store/state/state.ts";
import type { ReadInput } from "./check-inputs.ts";
import { type Clocks, createPlanClock, type PlanClock } from "./clock.ts";
import { type Course, createCourse } from "./course.ts";
import type { ProberSet } from "./dispatch.ts";
import type { Entry, Gate } from "./entry.ts";
import { createFollower, type Follower, type FollowOptions } from "./follow.ts";
import { createGateBook, type GateBook } from "./gates.ts";
import { FIRST_SHARD, type Holdings } from "./holdings.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import type { Ledger, Taken } from "./ledger.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { createPassingChecks } from "./passing-checks.ts";
import { createPlan, HOST_LIMIT, type Plan } from "./plan.ts";
import { createSink, type Sink } from "./sink.ts";
import { createTestJobs, type TestJobs } from "./test-jobs.ts";
import { silentEntries } from "./watchdog.ts";

/** How often the wheel is advanced, ms: the resolution of lateness. */
const TICK_MS = 5;
/** How often the control plane is asked for changes, in case a notice was lost; docs/decisions/0006-stores.md. */
const FOLLOW_MS = 1_000;
const WATCHDOG_MS = 5_000;
/** Checks in flight in this process; our choice: descriptors and memory for thousands of silent targets. */
const OVERALL_LIMIT = 4_096;
/** Checks in flight of one workspace; the rest stays free for others when all its targets hang. */
const WORKSPACE_LIMIT = OVERALL_LIMIT * 0.75;

/** How long checks of shards that are given back may run on, ms; what has not ended by then is run by their next holder. */
const GIVE_BACK_MS = 3_000;

export interface LoopOptions {
  readonly holdings: Holdings;
  /** Shards that are held from the start. */
  readonly own: readonly Fence[];
  /** Called when their data is loaded and nothing is planned yet. */
  readonly replay: () => Promise<void>;
  /** A write was refused because another scheduler holds these. */
  readonly onLost: (fences: readonly Fence[]) => void;
  readonly controlPlane: ControlPlane;
  readonly ledger: Ledger;
  readonly spool: Spool;
  readonly pump: Pump;
  /** Keeps rows that a store refuses for their values. */
  readonly setAside: Pick<SetAside, "add">;
  readonly notices: Notices;
  readonly probers: ProberSet;
  readonly clocks: Clocks;
  /** Reads the input of a monitor's check. */
  readonly readInput: ReadInput;
  /** Whether a checker runs there. */
  readonly hasChecker: (location: string) => boolean;
  /** The process that measured an outcome has judged it. */
  readonly areJudged: boolean;
  readonly log: Logger;
  /** Every final outcome, for metrics. */
  readonly onOutcome: (taken: Taken, outcome: CheckOutcome) => void;
  /** A recently healthy target has failed: the canaries should be asked now. */
  readonly onSuspicion: () => void;
}

export interface LoopState {
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly skippedTurns: number;
  readonly secondLooks: number;
  readonly silentMonitors: number;
  readonly backlogRows: number;
  /** Outcomes of shards that another scheduler took before they were written. */
  readonly refusedRows: number;
  readonly trouble: string | null;
  /** Our own network counts as cut: failures become `unfit`. */
  readonly isCut: boolean;
}

export interface Loop {
  take(outcomes: readonly CheckOutcome[]): void;
  /** These runs are over; take() gets their outcomes when their checker knows whether its own network had failed. */
  withhold(outcomes: readonly CheckOutcome[]): void;
  canary(report: CanaryReport): void;
  /** Checkers came or went: the answer of hasChecker() has changed for some location. */
  reconsider(): void;
  /** Starts work on shards that were taken. */
  load(fences: readonly Fence[]): Promise<void>;
  /** Ends work on them: running checks end and are written, then the shards are dropped. */
  giveBack(fences: readonly Fence[]): Promise<void>;
  /** Drops them with all that is under way: another scheduler holds them. */
  lose(fences: readonly Fence[]): void;
  state(): LoopState;
  /** Runs a config that is not stored. */
  readonly check: CheckServerOptions["take"];
  /** Starts nothing more, waits for running checks up to a bound, and writes everything. */
  drain(longestMs: number): Promise<void>;
}

/** What the parts below share. */
interface Works {
  readonly options: LoopOptions;
  readonly clock: PlanClock;
  readonly gates: GateBook;
  readonly plan: Plan;
  readonly sink: Sink;
  readonly course: Course;
  readonly testJobs: TestJobs;
  readonly inbox: Inbox;
}

/** Resolves when the plan is made and the first turns are set. */
export async function startLoop(options: LoopOptions): Promise<Loop> {
  const works = assemble(options);
  const { clock, course, plan, sink, testJobs } = works;
  const { holdings } = options;
  const watchdog = createWatchdog(works);
  const apply: FollowOptions["apply"] = (change, arrival, lastCallAtMs) => {
    course.apply(change, arrival, lastCallAtMs);
    if (change.type === "respecified" || change.type === "removed") testJobs.refresh(change.entry.monitor.id);
  };
  const breathe = (): Promise<void> => setImmediate();
  const follower = createFollower({ ...options, plan, nowMs: clock.nowMs, breathe, apply, onMoved: sink.touch });
  await follower.load(options.own, options.replay);
  course.dispatch.flush();
  const stopTimers = startTimers(works, () => follower.follow().then(course.dispatch.flush), watchdog.look);
  let isDraining = false;

  return {
    take(outcomes) {
      // A check that a stop cancelled has no result: it is due again after the next start.
      course.take(isDraining ? outcomes.filter(({ verdict }) => verdict !== "cancelled") : outcomes);
      course.dispatch.flush();
    },
    withhold(outcomes) {
      course.dispatch.take(outcomes, true);
      course.dispatch.flush();
    },
    canary: (report) => course.trust.canary(report),
    reconsider() {
      follower.reconsider();
      course.dispatch.flush();
    },
    check: createPassingChecks({ errands: course.errands, flush: course.dispatch.flush, after }),
    async load(fences) {
      await follower.load(fences);
      course.dispatch.flush();
    },
    giveBack: (fences) => giveBack(works, follower, fences),
    lose(fences) {
      for (const { shard } of fences) holdings.drop(shard);
      forgetLost(works, follower);
    },
    state: () => ({
      monitors: plan.monitorCount,
      running: course.dispatch.running,
      waiting: course.dispatch.waiting,
      skippedTurns: course.turns.skipped,
      secondLooks: course.dispatch.secondLooks,
      silentMonitors: watchdog.silent(),
      backlogRows: sink.backlogRows,
      refusedRows: sink.refusedRows,
      trouble: sink.trouble,
      isCut: course.trust.isCut,
    }),
    async drain(longestMs) {
      isDraining = true;
      await stopTimers();
      course.dispatch.hold(true);
      await until(() => course.dispatch.running + course.withheld === 0, options.clocks, longestMs);
      course.trust.flush();
      await sink.flush();
    },
  };
}

/** Drops everything of shards that are not held (any more): turns, waiting and running checks, states, unwritten rows. */
function forgetLost({ options, course, inbox, sink, testJobs }: Works, follower: Follower): void {
  follower.drop();
  testJobs.forget();
  inbox.forget();
  options.ledger.forgetAll((monitorId) => options.holdings.fenceOf(monitorId) === undefined);
  sink.drop();
  course.dispatch.flush();
}

async function giveBack(works: Works, follower: Follower, fences: readonly Fence[]): Promise<void> {
  const { options, course, plan, sink } = works;
  const { clocks, holdings } = options;
  const shards = new Set(fences.map(({ shard }) => shard));
  for (const shard of shards) holdings.retire(shard);
  const leaving: Entry[] = [];
  for (const entry of plan.entries()) if (shards.has(holdings.shardOf(entry.monitor.id))) leaving.push(entry);
  for (const entry of leaving) course.retire(entry);
  await until(() => leaving.every(({ state }) => state !== "running"), clocks, GIVE_BACK_MS);
  for (const shard of shards) await sink.flush(shard);
  for (const { shard, epoch } of fences) if (holdings.fence(shard)?.epoch === epoch) holdings.drop(shard);
  forgetLost(works, follower);
}

function assemble(options: LoopOptions): Works {
  const { controlPlane, holdings, ledger, log, probers, spool } = options;
  const clock = createPlanClock(options.clocks);
  const gates = createGateBook();
  const { hasChecker, readInput, onOutcome, onSuspicion } = options;
  const limits = { perHost: HOST_LIMIT, perWorkspace: WORKSPACE_LIMIT };
  const plan = createPlan(gates, limits, { read: readInput, hasChecker });
  const sink = createSink({
    spool,
    store: controlPlane.sink,
    log,
    setAside: options.setAside,
    onSetAside: ledger.heal,
    live: ledger.live,
    fenceOf: holdings.fenceOf,
    fence: holdings.fence,
    onLost: options.onLost,
    onApplied: (appliedSeq) => options.pump.wake(appliedSeq),
    onJobsEnded: () => options.notices.publish("jobs"),
    onHold: (isHeld) => course.dispatch.hold(isHeld),
  });
  const course = createCourse({
    plan,
    ledger,
    sink,
    probers,
    overallLimit: OVERALL_LIMIT,
    areJudged: options.areJudged,
    isActive: holdings.isActive,
    onSkipped: (entry, turns) => sink.skip(holdings.shardOf(entry.monitor.id), turns),
    nowMs: clock.nowMs,
    log,
    onOutcome,
    onSuspicion,
  });
  const testJobs = createTestJobs({
    controlPlane,
    errands: course.errands,
    nowMs: clock.nowMs,
    part: holdings.part,
    fenceOf: holdings.fenceOf,
    isPruner: () => holdings.fence(FIRST_SHARD) !== undefined,
    remember: ({ monitor, live }) => ledger.set(monitor, live),
    record: course.record,
    onTested: course.tested,
    onEnded: () => options.notices.publish("jobs"),
  });
  const inbox = createInbox({
    controlPlane,
    nowMs: clock.nowMs,
    part: holdings.part,
    isOurs: holdings.isActive,
    entryOf: (monitorId) => plan.entriesOf(monitorId)[0],
    nextCheckId: course.nextCheckId,
    remember: ({ monitor, live }) => ledger.set(monitor, live),
    record: course.record,
    expect(entry, deadlineAtMs) {
      entry.lastSignAtMs = clock.nowMs();
      course.turns.set(entry, deadlineAtMs);
    },
    discard: sink.discard,
  });
  return { options, clock, gates, plan, sink, course, testJobs, inbox };
}

/** @returns a function that stops them, and waits for what is under way */
function startTimers(works: Works, follow: () => Promise<void>, watch: () => void): () => Promise<void> {
  const { options, course, inbox } = works;
  const { log, notices } = options;
  const following = oneAtATime(follow, (error) =>
    log.error({ err: error }, "following the control plane failed and is tried again"),
  );
  const draining = oneAtATime(inbox.look, (error) =>
    log.error({ err: error }, "reading heartbeats failed and is tried again"),
  );
  const testing = oneAtATime(
    () => works.testJobs.look().then(course.dispatch.flush),
    (error) => log.error({ err: error }, "looking for tests failed and is tried again"),
  );
  const unsubscribe = [
    notices.subscribe("monitors", following.request),
    notices.subscribe("heartbeats", draining.request),
    notices.subscribe("jobs", testing.request),
  ];
  const timers = [
    setInterval(() => tick(works), TICK_MS),
    setInterval(() => checkClock(works), FOLLOW_MS),
    setInterval(following.request, FOLLOW_MS),
    setInterval(draining.request, FOLLOW_MS),
    setInterval(testing.request, FOLLOW_MS),
    setInterval(watch, WATCHDOG_MS),
  ];
  draining.request();
  testing.request();
  return async () => {
    for (const stop of unsubscribe.splice(0)) stop();
    for (const timer of timers) clearInterval(timer);
    await Promise.all([following.stop(), draining.stop(), testing.stop()]);
  };
}

function after(delayMs: number, act: () => void): () => void {
  const timer = setTimeout(act, delayMs);
  return () => clearTimeout(timer);
}

function tick({ clock, course }: Works): void {
  course.turns.advance(clock.nowMs());
  course.dispatch.flush();
}

function checkClock({ clock, course, options, plan }: Works): void {
  const movedMs = clock.check();
  if (movedMs === 0) return;
  options.log.warn({ movedMs: Math.round(movedMs) }, "the wall clock was set: every check goes to its phase anew");
  course.turns.restart(plan.entries(), clock.nowMs());
}

/** Logs when more monitors are without a result than before; removes unused gates. */
function createWatchdog({ clock, gates, options, plan }: Works): { look(): void; silent(): number } {
  let silent = 0;
  return {
    look() {
      const found = silentEntries(plan.entries(), clock.nowMs());
      if (found.length > silent) {
        const sample = found.slice(0, 5).map((entry) => entry.monitor.id);
        options.log.warn({ silent: found.length, sample }, "monitors without a result for two intervals");
      }
      silent = found.length;
      const inUse = new Set<Gate>();
      for (const entry of plan.entries()) for (const gate of entry.gates) inUse.add(gate);
      gates.sweep(inUse);
    },
    silent: () => silent,
  };
}

async function until(isSo: () => boolean, clocks: Clocks, longestMs: number): Promise<void> {
  const endAtMs = clocks.monotonicNowMs() + longestMs;
  while (!isSo() && clocks.monotonicNowMs() < endAtMs) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}
