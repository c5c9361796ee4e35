/**
 * Dispatch: hands due checks to the probers under all caps and takes their outcomes back, one final outcome per turn.
 * A failure that high load can cause is run again, few at a time, before it counts (docs/decisions/0003-whose-fault.md).
 */
import type { CheckRun, CheckSpec, RunPlace } from "../engine/check.ts";
import { endedInCrowd } from "../engine/second-look.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { Entry } from "./entry.ts";
import { type Admission, createAdmission } from "./gates.ts";

/** What dispatch needs of engine/probers.ts. */
export interface ProberSet {
  define(specs: readonly CheckSpec[]): void;
  forget(specKeys: readonly number[]): void;
  run(runs: readonly CheckRun[]): void;
}

/** How long an on-demand run may wait for a checker, ms: the longest that its caller waits (docs/api-contract.md#tests), rounded. */
const ERRAND_PATIENCE_MS = 60_000;
/** Second looks at the same time; our choice: few enough to cause no load. */
const SECOND_LOOKS_LIMIT = 16;
/** Second looks that may wait; beyond it a failure counts at once, so that a real mass failure is not held back for long. */
const SECOND_LOOKS_WAITING = 256;

export interface DispatchOptions {
  readonly probers: ProberSet;
  readonly overallLimit: number;
  readonly nowMs: () => number;
  readonly nextCheckId: () => number;
  /** Whether the target passed when last judged: only then a failure is worth a second look. */
  readonly wasHealthy: (entry: Entry) => boolean;
  /** Whether a failure now would confirm an earlier one: another checker runs it, if there is one (docs/decisions/0002-one-check-one-way.md). */
  readonly isConfirming: (entry: Entry) => boolean;
  /** No checker could run the entry's turn. */
  readonly onUnrun: (entry: Entry) => void;
  /**
   * The final outcome of an entry's turn.
   * @param isWithheld the outcome itself comes later: the entry is free meanwhile
   */
  readonly onOutcome: (entry: Entry, outcome: CheckOutcome, attempt: number, isWithheld: boolean) => void;
  /** The monitor was changed during the run: the outcome says nothing about the new settings. */
  readonly onObsolete: (entry: Entry) => void;
}

/** A run that has no outcome yet. */
interface Flight {
  readonly entry: Entry;
  readonly specKey: number;
}

export interface Dispatch {
  define(entry: Entry): void;
  forget(specKey: number): void;
  /** Starts the entry's turn, or makes it wait; false when the turn before still waits or runs. */
  begin(entry: Entry, turnAtMs: number): boolean;
  /** Ends what a removed entry waits for or runs; its outcome is dropped. */
  abandon(entry: Entry): void;
  /** Sends what was begun since the last flush; called once per loop turn. */
  flush(): void;
  /** @param areWithheld the runs are over; their outcomes come later */
  take(outcomes: readonly CheckOutcome[], areWithheld?: boolean): void;
  hold(isHeld: boolean): void;
  readonly running: number;
  readonly waiting: number;
  readonly secondLooks: number;
}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { probers, nowMs, onOutcome } = options;
  const running = new Map<number, Flight>();
  /** Failures that wait for their second look, oldest first, with the outcome that counts if none is possible. */
  const secondLooks: Entry[] = [];
  let secondLooksRunning = 0;
  let secondLooksTotal = 0;
  let runs: CheckRun[] = [];
  /** Sent after the runs of the same turn, because one of them may still name the spec. */
  let obsoleteSpecKeys: number[] = [];

  const admission: Admission = createAdmission(options.overallLimit, (entry) => {
    entry.attempt = 1;
    // An errand has no due time: it is due when the caps let it start.
    send(entry, entry.errand === null ? entry.turnAtMs : nowMs());
  });

  function send(entry: Entry, dueAtMs: number): void {
    if (entry.spec === null) throw new Error(`monitor ${entry.monitor.id} has nothing to run`);
    const checkId = options.nextCheckId();
    entry.checkId = checkId;
    running.set(checkId, { entry, specKey: entry.spec.key });
    // Whole ms: people read the lateness.
    const wholeDueAtMs = Math.round(dueAtMs);
    runs.push({ checkId, specKey: entry.spec.key, dueAtMs: wholeDueAtMs, alone: false, place: placeOf(entry) });
  }

  function placeOf(entry: Entry): RunPlace {
    const { id, host } = entry.monitor;
    // A turn expires when the next is due (docs/decisions/0006-stores.md); a run that a caller waits for gets a minute.
    const patienceMs = entry.errand === null ? entry.intervalMs : ERRAND_PATIENCE_MS;
    return {
      location: entry.location,
      home: id,
      elsewhere: entry.attempt > 1 || options.isConfirming(entry),
      expiresAtMs: nowMs() + patienceMs,
      host,
      wasHealthy: options.wasHealthy(entry),
      account: entry.identity === null ? null : { identity: entry.identity, timeoutMs: entry.spec?.timeoutMs ?? 0 },
    };
  }

  function deservesSecondLook(entry: Entry, outcome: CheckOutcome): boolean {
    return (
      entry.attempt === 1 &&
      endedInCrowd(outcome, admission.running) &&
      secondLooks.length < SECOND_LOOKS_WAITING &&
      options.wasHealthy(entry)
    );
  }

  function startSecondLooks(): void {
    while (secondLooksRunning < SECOND_LOOKS_LIMIT) {
      const entry = secondLooks.shift();
      if (entry === undefined) return;
      if (entry.state === "gone") {
        admission.release(entry);
        continue;
      }
      entry.attempt = 2;
      secondLooksRunning += 1;
      secondLooksTotal += 1;
      send(entry, nowMs());
    }
  }

  function finish({ entry, specKey }: Flight, outcome: CheckOutcome, isWithheld: boolean): void {
    const isGone = entry.state === "gone";
    if (entry.attempt > 1) secondLooksRunning -= 1;
    entry.checkId = 0;
    if (!isGone) entry.state = "idle";
    admission.release(entry);
    if (isGone) return;
    if (outcome.verdict === "cancelled" && entry.errand === null && entry.spec?.key === specKey) options.onUnrun(entry);
    else if (entry.spec?.key === specKey) onOutcome(entry, outcome, entry.attempt, isWithheld);
    else options.onObsolete(entry);
  }

  return {
    define(entry) {
      if (entry.spec !== null) probers.define([entry.spec]);
    },
    forget(specKey) {
      obsoleteSpecKeys.push(specKey);
    },
    begin(entry, turnAtMs) {
      if (entry.state !== "idle") return false;
      entry.turnAtMs = turnAtMs;
      admission.request(entry);
      return true;
    },
    abandon(entry) {
      admission.withdraw(entry);
      entry.state = "gone";
    },
    flush() {
      startSecondLooks();
      if (runs.length > 0) probers.run(runs);
      runs = [];
      if (obsoleteSpecKeys.length > 0) probers.forget(obsoleteSpecKeys);
      obsoleteSpecKeys = [];
    },
    take(outcomes, areWithheld = false) {
      for (const outcome of outcomes) {
        const flight = running.get(outcome.checkId);
        // Applied once: an outcome that was taken before, or is of an earlier process, matches no run.
        if (flight === undefined) continue;
        running.delete(outcome.checkId);
        if (deservesSecondLook(flight.entry, outcome)) secondLooks.push(flight.entry);
        else finish(flight, outcome, areWithheld);
      }
    },
    hold: (isHeld) => admission.hold(isHeld),
    get running() {
      return admission.running;
    },
    get waiting() {
      return admission.waiting;
    },
    get secondLooks() {
      return secondLooksTotal;
    },
  };
}
