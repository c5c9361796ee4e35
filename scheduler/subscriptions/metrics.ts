/** Metrics of syncs, in Prometheus' names and units. */
import { Counter, Gauge, Registry } from "prom-client";

export interface SyncNumbers {
  /** Syncs that the thread has ended since it started, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly threadEnds: number;
  readonly restingLists: number;
}

export class SyncMetrics {
  readonly #registry = new Registry();
  readonly #syncs = new Counter({
    name: "sonde_syncs_total",
    help: "Syncs of subscriptions, by what came of them",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #inFlight = new Gauge({
    name: "sonde_syncs_in_flight",
    help: "Providers that are being asked",
    registers: [this.#registry],
  });
  readonly #threadEnds = new Counter({
    name: "sonde_sync_thread_ends_total",
    help: "Times that the thread of syncs ended while it read a list",
    registers: [this.#registry],
  });
  readonly #restingLists = new Gauge({
    name: "sonde_lists_resting",
    help: "Lists that took too much to read and are not read again for an hour",
    registers: [this.#registry],
  });

  text({ counts, inFlight, threadEnds, restingLists }: SyncNumbers): Promise<string> {
    this.#syncs.reset();
    for (const [outcome, count] of Object.entries(counts)) this.#syncs.inc({ outcome }, count);
    this.#inFlight.set(inFlight);
    this.#threadEnds.reset();
    this.#threadEnds.inc(threadEnds);
    this.#restingLists.set(restingLists);
    return this.#registry.metrics();
  }
}
