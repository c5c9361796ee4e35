/**
 * Keeps outcomes of one monitor in order while an earlier one is awaited. A checker holds a failure back until it knows whether its own network
 * had failed; the run is over, and the monitor's next turn does not wait. Outcomes behind an awaited one wait here until it is
 * settled. Each awaited one is settled in the end, so the queue cannot grow for ever. Pure.
 */
import type { CheckOutcome } from "../model/result.ts";

interface Waiting<Item> {
  readonly item: Item;
  /** null: awaited. */
  outcome: CheckOutcome | null;
}

export class Withheld<Target, Item> {
  readonly #give: (item: Item, outcome: CheckOutcome) => void;
  /** The first of each queue is awaited. */
  readonly #queues = new Map<Target, Waiting<Item>[]>();
  readonly #awaited = new Map<number, { readonly target: Target; readonly waiting: Waiting<Item> }>();
  #size = 0;

  /** @param give gets each outcome once, in the order of its target */
  constructor(give: (item: Item, outcome: CheckOutcome) => void) {
    this.#give = give;
  }

  /** Awaited outcomes, and those behind them. */
  get size(): number {
    return this.#size;
  }

  /** @param isWithheld only the outcome's checkId counts: settle() brings the outcome itself */
  add(target: Target, item: Item, outcome: CheckOutcome, isWithheld: boolean): void {
    const queue = this.#queues.get(target);
    if (queue === undefined && !isWithheld) {
      this.#give(item, outcome);
      return;
    }
    const waiting: Waiting<Item> = { item, outcome: isWithheld ? null : outcome };
    if (isWithheld) this.#awaited.set(outcome.checkId, { target, waiting });
    if (queue === undefined) this.#queues.set(target, [waiting]);
    else queue.push(waiting);
    this.#size += 1;
  }

  /** @returns false when it is not awaited here */
  settle(outcome: CheckOutcome): boolean {
    const found = this.#awaited.get(outcome.checkId);
    if (found === undefined) return false;
    this.#awaited.delete(outcome.checkId);
    found.waiting.outcome = outcome;
    const queue = this.#queues.get(found.target) ?? [];
    const ready: { readonly item: Item; readonly outcome: CheckOutcome }[] = [];
    for (let next = queue[0]; next !== undefined && next.outcome !== null; next = queue[0]) {
      queue.shift();
      ready.push({ item: next.item, outcome: next.outcome });
    }
    if (queue.length === 0) this.#queues.delete(found.target);
    this.#size -= ready.length;
    for (const one of ready) this.#give(one.item, one.outcome);
    return true;
  }
}
