/**
 * Holds failures of recently healthy targets for a second before they count. Pure.
 *
 * A cut of our own network is known at the fifth failure at the earliest (network-fitness.ts), or when the canaries, asked at the first
 * failure, have not answered. Failures that we caused before that would count against targets, and with `maxretries` 1 mark them down.
 * So the sink notes every result at once, applies passes and failures of targets that were not healthy at once, and holds the others
 * here. When one is released, NetworkFitness.excuses() decides about it. A real failure counts a second later; nothing else changes.
 *
 * Results of one target keep their order: while one is held, the later ones wait behind it, and not longer.
 */

/** Longer than two failing canary questions (canary.ts) take. */
export const HOLD_MS = 1_500;
/** Beyond this the oldest count at once: bounds memory when everything fails and no cut is found. */
const MAX_HELD = 100_000;

export class SuspectBuffer<Item, Target = number> {
  readonly #held: { readonly item: Item; readonly target: Target; readonly untilMs: number }[] = [];
  #head = 0;
  /** Targets with held results: how many, and until when the last one waits. */
  readonly #targets = new Map<Target, { readonly waiting: number; readonly untilMs: number }>();

  get size(): number {
    return this.#held.length - this.#head;
  }

  /** Whether an earlier result of the target is held. */
  isAhead(target: Target): boolean {
    return this.#targets.has(target);
  }

  /**
   * @param target what keeps its order: a monitor's location
   * @param isSuspicious a failure of a target that was confirmed up
   * @returns whether it is held; otherwise the caller applies it now
   */
  hold(item: Item, target: Target, isSuspicious: boolean, nowMs: number): boolean {
    const earlier = this.#targets.get(target);
    if (!isSuspicious && earlier === undefined) return false;
    // A result that is held only to keep the order must not extend the wait: a target that is checked every second would never catch up.
    const untilMs = isSuspicious || earlier === undefined ? nowMs + HOLD_MS : earlier.untilMs;
    this.#held.push({ item, target, untilMs });
    this.#targets.set(target, { waiting: (earlier?.waiting ?? 0) + 1, untilMs });
    return true;
  }

  /** Items that have waited long enough, in their order; all items when `isCut`, because then it is known that the cut caused them. */
  release(nowMs: number, isCut: boolean): Item[] {
    const released: Item[] = [];
    for (let next = this.#held[this.#head]; next !== undefined; next = this.#held[this.#head]) {
      if (!isCut && next.untilMs > nowMs && this.size <= MAX_HELD) break;
      released.push(next.item);
      this.#head++;
      const { waiting = 1, untilMs = nowMs } = this.#targets.get(next.target) ?? {};
      if (waiting === 1) this.#targets.delete(next.target);
      else this.#targets.set(next.target, { waiting: waiting - 1, untilMs });
    }
    if (this.#head > 1_024 || this.#head === this.#held.length) {
      this.#held.splice(0, this.#head);
      this.#head = 0;
    }
    return released;
  }

  /** When to call release() next; undefined when nothing is held. */
  nextAtMs(): number | undefined {
    return this.#held[this.#head]?.untilMs;
  }
}
