/**
 * Queue of checks that hold their prober's thread, or may. So that they do not delay other checks, they run one at a time in one prober that
 * is set aside for them. The processor time of a run there decides how the check continues.
 */
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckRun, CheckSpec } from "../contract/messages.ts";
import { type Standing, SUSPECT_MS, ThreadBudget } from "./thread-budget.ts";

/** A run that waited this long is not run: its check's next turn would wait behind it, ms. Below what a scheduler waits for a checker. */
const PATIENCE_MS = 4_000;
/** The prober set aside ends when nothing has needed it for this long, ms. */
const IDLE_MS = 300_000;

const RESTING_MESSAGE = "The check was not run: it takes much of its checker's thread, and is run seldom";
const CROWDED_MESSAGE = "The check was not run in time: it waited for others that take much of their checker's thread";

interface Waiting {
  readonly run: CheckRun;
  readonly sinceMs: number;
}

export interface AsideOptions {
  readonly wallNowMs: () => number;
  /** Answers a run that must not run, with `cancelled`. */
  readonly refuse: (run: CheckRun, message: string) => void;
  /** Whether a prober is to be set aside. */
  readonly want: (isWanted: boolean) => void;
  /** Reports something to the operator. */
  readonly tell: (detail: string) => void;
}

export class Aside {
  readonly #options: AsideOptions;
  readonly #budget = new ThreadBudget();
  #queue: Waiting[] = [];
  #isWanted = false;
  #neededAtMs = 0;

  constructor(options: AsideOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Checks that were found to hold the thread. */
  get over(): number {
    return this.#budget.over;
  }

  /** @returns false for an ordinary check; otherwise this queue guarantees its outcome */
  take(run: CheckRun): boolean {
    const nowMs = this.#options.wallNowMs();
    const standing: Standing = this.#budget.standing(run.specKey, nowMs);
    if (standing === null) return false;
    if (standing === "rests") {
      this.#options.refuse(run, RESTING_MESSAGE);
      return true;
    }
    this.#queue.push({ run, sinceMs: nowMs });
    this.#neededAtMs = nowMs;
    this.#want(true);
    return true;
  }

  /** The next run; undefined when none waits. */
  next(): CheckRun | undefined {
    this.expire();
    return this.#queue.shift()?.run;
  }

  /** To be called every second: refuses runs that waited too long. @returns whether the prober set aside is no longer needed and must end */
  expire(): boolean {
    const nowMs = this.#options.wallNowMs();
    while (this.#queue[0] !== undefined && nowMs - this.#queue[0].sinceMs > PATIENCE_MS) {
      const waited = this.#queue.shift();
      if (waited !== undefined) this.#options.refuse(waited.run, CROWDED_MESSAGE);
    }
    if (!this.#isWanted || this.#budget.aside > 0 || this.#queue.length > 0) return false;
    if (nowMs - this.#neededAtMs < IDLE_MS) return false;
    this.#want(false);
    return true;
  }

  /** The check's prober was terminated or died while the check was at work. Another run shows whether the check caused that. */
  accuse(specKey: number): void {
    this.#budget.charge(specKey, SUSPECT_MS, this.#options.wallNowMs());
  }

  charge(holds: ReadonlyMap<number, number>): void {
    const nowMs = this.#options.wallNowMs();
    for (const [specKey, heldMs] of holds) this.#budget.charge(specKey, heldMs, nowMs);
  }

  /** A run in the prober set aside has ended. @returns its outcome, with a message when the check is over its budget */
  measured(spec: CheckSpec, { heldMs = 0, ...outcome }: CheckOutcome): CheckOutcome {
    const wasOver = this.#budget.over;
    const restMs = this.#budget.measured(spec.key, heldMs, this.#options.wallNowMs());
    if (restMs === 0) return outcome;
    const words = `This check held its checker's thread for ${heldMs} ms: it is run apart from others, and at most every ${Math.ceil(restMs / 1_000)} s`;
    if (this.#budget.over > wasOver) this.#options.tell(`check ${outcome.checkId}: ${words}`);
    const { explanation } = outcome;
    const hint = [explanation?.hint, words].filter((text) => text != null).join(". ");
    return { ...outcome, explanation: { stage: null, address: null, peer: null, ...explanation, hint } };
  }

  forget(specKey: number): void {
    this.#budget.forget(specKey);
  }

  /** Everything that waits. */
  takeAll(): readonly CheckRun[] {
    return this.#queue.splice(0).map(({ run }) => run);
  }

  #want(isWanted: boolean): void {
    if (isWanted === this.#isWanted) return;
    this.#isWanted = isWanted;
    this.#options.want(isWanted);
  }
}
