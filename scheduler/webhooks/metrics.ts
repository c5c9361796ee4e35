/** Metrics of the sender, in Prometheus' names and units. */
import { Counter, Gauge, Registry } from "prom-client";

export interface SenderMetricNames {
  readonly attempts: { readonly name: string; readonly help: string };
  readonly pending: { readonly name: string; readonly help: string };
}

const WEBHOOK_METRICS: SenderMetricNames = {
  attempts: {
    name: "sonde_webhook_attempts_total",
    help: "Attempts to send webhooks, by what came of them",
  },
  pending: { name: "sonde_webhook_deliveries_pending", help: "Webhook deliveries that wait for an attempt" },
};

/** Of messages to channels. */
export const ALERT_METRICS: SenderMetricNames = {
  attempts: { name: "sonde_alert_attempts_total", help: "Attempts to send alerts to channels, by what came of them" },
  pending: { name: "sonde_alert_messages_pending", help: "Alerts to channels that wait for an attempt" },
};

export class SenderMetrics {
  readonly #registry = new Registry();
  readonly #attempts: Counter<"outcome">;
  readonly #pending: Gauge;

  constructor({ attempts, pending }: SenderMetricNames = WEBHOOK_METRICS) {
    this.#attempts = new Counter({ ...attempts, labelNames: ["outcome"], registers: [this.#registry] });
    this.#pending = new Gauge({ ...pending, registers: [this.#registry] });
  }

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
