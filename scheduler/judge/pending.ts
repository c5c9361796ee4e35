/**
 * Keeps outcomes in order while an earlier one is not known yet. A checker reports that a run is over before it knows whether its own network
 * had failed; the monitor's next run does not wait for that. Outcomes behind an awaited one wait here until it is settled. Each awaited
 * one is settled in the end, so the queue cannot grow for ever. Pure.
 */
import type { CheckOutcome } from "../../model/result.ts";

interface Ordered {
  /** Outcomes with the same `order` are released in the order in which they were added. */
  readonly order: object;
}

interface Waiting<Item> {
  readonly item: Item;
  /** null: awaited. */
  outcome: CheckOutcome | null;
}

export class PendingOutcomes<Item extends Ordered> {
  readonly #release: (item: Item, outcome: CheckOutcome) => void;
  /** By order; the first of each queue is awaited. */
  readonly #queues = new Map<object, Waiting<Item>[]>();
  /** By check. */
  readonly #awaited = new Map<number, Waiting<Item>>();
  #size = 0;

  /** @param release receives each outcome once; outcomes with the same `order` come in the order in which they were added */
  constructor(release: (item: Item, outcome: CheckOutcome) => void) {
    this.#release = release;
  }

  /** Awaited outcomes, and those behind them. */
  get size(): number {
    return this.#size;
  }

  /** @param isPending only the outcome's checkId counts: settle() brings the outcome itself */
  add(item: Item, outcome: CheckOutcome, isPending: boolean): void {
    const queue = this.#size === 0 ? undefined : this.#queues.get(item.order);
    if (queue === undefined && !isPending) {
      this.#release(item, outcome);
      return;
    }
    const waiting: Waiting<Item> = { item, outcome: isPending ? null : outcome };
    if (isPending) this.#awaited.set(outcome.checkId, waiting);
    if (queue === undefined) this.#queues.set(item.order, [waiting]);
    else queue.push(waiting);
    this.#size += 1;
  }

  /** @returns false when it is not awaited here */
  settle(outcome: CheckOutcome): boolean {
    const found = this.#awaited.get(outcome.checkId);
    if (found === undefined) return false;
    this.#awaited.delete(outcome.checkId);
    found.outcome = outcome;
    const { order } = found.item;
    const queue = this.#queues.get(order) ?? [];
    const known = queue.findIndex((waiting) => waiting.outcome === null);
    const ready = queue.splice(0, known < 0 ? queue.length : known);
    if (queue.length === 0) this.#queues.delete(order);
    this.#size -= ready.length;
    for (const { item, outcome: settled } of ready) if (settled !== null) this.#release(item, settled);
    return true;
  }
}
