/**
 * Loop: the scheduler of one shard at work. It follows the control plane, turns the wheel, hands checks out, takes outcomes back, and
 * keeps everything that waits within bounds. The system's timers are used here and nowhere deeper.
 */
import type { Logger } from "pino";
import type { CanaryReport } from "../engine/network-fitness.ts";
import { NetworkTrust } from "../engine/network-trust.ts";
import { isActive } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";
import { heartbeatDeadlineMs } from "../model/schedule.ts";
import type { Pump } from "../store/results/pump.ts";
import type { Spool } from "../store/results/spool.ts";
import type { ControlPlane, InboxRow } from "../store/sql/control-plane.ts";
import type { Notices } from "../store/state/state.ts";
import { type Clocks, createPlanClock } from "./clock.ts";
import { createDispatch, type ProberSet } from "./dispatch.ts";
import type { Entry } from "./entry.ts";
import { createGateBook } from "./gates.ts";
import { callOutcome, missedOutcome, patienceMs } from "./heartbeats.ts";
import { HEARTBEAT_LOCATION, type JudgedItem, type Ledger } from "./ledger.ts";
import { createPlan, type EntryChange, HOST_LIMIT } from "./plan.ts";
import { createSink } from "./sink.ts";
import { createTurns } from "./turns.ts";
import { silentEntries } from "./watchdog.ts";

/** How often the wheel is turned, ms: the resolution of lateness. */
const TICK_MS = 5;
/** How often the control plane is asked what changed, should a notice have been lost; design 5. */
const FOLLOW_MS = 1_000;
const INBOX_ROWS = 1_000;
const WATCHDOG_MS = 5_000;
/** Checks in flight in this process; our choice: descriptors and memory for thousands of silent targets. */
const OVERALL_LIMIT = 4_096;

export interface LoopOptions {
  readonly shard: number;
  readonly controlPlane: ControlPlane;
  readonly ledger: Ledger;
  readonly spool: Spool;
  readonly pump: Pump;
  readonly notices: Notices;
  readonly probers: ProberSet;
  readonly clocks: Clocks;
  readonly log: Logger;
  /** Every final outcome, for metrics. */
  readonly onOutcome: (entry: Entry, outcome: CheckOutcome) => void;
  /** A recently healthy target has failed: the canaries should be asked now. */
  readonly onSuspicion: () => void;
}

export interface LoopState {
  readonly isNetworkCut: boolean;
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly skippedTurns: number;
  readonly secondLooks: number;
  readonly silentMonitors: number;
  readonly backlogRows: number;
  readonly trouble: string | null;
  /** Our own network is taken to be cut: failures become `unfit`. */
  readonly isCut: boolean;
}

export interface Loop {
  take(outcomes: readonly CheckOutcome[]): void;
  canary(report: CanaryReport): void;
  state(): LoopState;
  /** Starts nothing more, waits for what runs up to a bound, and writes everything down. */
  drain(longestMs: number): Promise<void>;
}

/** Resolves when the plan is made and the first turns are set. */
export async function startLoop(options: LoopOptions): Promise<Loop> {
  const { controlPlane, ledger, log, notices, shard, spool } = options;
  const clock = createPlanClock(options.clocks);
  const readyAtMs = clock.nowMs();
  const plan = createPlan(createGateBook(), { perHost: HOST_LIMIT, perWorkspace: Math.floor(OVERALL_LIMIT * 0.75) });
  const timers: NodeJS.Timeout[] = [];
  let lastHeartbeatCheckId = Math.floor(readyAtMs) * 1_000;
  let generation = -1;
  let silent = 0;
  let isDraining = false;

  const sink = createSink({
    shard,
    spool,
    store: controlPlane.sink,
    log,
    live: ledger.live,
    onApplied: (appliedSeq) => options.pump.wake(appliedSeq),
    onHold: (isHeld) => dispatch.hold(isHeld),
  });
  const dispatch = createDispatch({
    probers: options.probers,
    overallLimit: OVERALL_LIMIT,
    nowMs: clock.nowMs,
    wasHealthy: (entry) => ledger.wasHealthy(entry.monitor.id, entry.location),
    onOutcome: (entry, outcome, attempt) => trust.take(originOf(entry, attempt), outcome),
  });
  const trust = new NetworkTrust<Entry>({
    nowMs: clock.nowMs,
    onSuspicion: options.onSuspicion,
    onCut: (isCut) =>
      log.warn(
        { isCut },
        isCut ? "our own network seems to be cut: failures are unfit" : "our own network works again",
      ),
    deliver(entry, outcome, attempt) {
      // Removed while its failure was held back.
      if (entry.state !== "gone") conclude(entry, outcome, attempt);
    },
  });
  const turns = createTurns({ nowMs: readyAtMs, entry: plan.entry, begin: dispatch.begin, missed: missDeadline });

  function originOf(entry: Entry, attempt: number) {
    const { host, id } = entry.monitor;
    return { target: entry, attempt, host, wasHealthy: ledger.wasHealthy(id, entry.location) };
  }

  /** A turn has its outcome: it goes to the sink, and the next turn may come sooner than the phase says. */
  function conclude(entry: Entry, outcome: CheckOutcome, attempt: number): void {
    // Held back while it was removed.
    if (entry.state === "gone") return;
    const nowMs = clock.nowMs();
    const judged = record(entry, outcome, attempt, null);
    turns.hasten(entry, nowMs + judged.nextWithinMs);
  }

  function record(entry: Entry, outcome: CheckOutcome, attempt: number, inboxId: number | null): JudgedItem {
    entry.lastSignAtMs = clock.nowMs();
    options.onOutcome(entry, outcome);
    const judged = ledger.judge({ monitor: entry.monitor, location: entry.location, attempt, inboxId }, outcome);
    sink.add(judged);
    return judged;
  }

  function missDeadline(entry: Entry, deadlineAtMs: number): void {
    const nowMs = clock.nowMs();
    lastHeartbeatCheckId += 1;
    record(entry, missedOutcome(entry.monitor, deadlineAtMs, nowMs, lastHeartbeatCheckId), 1, null);
    turns.set(entry, nowMs + entry.intervalMs);
  }

  const inboxTaken = new Set<number>();

  /** Calls that the API has written down since the last look. */
  async function drainInbox(): Promise<void> {
    const calls = await controlPlane.heartbeats.inbox(INBOX_ROWS);
    const present = new Set(calls.map((call) => call.id));
    for (const id of inboxTaken) if (!present.has(id)) inboxTaken.delete(id);
    for (const call of calls) {
      if (inboxTaken.has(call.id)) continue;
      inboxTaken.add(call.id);
      await takeCall(call);
    }
  }

  async function takeCall(call: InboxRow): Promise<void> {
    lastHeartbeatCheckId += 1;
    const outcome = callOutcome(call, lastHeartbeatCheckId);
    const [entry] = plan.entriesOf(call.monitorId);
    if (entry !== undefined) {
      record(entry, outcome, 1, call.id);
      turns.set(entry, Math.max(clock.nowMs(), call.atMs + patienceMs(entry.monitor)));
      return;
    }
    // Paused between the call and now: what was answered `ok` is recorded all the same.
    const found = await controlPlane.monitors.recall(call.monitorId);
    if (found === undefined) return sink.discard(call.id);
    ledger.set(found.monitor, found.live);
    sink.add(
      ledger.judge({ monitor: found.monitor, location: HEARTBEAT_LOCATION, attempt: 1, inboxId: call.id }, outcome),
    );
  }

  function applyChange(change: EntryChange, isStart: boolean, lastCallAtMs: number | undefined): void {
    const { entry } = change;
    const nowMs = clock.nowMs();
    if (change.obsoleteSpecKey !== null) dispatch.forget(change.obsoleteSpecKey);
    if (change.type === "removed") {
      turns.clear(entry);
      dispatch.abandon(entry);
      return;
    }
    if (change.type === "added" || change.type === "respecified") dispatch.define(entry);
    if (change.type === "kept") return;
    if (entry.spec === null) {
      turns.set(entry, deadlineOf(entry, isStart ? entry.monitor.createdAtMs : nowMs, lastCallAtMs ?? null));
    } else if (change.type === "rescheduled" || (isStart && ledger.wasChecked(entry.monitor.id))) {
      turns.settle(entry, nowMs);
    } else {
      turns.set(entry, nowMs);
    }
  }

  function deadlineOf(entry: Entry, activeSinceMs: number, lastCallAtMs: number | null): number {
    const { intervalS: periodS, graceS } = entry.monitor;
    return heartbeatDeadlineMs({
      periodS,
      graceS: graceS ?? 0,
      lastCallAtMs,
      activeSinceMs,
      readyAtMs,
      heardUntilMs: null,
    });
  }

  async function follow(isStart: boolean): Promise<void> {
    if (!isStart && (await controlPlane.generation()) === generation) return;
    const changes = await controlPlane.monitors.changedSince(generation);
    const lastCalls = isStart ? await controlPlane.heartbeats.lastCalls() : undefined;
    generation = changes.generation;
    for (const { monitor, live } of changes.changed) {
      ledger.set(monitor, live);
      const applied = isActive(monitor) ? plan.set(monitor, clock.nowMs()) : plan.remove(monitor.id);
      for (const change of applied) applyChange(change, isStart, lastCalls?.get(monitor.id));
    }
    for (const id of changes.removedIds) {
      for (const change of plan.remove(id)) applyChange(change, isStart, undefined);
    }
    dispatch.flush();
  }

  function watch(): void {
    const found = silentEntries(plan.entries(), clock.nowMs());
    if (found.length > silent) {
      const sample = found.slice(0, 5).map((entry) => entry.monitor.id);
      log.warn({ silent: found.length, sample }, "monitors without a result for two intervals");
    }
    silent = found.length;
  }

  function tick(): void {
    turns.advance(clock.nowMs());
    dispatch.flush();
  }

  function checkClock(): void {
    const movedMs = clock.check();
    if (movedMs === 0) return;
    log.warn({ movedMs: Math.round(movedMs) }, "the wall clock was set: every check goes to its phase anew");
    turns.restart(plan.entries(), clock.nowMs());
  }

  /** One at a time; an error is logged and the next call tries again. */
  function guarded(what: string, work: () => Promise<void>): () => void {
    let current: Promise<void> | undefined;
    let isWanted = false;
    const run = (): void => {
      if (isDraining) return;
      if (current !== undefined) {
        isWanted = true;
        return;
      }
      current = work()
        .catch((error: unknown) => log.error({ err: error }, `${what} failed and is tried again`))
        .finally(() => {
          current = undefined;
          if (!isWanted) return;
          isWanted = false;
          run();
        });
    };
    return run;
  }

  await follow(true);
  const followSoon = guarded("following the control plane", () => follow(false));
  const drainSoon = guarded("reading heartbeats", drainInbox);
  const unsubscribe = [notices.subscribe("monitors", followSoon), notices.subscribe("heartbeats", drainSoon)];
  timers.push(
    setInterval(tick, TICK_MS),
    setInterval(checkClock, FOLLOW_MS),
    setInterval(followSoon, FOLLOW_MS),
    setInterval(drainSoon, FOLLOW_MS),
    setInterval(watch, WATCHDOG_MS),
  );
  drainSoon();

  return {
    take(outcomes) {
      // What a stop cut off says nothing: it is due again after the next start.
      dispatch.take(isDraining ? outcomes.filter((outcome) => outcome.verdict !== "cancelled") : outcomes);
      dispatch.flush();
    },
    canary: (report) => trust.canary(report),
    state: () => ({
      isNetworkCut: trust.isCut,
      monitors: plan.monitorCount,
      running: dispatch.running,
      waiting: dispatch.waiting,
      skippedTurns: turns.skipped,
      secondLooks: dispatch.secondLooks,
      silentMonitors: silent,
      backlogRows: sink.backlogRows,
      trouble: sink.trouble,
      isCut: trust.isCut,
    }),
    async drain(longestMs) {
      isDraining = true;
      for (const stop of unsubscribe) stop();
      for (const timer of timers) clearInterval(timer);
      dispatch.hold(true);
      const endAtMs = options.clocks.monotonicNowMs() + longestMs;
      while (dispatch.running > 0 && options.clocks.monotonicNowMs() < endAtMs) {
        await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      }
      trust.flush();
      await sink.flush();
    },
  };
}
