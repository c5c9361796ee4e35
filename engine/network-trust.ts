/**
 * A stage between the probers' outcomes and the code that judges targets: it turns failures of our own network into `unfit`
 * (docs/decisions/0003-whose-fault.md). Each outcome comes out exactly once: passes at once, suspicious failures after at most HOLD_MS.
 */
import type { CheckOutcome } from "../model/result.ts";
import { isOwnVerdict } from "../model/verdict.ts";
import { Holdback } from "./holdback.ts";
import { type CanaryReport, NetworkFitness } from "./network-fitness.ts";

export interface NetworkTrustOptions<Target> {
  /** Unix ms. */
  readonly nowMs: () => number;
  /** Judges the outcome; never called from within take() for a held one. */
  readonly deliver: (target: Target, outcome: CheckOutcome, attempt: number) => void;
  /** A recently healthy target has failed: the canaries should be asked now. */
  readonly onSuspicion: () => void;
  /** Our own network is taken to be cut from now on, or to work again. */
  readonly onCut: (isCut: boolean) => void;
}

export interface Origin<Target> {
  /** What keeps its order: a monitor's location. */
  readonly target: Target;
  readonly attempt: number;
  /** Lowercased; null for what has none. */
  readonly host: string | null;
  /** Confirmed up before this outcome. */
  readonly wasHealthy: boolean;
  /** Never judged before: its failure waits for the canaries like any other, but is no evidence of a cut. */
  readonly isNew?: boolean;
}

export class NetworkTrust<Target> {
  readonly #options: NetworkTrustOptions<Target>;
  readonly #network = new NetworkFitness();
  readonly #holdback = new Holdback<{ readonly origin: Origin<Target>; readonly outcome: CheckOutcome }, Target>();
  #timer: NodeJS.Timeout | undefined;
  #wasCut = false;

  constructor(options: NetworkTrustOptions<Target>) {
    this.#options = options;
  }

  /** @returns whether it is held: delivered later, perhaps as `unfit` */
  take(origin: Origin<Target>, outcome: CheckOutcome): boolean {
    const nowMs = this.#options.nowMs();
    if (origin.host !== null) this.#network.note(origin.host, outcome.verdict, origin.wasHealthy, nowMs);
    const mayHaveWorked = origin.wasHealthy || origin.isNew === true;
    const isSuspicious = origin.host !== null && mayHaveWorked && mayBeOurs(outcome);
    if (isSuspicious) this.#options.onSuspicion();
    const isHeld = this.#holdback.hold({ origin, outcome }, origin.target, isSuspicious, nowMs);
    if (!isHeld) this.#deliver(origin, outcome);
    this.#arm(nowMs);
    return isHeld;
  }

  canary(report: CanaryReport): void {
    const nowMs = this.#options.nowMs();
    this.#network.canary(report, nowMs);
    this.#arm(nowMs);
  }

  get isCut(): boolean {
    return this.#network.isCut(this.#options.nowMs());
  }

  /** Outcomes that wait. */
  get held(): number {
    return this.#holdback.size;
  }

  /** Lets everything out now: before a stop. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#release(Number.POSITIVE_INFINITY);
  }

  #release(nowMs: number): void {
    for (const { origin, outcome } of this.#holdback.release(nowMs, this.#network.isCut(nowMs))) {
      this.#deliver(origin, outcome);
    }
  }

  #deliver({ target, attempt }: Origin<Target>, outcome: CheckOutcome): void {
    const { verdict, startedAtMs, durationMs, message } = outcome;
    const isOurs = this.#network.excuses(verdict, startedAtMs, startedAtMs + durationMs);
    const judged: CheckOutcome = isOurs
      ? { ...outcome, verdict: "unfit", message: `Our own network was cut (${message})` }
      : outcome;
    this.#options.deliver(target, judged, attempt);
  }

  #arm(nowMs: number): void {
    const isCut = this.#network.isCut(nowMs);
    if (isCut !== this.#wasCut) {
      this.#wasCut = isCut;
      this.#options.onCut(isCut);
    }
    if (isCut) {
      if (this.#holdback.size > 0) this.#wakeIn(0);
      return;
    }
    const nextAtMs = this.#holdback.nextAtMs();
    if (nextAtMs !== undefined && this.#timer === undefined) this.#wakeIn(Math.max(1, nextAtMs - nowMs));
  }

  #wakeIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const nowMs = this.#options.nowMs();
      this.#release(nowMs);
      this.#arm(nowMs);
    }, delayMs);
  }
}

function mayBeOurs({ verdict }: CheckOutcome): boolean {
  return verdict !== "ok" && verdict !== "misconfigured" && !isOwnVerdict(verdict);
}
