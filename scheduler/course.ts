/**
 * The pipeline of every turn of the shards that this process holds: due ─▶ dispatch ─▶ trust in our own network ─▶ ledger ─▶ sink. It also
 * sets the next turn.
 */
import type { Logger } from "pino";
import { NetworkTrust } from "../engine/network-trust.ts";
import type { CheckOutcome } from "../model/result.ts";
import { delayAfterS, heartbeatDeadlineMs } from "../model/schedule.ts";
import { createDispatch, type Dispatch, type ProberSet } from "./dispatch.ts";
import type { Entry, Errand } from "./entry.ts";
import { createErrands, type Errands } from "./errands.ts";
import { missedOutcome } from "./heartbeats.ts";
import type { JudgedItem, Ledger, Taken } from "./ledger.ts";
import type { EntryChange, Plan } from "./plan.ts";
import type { Sink } from "./sink.ts";
import { createTurns, type Turns } from "./turns.ts";
import { Withheld } from "./withheld.ts";

/**
 * If turns stopped longer ago than this, the last one is not made up for, ms: after a long silence all would run at once. A lease time, and as
 * much to spare.
 */
const CATCH_UP_MS = 60_000;

/**
 * Why an entry gets its first turn. loaded: this process took its shard · returned: its location has checkers again ·
 * changed: the monitor was made, resumed or changed
 */
export type Arrival = "loaded" | "returned" | "changed";

export interface CourseOptions {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly sink: Sink;
  readonly probers: ProberSet;
  readonly overallLimit: number;
  /** The process that measured an outcome has judged it: this process's own network says nothing about it. */
  readonly areJudged: boolean;
  /** Whether this process (still) takes the monitor's turns. */
  readonly isActive: (monitorId: number) => boolean;
  /** Turns that were not taken. */
  readonly onSkipped: (entry: Entry, turns: number) => void;
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
  /** Takes the outcomes of runs. */
  take(outcomes: readonly CheckOutcome[]): void;
  /** Turns that were run and whose outcome is not known, or waits behind an unknown one of the same monitor. */
  readonly withheld: number;
  /** A change of the plan takes effect at once. */
  apply(change: EntryChange, arrival: Arrival, lastCallAtMs: number | null): void;
  /** Its shard is about to be given back: a check that waits for a cap does not start here any more. */
  retire(entry: Entry): void;
  /** Judges an outcome and hands it to the sink. */
  record(taken: Taken, outcome: CheckOutcome): JudgedItem;
  /** A test of the entry's monitor was judged: a turn may follow sooner. */
  tested(own: Entry, judged: JudgedItem): void;
  /** Names outcomes that no prober measured. */
  nextCheckId(): number;
}

export function createCourse(options: CourseOptions): Course {
  const { plan, ledger, sink, nowMs, log } = options;
  /** Unique across restarts as long as we start fewer than a million checks a second. */
  let lastCheckId = Math.floor(nowMs()) * 1_000;
  /** Errands whose outcome is in the trust stage, by its check. */
  const returning = new Map<number, Errand>();

  const dispatch = createDispatch({
    probers: options.probers,
    overallLimit: options.overallLimit,
    nowMs,
    nextCheckId,
    wasHealthy: (entry) => ledger.wasHealthy(entry.monitor.id, entry.location),
    isConfirming,
    onUnrun: (entry) => turns.skip(entry, 1),
    onOutcome(entry, outcome, attempt, isWithheld) {
      withheld.add(entry.errand?.inOrderOf ?? entry, { entry, attempt }, outcome, isWithheld);
    },
    // The run measured the settings before the change: the new ones are checked at once.
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
  const withheld = new Withheld<Entry, { readonly entry: Entry; readonly attempt: number }>(
    ({ entry, attempt }, outcome) => {
      const { errand, location, monitor } = entry;
      // Its outcome never came.
      if (outcome.verdict === "cancelled" && errand === null) {
        if (entry.state !== "gone") turns.skip(entry, 1);
        return;
      }
      if (errand !== null) returning.set(outcome.checkId, errand);
      trust.take(
        {
          target: errand?.inOrderOf ?? entry,
          attempt,
          // Without a host it says nothing about our own network.
          host: options.areJudged ? null : monitor.host,
          wasHealthy: ledger.wasHealthy(monitor.id, location),
        },
        outcome,
      );
    },
  );
  const errands = createErrands({ plan, dispatch, nowMs });
  const turns = createTurns({
    nowMs: nowMs(),
    entry: plan.entry,
    // The shard's next holder counts or makes up for what is not begun here.
    begin: (entry, turnAtMs) => !options.isActive(entry.monitor.id) || dispatch.begin(entry, turnAtMs),
    onSkipped: options.onSkipped,
    missed: missDeadline,
  });

  /** Its last check failed, and the failure is not confirmed. */
  function isConfirming({ monitor, location }: Entry): boolean {
    const state = ledger.live(monitor.id)?.locations[location];
    return state !== undefined && state.notPassed > 0 && state.confirmed !== "down";
  }

  /** A turn has its outcome; the next one may come sooner than the phase says. */
  function conclude(entry: Entry, outcome: CheckOutcome, attempt: number): void {
    tested(entry, record({ monitor: entry.monitor, location: entry.location, attempt, inboxId: null }, outcome));
  }

  function tested(entry: Entry, judged: JudgedItem): void {
    entry.lastSignAtMs = nowMs();
    turns.hasten(entry, entry.lastSignAtMs + judged.nextWithinMs);
  }

  function missDeadline(entry: Entry, deadlineAtMs: number): void {
    if (!options.isActive(entry.monitor.id)) return;
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

  function take(outcomes: readonly CheckOutcome[]): void {
    dispatch.take(withheld.size === 0 ? outcomes : outcomes.filter((outcome) => !withheld.settle(outcome)));
  }

  function apply(change: EntryChange, arrival: Arrival, lastCallAtMs: number | null): void {
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
    if (entry.spec === null) turns.set(entry, deadlineOf(entry, arrival, lastCallAtMs));
    else if (type === "rescheduled") turns.settle(entry, nowMs());
    else if (arrival === "changed" || !ledger.wasChecked(entry.monitor.id)) turns.set(entry, nowMs());
    else resume(entry, arrival);
  }

  /** Continues where the shard's holder before ended, or where its location lost its last checker. */
  function resume(entry: Entry, arrival: Arrival): void {
    const { updatedAtMs } = entry.monitor;
    const state = ledger.live(entry.monitor.id)?.locations[entry.location];
    const lastAtMs = state?.lastCheckAtMs ?? null;
    const latestMs = arrival === "loaded" ? CATCH_UP_MS : 0;
    // Turns before a change, such as a resume, were not missed. If it was never checked, all turns since the change were.
    const sinceMs = lastAtMs === null ? updatedAtMs : Math.max(lastAtMs, updatedAtMs - entry.intervalMs);
    turns.resume(entry, sinceMs, nowMs(), latestMs);
    if (state === undefined || lastAtMs === null) return;
    if (state.status !== "pending") return;
    const delayMs = delayAfterS(state, "timeout", entry.monitor.intervalS) * 1_000;
    turns.hasten(entry, Math.max(nowMs(), lastAtMs + delayMs));
  }

  function deadlineOf({ monitor }: Entry, arrival: Arrival, lastCallAtMs: number | null): number {
    return heartbeatDeadlineMs({
      periodS: monitor.intervalS,
      graceS: monitor.graceS ?? 0,
      lastCallAtMs,
      activeSinceMs: arrival === "loaded" ? monitor.createdAtMs : nowMs(),
      readyAtMs: nowMs(),
      heardUntilMs: null,
    });
  }

  function retire(entry: Entry): void {
    turns.clear(entry);
    if (entry.state === "waiting") dispatch.abandon(entry);
  }

  return {
    dispatch,
    trust,
    turns,
    errands,
    take,
    get withheld() {
      return withheld.size;
    },
    apply,
    retire,
    record,
    tested,
    nextCheckId,
  };
}
