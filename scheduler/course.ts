/**
 * Course: the way of every turn of one shard. Due ─▶ dispatch ─▶ trust in our own network ─▶ ledger ─▶ sink, and when the next turn comes.
 */
import type { Logger } from "pino";
import { NetworkTrust } from "../engine/network-trust.ts";
import type { CheckOutcome } from "../model/result.ts";
import { heartbeatDeadlineMs } from "../model/schedule.ts";
import { createDispatch, type Dispatch, type ProberSet } from "./dispatch.ts";
import type { Entry, Errand } from "./entry.ts";
import { createErrands, type Errands } from "./errands.ts";
import { missedOutcome } from "./heartbeats.ts";
import type { JudgedItem, Ledger, Taken } from "./ledger.ts";
import type { EntryChange, Plan } from "./plan.ts";
import type { Sink } from "./sink.ts";
import { createTurns, type Turns } from "./turns.ts";

export interface CourseOptions {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly sink: Sink;
  readonly probers: ProberSet;
  readonly overallLimit: number;
  readonly nowMs: () => number;
  readonly log: Logger;
  /** Every final outcome, for metrics. */
  readonly onOutcome: (taken: Taken, outcome: CheckOutcome) => void;
  /** A recently healthy target has failed: the canaries should be asked now. */
  readonly onSuspicion: () => void;
}

export interface Course {
  readonly dispatch: Dispatch;
  readonly trust: NetworkTrust<Entry>;
  readonly turns: Turns;
  readonly errands: Errands;
  /** A change of the plan takes effect at once. */
  apply(change: EntryChange, isStart: boolean, lastCallAtMs: number | null): void;
  /** Judges an outcome and hands it to the sink. */
  record(taken: Taken, outcome: CheckOutcome): JudgedItem;
  /** A test of the entry's monitor was judged: a turn may follow sooner. */
  tested(own: Entry, judged: JudgedItem): void;
  /** Names outcomes that no prober measured. */
  nextCheckId(): number;
}

export function createCourse(options: CourseOptions): Course {
  const { plan, ledger, sink, nowMs, log } = options;
  const readyAtMs = nowMs();
  /** Unique across restarts as long as we start fewer than a million checks a second. */
  let lastCheckId = Math.floor(readyAtMs) * 1_000;
  /** Errands whose outcome is with trust, by its check. */
  const returning = new Map<number, Errand>();

  const dispatch = createDispatch({
    probers: options.probers,
    overallLimit: options.overallLimit,
    nowMs,
    nextCheckId,
    wasHealthy: (entry) => ledger.wasHealthy(entry.monitor.id, entry.location),
    onOutcome(entry, outcome, attempt) {
      const { host, id } = entry.monitor;
      const { errand } = entry;
      if (errand !== null) returning.set(outcome.checkId, errand);
      trust.take(
        { target: errand?.inOrderOf ?? entry, attempt, host, wasHealthy: ledger.wasHealthy(id, entry.location) },
        outcome,
      );
    },
    // It measured what the monitor was before: what it is now is checked at once.
    onObsolete: (entry) => turns.set(entry, nowMs()),
  });
  const trust = new NetworkTrust<Entry>({
    nowMs,
    onSuspicion: options.onSuspicion,
    onCut: (isCut) =>
      log.warn(
        { isCut },
        isCut ? "our own network seems to be cut: failures are unfit" : "our own network works again",
      ),
    deliver(entry, outcome, attempt) {
      const errand = returning.get(outcome.checkId);
      if (errand !== undefined) {
        returning.delete(outcome.checkId);
        errand.end(outcome, attempt);
        return;
      }
      // Removed while its failure was held back.
      if (entry.state !== "gone") conclude(entry, outcome, attempt);
    },
  });
  const errands = createErrands({ plan, dispatch, nowMs });
  const turns = createTurns({ nowMs: readyAtMs, entry: plan.entry, begin: dispatch.begin, missed: missDeadline });

  /** A turn has its outcome; the next one may come sooner than the phase says. */
  function conclude(entry: Entry, outcome: CheckOutcome, attempt: number): void {
    tested(entry, record({ monitor: entry.monitor, location: entry.location, attempt, inboxId: null }, outcome));
  }

  function tested(entry: Entry, judged: JudgedItem): void {
    entry.lastSignAtMs = nowMs();
    turns.hasten(entry, entry.lastSignAtMs + judged.nextWithinMs);
  }

  function missDeadline(entry: Entry, deadlineAtMs: number): void {
    const outcome = missedOutcome(entry.monitor, deadlineAtMs, nowMs(), nextCheckId());
    record({ monitor: entry.monitor, location: entry.location, attempt: 1, inboxId: null }, outcome);
    entry.lastSignAtMs = nowMs();
    turns.set(entry, nowMs() + entry.intervalMs);
  }

  function record(taken: Taken, outcome: CheckOutcome): JudgedItem {
    options.onOutcome(taken, outcome);
    const judged = ledger.judge(taken, outcome);
    sink.add(judged);
    return judged;
  }

  function nextCheckId(): number {
    lastCheckId += 1;
    return lastCheckId;
  }

  function apply(change: EntryChange, isStart: boolean, lastCallAtMs: number | null): void {
    const { entry, type } = change;
    if (change.obsoleteSpecKey !== null) dispatch.forget(change.obsoleteSpecKey);
    if (type === "removed") {
      turns.clear(entry);
      dispatch.abandon(entry);
      return;
    }
    if (type === "added" || type === "respecified") {
      dispatch.define(entry);
      errands.adopt(entry);
    }
    if (type === "kept") return;
    if (entry.spec === null)
      turns.set(entry, deadlineOf(entry, isStart ? entry.monitor.createdAtMs : nowMs(), lastCallAtMs));
    else if (type === "rescheduled" || (isStart && ledger.wasChecked(entry.monitor.id))) turns.settle(entry, nowMs());
    else turns.set(entry, nowMs());
  }

  function deadlineOf({ monitor }: Entry, activeSinceMs: number, lastCallAtMs: number | null): number {
    const periodS = monitor.intervalS;
    return heartbeatDeadlineMs({
      periodS,
      graceS: monitor.graceS ?? 0,
      lastCallAtMs,
      activeSinceMs,
      readyAtMs,
      heardUntilMs: null,
    });
  }

  return { dispatch, trust, turns, errands, apply, record, tested, nextCheckId };
}
