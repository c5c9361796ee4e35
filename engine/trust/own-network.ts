/**
 * Whether our own network works, and what that means for outcomes: the canaries, and the stage that turns failures of our own
 * network into `unfit`, put together once for schedulers, checkers and lists.
 */
import type { CheckOutcome } from "../../model/result.ts";
import type { EngineOptions } from "../contract/options.ts";
import { type Canary, watchCanaries } from "./canary.ts";
import { type MeasuredCheck, NetworkTrust } from "./network-trust.ts";

export interface OwnNetworkOptions<Check> {
  readonly engine: EngineOptions;
  /** As findCanaries() found them. */
  readonly canaries: readonly Canary[];
  /** Unix ms. */
  readonly nowMs: () => number;
  /** Says when our own network is taken to be cut, and when it works again; null: the caller shows it otherwise. */
  readonly log: { warn(fields: object, message: string): void } | null;
  /** Gets each outcome once, those with the same order in the order in which they came. */
  readonly deliver: (check: Check, outcome: CheckOutcome) => void;
  /** Our own network is taken to be cut from now on, or to work again. */
  readonly onCut?: (isCut: boolean) => void;
}

export class OwnNetwork<Check extends MeasuredCheck> {
  readonly #trust: NetworkTrust<Check>;
  readonly #watch: ReturnType<typeof watchCanaries>;

  constructor({ engine, canaries, nowMs, log, deliver, onCut }: OwnNetworkOptions<Check>) {
    this.#trust = new NetworkTrust<Check>({
      nowMs,
      deliver,
      onSuspicion: () => this.#watch.ask(),
      onCut(isCut) {
        log?.warn(
          { isCut },
          isCut ? "our own network seems to be cut: failures are unfit" : "our own network works again",
        );
        onCut?.(isCut);
      },
    });
    this.#watch = watchCanaries({ canaries, engine, onReport: (report) => this.#trust.canary(report) });
  }

  get isCut(): boolean {
    return this.#trust.isCut;
  }

  /** Outcomes that wait. */
  get held(): number {
    return this.#trust.held;
  }

  /** @returns whether it is held: delivered later, perhaps as `unfit` */
  take(check: Check, outcome: CheckOutcome): boolean {
    return this.#trust.take(check, outcome);
  }

  /** Targets are silent: asks the canaries before the first check fails. */
  suspect(): void {
    this.#watch.ask();
  }

  /** Delivers everything now: before a stop. */
  flush(): void {
    this.#trust.flush();
  }

  /** Asks no canary any more. */
  close(): void {
    this.#watch.close();
  }
}
