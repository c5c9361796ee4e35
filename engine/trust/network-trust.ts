/**
 * A stage between the probers' outcomes and the code that judges targets: it turns failures of our own network into `unfit`
 * (docs/decisions/0003-whose-fault.md). Each outcome comes out exactly once: passes at once, suspicious failures after at most HOLD_MS.
 */
import type { CheckOutcome } from "../../model/result.ts";
import { isOwnVerdict } from "../../model/verdict.ts";
import { type CanaryReport, NetworkFitness } from "./network-fitness.ts";
import { SuspectBuffer } from "./suspect-buffer.ts";

/** What this stage must know of the check behind an outcome. */
export interface MeasuredCheck {
  /** Outcomes with the same one keep their order: a monitor's location; absent: each for itself. */
  readonly order?: object;
  /** Of the target, lowercased; null for what has none. */
  readonly host: string | null;
  /** Confirmed up before this outcome. */
  readonly wasHealthy: boolean;
  /** Never judged before: its failure waits for the canaries like any other, but is no evidence of a cut. */
  readonly isNew?: boolean;
}

export interface NetworkTrustOptions<Check> {
  /** Unix ms. */
  readonly nowMs: () => number;
  /** Judges the outcome; never called from within take() for a held one. */
  readonly deliver: (check: Check, outcome: CheckOutcome) => void;
  /** A recently healthy target has failed: the canaries should be asked now. */
  readonly onSuspicion: () => void;
  /** Our own network is taken to be cut from now on, or to work again. */
  readonly onCut: (isCut: boolean) => void;
}

interface Suspect<Check> {
  readonly check: Check;
  readonly outcome: CheckOutcome;
}

export class NetworkTrust<Check extends MeasuredCheck> {
  readonly #options: NetworkTrustOptions<Check>;
  readonly #network = new NetworkFitness();
  readonly #suspects = new SuspectBuffer<Suspect<Check>, object>();
  #timer: NodeJS.Timeout | undefined;
  #wasCut = false;

  constructor(options: NetworkTrustOptions<Check>) {
    this.#options = options;
  }

  /** @returns whether it is held: delivered later, perhaps as `unfit` */
  take(check: Check, outcome: CheckOutcome): boolean {
    const nowMs = this.#options.nowMs();
    const { host, wasHealthy } = check;
    const order = check.order ?? check;
    if (host !== null) this.#network.note(host, outcome.verdict, wasHealthy, nowMs);
    const mayHaveWorked = wasHealthy || check.isNew === true;
    const isSuspicious = host !== null && mayHaveWorked && mayBeOurs(outcome);
    if (isSuspicious) this.#options.onSuspicion();
    const isHeld = isSuspicious || this.#suspects.isAhead(order);
    if (isHeld) this.#suspects.hold({ check, outcome }, order, isSuspicious, nowMs);
    else this.#deliver(check, outcome);
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
    return this.#suspects.size;
  }

  /** Lets everything out now: before a stop. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#release(Number.POSITIVE_INFINITY);
  }

  #release(nowMs: number): void {
    for (const { check, outcome } of this.#suspects.release(nowMs, this.#network.isCut(nowMs))) {
      this.#deliver(check, outcome);
    }
  }

  #deliver(check: Check, outcome: CheckOutcome): void {
    const { verdict, startedAtMs, durationMs, message } = outcome;
    const isOurs = this.#network.excuses(verdict, startedAtMs, startedAtMs + durationMs);
    const judged: CheckOutcome = isOurs
      ? { ...outcome, verdict: "unfit", message: `Our own network was cut (${message})` }
      : outcome;
    this.#options.deliver(check, judged);
  }

  #arm(nowMs: number): void {
    const isCut = this.#network.isCut(nowMs);
    if (isCut !== this.#wasCut) {
      this.#wasCut = isCut;
      this.#options.onCut(isCut);
    }
    if (isCut) {
      if (this.#suspects.size > 0) this.#wakeIn(0);
      return;
    }
    const nextAtMs = this.#suspects.nextAtMs();
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
