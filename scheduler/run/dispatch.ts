/** Dispatch: sends runs to the probers, many in a message, and finds the run that an outcome ends, once. */
import type { CheckRun, CheckSpec, RunTarget } from "../../engine/contract/messages.ts";
import { IdTable } from "../../model/id-table.ts";
import type { Run } from "../plan/planned-check.ts";

/** What dispatch needs of engine/pool/probers.ts. */
export interface ProberSet {
  define(specs: readonly CheckSpec[]): void;
  forget(specKeys: readonly number[]): void;
  run(runs: readonly CheckRun[]): void;
}

/** What is known of a monitor's location between two checks. */
export interface TargetStates {
  /** Confirmed up when last judged. */
  wasHealthy(monitorId: number, location: string): boolean;
  /** A failure now would confirm an earlier one. */
  isConfirming(monitorId: number, location: string): boolean;
}

/** Makes the ids of checks and judged outcomes. They are unique across restarts as long as this process makes fewer than a million a second. */
export class CheckIds {
  #last: number;

  constructor(nowMs: number) {
    this.#last = Math.floor(nowMs) * 1_000;
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

export interface DispatchOptions {
  readonly probers: ProberSet;
  readonly states: TargetStates;
  readonly checkIds: CheckIds;
  readonly nowMs: () => number;
}

export class Dispatch {
  readonly #probers: ProberSet;
  readonly #states: TargetStates;
  readonly #checkIds: CheckIds;
  readonly #nowMs: () => number;
  /** Runs that were sent and have no outcome yet, by check id. */
  readonly #running = new IdTable<Run>();
  #unsent: CheckRun[] = [];
  /** Sent after the runs of the same flush, because one of them may still name the spec. */
  #obsoleteSpecKeys: number[] = [];

  constructor({ probers, states, checkIds, nowMs }: DispatchOptions) {
    this.#probers = probers;
    this.#states = states;
    this.#checkIds = checkIds;
    this.#nowMs = nowMs;
  }

  define(spec: CheckSpec): void {
    this.#probers.define([spec]);
  }

  forget(specKey: number): void {
    this.#obsoleteSpecKeys.push(specKey);
  }

  /** Adds the run to the next flush. */
  send(run: Run): void {
    const checkId = this.#checkIds.next();
    run.checkId = checkId;
    this.#running.set(checkId, run);
    const nowMs = this.#nowMs();
    this.#unsent.push(new PlacedRun(run, this.#states, nowMs));
  }

  /** Sends the runs that were added since the last flush; called once per turn of the loop. */
  flush(): void {
    if (this.#unsent.length > 0) {
      const runs = this.#unsent;
      this.#unsent = [];
      this.#probers.run(runs);
    }
    if (this.#obsoleteSpecKeys.length > 0) {
      const specKeys = this.#obsoleteSpecKeys;
      this.#obsoleteSpecKeys = [];
      this.#probers.forget(specKeys);
    }
  }

  /** @returns the run whose outcome came; undefined: it was taken before, or belongs to an earlier process */
  ended(checkId: number): Run | undefined {
    const run = this.#running.take(checkId);
    if (run !== undefined) run.checkId = 0;
    return run;
  }
}

/** Says where it runs only when it is asked: probers of this process never do. */
class PlacedRun implements CheckRun {
  readonly checkId: number;
  readonly specKey: number;
  readonly dueAtMs: number;
  readonly alone = false;
  readonly isPatient: boolean;
  readonly #run: Run;
  readonly #states: TargetStates;
  readonly #sentAtMs: number;

  constructor(run: Run, states: TargetStates, nowMs: number) {
    this.checkId = run.checkId;
    this.specKey = run.spec.key;
    // A second look is due now. Whole ms: people read the lateness.
    this.dueAtMs = Math.round(run.attempt > 1 ? nowMs : (run.dueAtMs ?? nowMs));
    this.isPatient = isUnawaited(run);
    this.#run = run;
    this.#states = states;
    this.#sentAtMs = nowMs;
  }

  get place(): RunTarget {
    const { monitorId, location, identity, spec, attempt, patienceMs, host } = this.#run;
    return {
      location,
      home: monitorId ?? 0,
      // Another checker confirms a failure, if there is one (docs/decisions/0002-one-check-one-way.md).
      elsewhere: attempt > 1 || (monitorId !== null && this.#states.isConfirming(monitorId, location)),
      expiresAtMs: this.#sentAtMs + patienceMs,
      host,
      wasHealthy: monitorId !== null && this.#states.wasHealthy(monitorId, location),
      account: identity === null ? null : { identity, timeoutMs: spec.timeoutMs },
    };
  }
}

/** Neither a caller nor a second look waits for its outcome, and no other run for its place at a cap. */
function isUnawaited({ planned, attempt, identity, limits }: Run): boolean {
  if (planned === null || attempt > 1 || identity !== null) return false;
  return limits.every(({ running, limit }) => running * 2 <= limit);
}
