/**
 * The scheduler's own probers, which replace the checkers of the general pool while Redis is away. They are started when they are needed
 * for the first time. As a checker does, this judges its own network: a failure that may come from it is `unfit`, and no target is called
 * down for it.
 */
import type { CheckRun, CheckSpec, ProberFitness } from "../../engine/contract/messages.ts";
import type { HarmOfRun, Probers, ProbersCallbacks } from "../../engine/pool/probers.ts";
import type { OwnNetwork, OwnNetworkOptions } from "../../engine/trust/own-network.ts";
import type { CheckOutcome } from "../../model/result.ts";

/** A run that is under way here. */
interface OwnRun {
  readonly checkId: number;
  readonly host: string | null;
  readonly wasHealthy: boolean;
}

type Network = Pick<OwnNetwork<OwnRun>, "take" | "flush" | "close">;

export interface StandInOptions {
  /** Starts the probers, and connects them. */
  readonly openProbers: (callbacks: ProbersCallbacks) => Probers;
  readonly openNetwork: (options: Pick<OwnNetworkOptions<OwnRun>, "deliver">) => Network;
  readonly callbacks: {
    /** Each run has one, at the end. */
    onOutcomes(outcomes: readonly CheckOutcome[]): void;
    /** These runs are over; onOutcomes gets their outcomes when it is known whether our own network had failed. */
    onPending(outcomes: readonly CheckOutcome[]): void;
    onFitness(prober: number, fitness: ProberFitness): void;
    onHarm(run: CheckRun, harm: HarmOfRun): void;
  };
}

export class StandIn {
  readonly #options: StandInOptions;
  /** Specs that the probers have, by key. */
  readonly #defined = new Map<number, CheckSpec>();
  readonly #running = new Map<number, OwnRun>();
  #opened: { readonly probers: Probers; readonly network: Network } | null = null;

  constructor(options: StandInOptions) {
    this.#options = options;
  }

  run(runs: readonly CheckRun[], specOf: (specKey: number) => CheckSpec | undefined): void {
    this.#opened ??= this.#open();
    const { probers } = this.#opened;
    for (const { checkId, specKey, place } of runs) {
      const spec = specOf(specKey);
      if (spec !== undefined && this.#defined.get(specKey) !== spec) {
        this.#defined.set(specKey, spec);
        probers.define([spec]);
      }
      this.#running.set(checkId, { checkId, host: place?.host ?? null, wasHealthy: place?.wasHealthy ?? false });
    }
    probers.run(runs);
  }

  forget(specKeys: readonly number[]): void {
    const known = specKeys.filter((key) => this.#defined.delete(key));
    if (known.length > 0) this.#opened?.probers.forget(known);
  }

  /** Ends what runs as cancelled. */
  async close(): Promise<void> {
    await this.#opened?.probers.close();
    this.#opened?.network.flush();
    this.#opened?.network.close();
  }

  #open(): { probers: Probers; network: Network } {
    const { openProbers, openNetwork, callbacks } = this.#options;
    const network = openNetwork({
      deliver: ({ checkId }, outcome) => {
        this.#running.delete(checkId);
        callbacks.onOutcomes([outcome]);
      },
    });
    const probers = openProbers({
      onOutcomes: (outcomes) => {
        for (const outcome of outcomes) {
          const run = this.#running.get(outcome.checkId);
          if (run !== undefined && network.take(run, outcome)) callbacks.onPending([outcome]);
        }
      },
      onFitness: callbacks.onFitness,
      onHarm: callbacks.onHarm,
    });
    return { probers, network };
  }
}
