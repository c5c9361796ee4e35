/** Metrics of the sender, in Prometheus' names and units. */
import { Counter, Gauge, Registry } from "prom-client";

export class SenderMetrics {
  readonly #registry = new Registry();
  readonly #attempts = new Counter({
    name: "sonde_webhook_attempts_total",
    help: "Attempts to send webhooks, by what came of them",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #pending = new Gauge({
    name: "sonde_webhook_deliveries_pending",
    help: "Webhook deliveries that wait for an attempt",
    registers: [this.#registry],
  });

  /**
   * @param counts attempts since the start, by outcome
   * @param pending undefined: the store is away, and no number is better than a wrong one
   */
  text(counts: Readonly<Record<string, number>>, pending: number | undefined): Promise<string> {
    this.#attempts.reset();
    for (const [outcome, count] of Object.entries(counts)) this.#attempts.inc({ outcome }, count);
    if (pending === undefined) this.#pending.remove();
    else this.#pending.set(pending);
    return this.#registry.metrics();
  }
}
