/** Shared memory in which the scheduler's thread counts for the API's thread how many checks began, and how many of them late because no processor was free. */

/** Later than the wheel's and a thread's usual steps; a check that is later waited for a processor, ms. */
export const LATE_MS = 25;

const BEGUN = 0;
const LATE = 1;
/** Two numbers of 64 bits: each is written as one, by one thread. */
const SIZE_BYTES = 16;

export class CheckDelays {
  readonly memory: SharedArrayBuffer;
  readonly #counts: Float64Array;

  constructor(memory = new SharedArrayBuffer(SIZE_BYTES)) {
    this.memory = memory;
    this.#counts = new Float64Array(memory);
  }

  get begun(): number {
    return this.#counts[BEGUN] ?? 0;
  }

  get late(): number {
    return this.#counts[LATE] ?? 0;
  }

  /** @param latenessMs less what a cap held it back */
  count(latenessMs: number): void {
    if (latenessMs > LATE_MS) this.#counts[LATE] = this.late + 1;
    this.#counts[BEGUN] = this.begun + 1;
  }
}
