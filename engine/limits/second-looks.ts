/**
 * Second looks: a failure that our own load may have caused is run again, few at a time, before it counts
 * (docs/decisions/0003-whose-fault.md). Pure.
 */
import type { CheckOutcome } from "../../model/result.ts";
import type { Verdict } from "../../model/verdict.ts";

/** A moment is crowded when at least this many checks are in flight in this process; our choice. */
const CROWD_IN_FLIGHT = 256;
/** A check that started this late ran in a crowded moment, ms; our choice. */
const CROWD_LATENESS_MS = 250;

/** Verdicts that our own load can cause; an explicit answer of the target counts at once. */
const CROWD_VERDICTS: ReadonlySet<Verdict> = new Set([
  "timeout",
  "unreachable",
  "unresolved",
  "closed",
  "handshake-failed",
]);

/** @param inFlight checks in this process when it ended, itself included */
export function endedInCrowd(outcome: CheckOutcome, inFlight: number): boolean {
  return canComeOfCrowd(outcome) && (inFlight > CROWD_IN_FLIGHT || outcome.latenessMs > CROWD_LATENESS_MS);
}

export function canComeOfCrowd({ verdict }: CheckOutcome): boolean {
  return CROWD_VERDICTS.has(verdict);
}

/** The queue of checks that are run again: few run at the same time. */
export class SecondLooks<T> {
  readonly #atOnce: number;
  #waiting: T[] = [];
  #running = 0;

  /** @param atOnce how many run at the same time: few enough to cause no load */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.#running;
  }

  get hasRoom(): boolean {
    return this.#running < this.#atOnce;
  }

  add(one: T): void {
    this.#waiting.push(one);
  }

  /** Before all that wait. */
  addFirst(one: T): void {
    this.#waiting.unshift(one);
  }

  /** The one that next() would take. */
  first(): T | undefined {
    return this.#waiting[0];
  }

  /** Takes the oldest out; it does not count as running before started(). */
  next(): T | undefined {
    return this.#waiting.shift();
  }

  started(): void {
    this.#running += 1;
  }

  ended(): void {
    this.#running -= 1;
  }

  /** Takes out the entries that fit, in order; all entries when there is no condition. */
  takeOut(fits: (one: T) => boolean = () => true): T[] {
    const out = this.#waiting.filter(fits);
    this.#waiting = this.#waiting.filter((one) => !fits(one));
    return out;
  }
}
