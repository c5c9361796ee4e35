/**
 * Between the probers and the scheduler's loop, which needs them before it can take what they report: keeps reports until the loop listens, so
 * that none is lost, and passes them on from then, in order.
 */
import type { ProberEvents } from "./probers.ts";

type Report = (listener: ProberEvents) => void;

export class ProberRelay implements Required<ProberEvents> {
  #listener: ProberEvents | null = null;
  /** Only a few reports, because nothing runs before the loop listens. */
  #early: Report[] = [];

  readonly onOutcomes: ProberEvents["onOutcomes"] = (outcomes) => this.#pass((to) => to.onOutcomes(outcomes));
  readonly onPending: ProberEvents["onPending"] = (outcomes) => this.#pass((to) => to.onPending(outcomes));
  readonly onHarm: Required<ProberEvents>["onHarm"] = (run, harm) => this.#pass((to) => to.onHarm?.(run, harm));
  readonly onFitness: ProberEvents["onFitness"] = (prober, fitness) =>
    this.#pass((to) => to.onFitness(prober, fitness));
  readonly onChange: Required<ProberEvents>["onChange"] = (change) => this.#pass((to) => to.onChange?.(change));
  readonly onAvailability: ProberEvents["onAvailability"] = () => this.#pass((to) => to.onAvailability());
  readonly onTrouble: ProberEvents["onTrouble"] = (error) => this.#pass((to) => to.onTrouble(error));
  readonly onRefused: ProberEvents["onRefused"] = (location, count, reason) =>
    this.#pass((to) => to.onRefused(location, count, reason));

  listen(listener: ProberEvents): void {
    this.#listener = listener;
    for (const report of this.#early.splice(0)) report(listener);
  }

  #pass(report: Report): void {
    if (this.#listener === null) this.#early.push(report);
    else report(this.#listener);
  }
}
