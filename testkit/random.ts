/** Numbers that follow from a seed (mulberry32): a run can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** @returns 32 bits */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return (word ^ (word >>> 14)) >>> 0;
  }

  /** @returns 0 to `most - 1`; 0 when there is nothing to choose from */
  below(most: number): number {
    return most <= 1 ? 0 : this.next() % most;
  }

  /** @returns undefined of nothing */
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }
}
