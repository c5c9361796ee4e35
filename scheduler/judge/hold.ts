/**
 * Hold: the one place where an outcome waits between its run's end and its judgement. Each outcome goes through these three holds in this
 * order, and leaves once.
 *
 *   | hold        | an outcome waits here when                      | for                           | at most                           | and leaves as        |
 *   | ----------- | ----------------------------------------------- | ----------------------------- | --------------------------------- | -------------------- |
 *   | second look | a healthy target failed in a crowded moment     | the check's second run        | waiting for one, and its time-out | the second outcome   |
 *   | pending     | its checker does not know yet whether it counts | the checker's final outcome   | FINAL_WITHIN_MS (remote-probers)  | that outcome         |
 *   |             | an earlier one of its order is here             | those ahead of it             | as long as those                  | itself               |
 *   | suspect     | a healthy target failed, measured here          | the canaries                  | HOLD_MS (suspect-buffer)          | itself, or as `unfit`|
 *   |             | an earlier one of its order is here             | those ahead of it             | as long as those                  | itself               |
 *
 * Order of release: outcomes of one order (a monitor's location) leave in the order in which their runs ended. In the second look a
 * run has not ended: it keeps its places, so no other of its order runs. Outcomes of different orders do not wait for each other.
 */

import { endedInCrowd, SecondLooks } from "../../engine/limits/second-looks.ts";
import type { OwnNetwork } from "../../engine/trust/own-network.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { Run } from "../plan/planned-check.ts";
import type { TargetStates } from "../run/dispatch.ts";
import { PendingOutcomes } from "./pending.ts";

/** Second looks at the same time; our choice: few enough to cause no load. */
const SECOND_LOOKS_AT_ONCE = 16;
/** Second looks that may wait; beyond it a failure counts at once, so that a real mass failure is not held back for long. */
const SECOND_LOOKS_WAITING = 256;

/** Receives each outcome once. */
export type Deliver = (run: Run, outcome: CheckOutcome) => void;

/** Opens the hold for suspects, and names the locations that this process measures; null: it measures none. */
export type OpenSuspects = (deliver: Deliver) => {
  readonly suspects: Pick<OwnNetwork<Run>, "take" | "flush" | "close" | "isCut" | "held">;
  readonly locations: readonly string[];
} | null;

export class Hold {
  readonly #states: TargetStates;
  readonly #secondLooks = new SecondLooks<Run>(SECOND_LOOKS_AT_ONCE);
  readonly #pending: PendingOutcomes<Run>;
  /** For outcomes that were measured here. A checker elsewhere has judged its own network already. */
  readonly #suspects: NonNullable<ReturnType<OpenSuspects>>["suspects"] | null;
  readonly #ownLocations: ReadonlySet<string>;
  readonly #deliver: Deliver;
  #secondLooksTaken = 0;

  constructor(states: TargetStates, openSuspects: OpenSuspects, deliver: Deliver) {
    this.#states = states;
    this.#deliver = deliver;
    const opened = openSuspects(deliver);
    this.#suspects = opened?.suspects ?? null;
    this.#ownLocations = new Set(opened?.locations);
    this.#pending = new PendingOutcomes((run, outcome) => this.#suspect(run, outcome));
  }

  /** Outcomes that wait after their runs are over. */
  get waiting(): number {
    return this.#pending.size + (this.#suspects?.held ?? 0);
  }

  /** Runs that are over, and whose outcome is not known yet or waits behind one that is not known yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Since the start. */
  get secondLooks(): number {
    return this.#secondLooksTaken;
  }

  /** Our own network counts as cut: failures become `unfit`. */
  get isCut(): boolean {
    return this.#suspects?.isCut ?? false;
  }

  /**
   * The first hold. @param inFlight runs in this process when it ended, itself included
   * @returns whether it will be run again; otherwise the run is over
   */
  keepForSecondLook(run: Run, outcome: CheckOutcome, inFlight: number): boolean {
    if (run.attempt > 1) {
      this.#secondLooks.ended();
      return false;
    }
    if (!endedInCrowd(outcome, inFlight) || this.#secondLooks.waiting >= SECOND_LOOKS_WAITING) return false;
    if (!this.#wasHealthy(run)) return false;
    this.#secondLooks.add(run);
    return true;
  }

  /** @returns a run whose second look may start now, and is to be sent or given up */
  nextSecondLook(): Run | undefined {
    return this.#secondLooks.hasRoom ? this.#secondLooks.next() : undefined;
  }

  /** Counts the second look as running. The caller sends it. */
  startSecondLook(run: Run): void {
    this.#secondLooks.started();
    this.#secondLooksTaken += 1;
    run.attempt = 2;
  }

  /** The run is over. @param isPending only the outcome's checkId counts: settle() brings the outcome itself */
  take(run: Run, outcome: CheckOutcome, isPending: boolean): void {
    this.#pending.add(run, outcome, isPending);
  }

  /** A pending outcome is known. @returns false when it is not awaited here */
  settle(outcome: CheckOutcome): boolean {
    return this.#pending.size > 0 && this.#pending.settle(outcome);
  }

  /** Lets suspects out now: before a stop. */
  flush(): void {
    this.#suspects?.flush();
  }

  close(): void {
    this.#suspects?.close();
  }

  #suspect(run: Run, outcome: CheckOutcome): void {
    if (this.#suspects === null || !this.#ownLocations.has(run.location)) {
      this.#deliver(run, outcome);
      return;
    }
    run.wasHealthy = this.#wasHealthy(run);
    this.#suspects.take(run, outcome);
  }

  #wasHealthy({ monitorId, location }: Run): boolean {
    return monitorId !== null && this.#states.wasHealthy(monitorId, location);
  }
}
