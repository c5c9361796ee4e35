/**
 * Outcomes that are not known yet although their runs are over: a checker keeps a failure back until it knows whether its own network had
 * failed, and the monitor's next turn does not wait for that. What comes of one monitor stays in order: behind an outcome that is awaited
 * the later ones wait. Whoever awaits one hears of it in the end, so nothing stays. Pure.
 */
import type { CheckOutcome } from "../model/result.ts";

interface Waiting<Item> {
  readonly item: Item;
  /** null: it is awaited. */
  outcome: CheckOutcome | null;
}

export class Withheld<Target, Item> {
  readonly #give: (item: Item, outcome: CheckOutcome) => void;
  /** Each begins with one that is awaited. */
  readonly #queues = new Map<Target, Waiting<Item>[]>();
  readonly #awaited = new Map<number, { readonly target: Target; readonly waiting: Waiting<Item> }>();
  #size = 0;

  /** @param give is handed each once, in the order of its target */
  constructor(give: (item: Item, outcome: CheckOutcome) => void) {
    this.#give = give;
  }

  /** Those that are awaited, and those behind them. */
  get size(): number {
    return this.#size;
  }

  /** @param isWithheld of the outcome only its number counts: settle() is given what it is */
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

  /** @returns false: it is not awaited here */
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
