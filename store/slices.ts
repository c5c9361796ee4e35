/**
 * Long work on a thread that has other callers, a few milliseconds at a time. What takes thousands of steps calls `rest` after each of them; a transaction
 * of thousands of rows does, too, because SQLite runs on the thread that calls it.
 */
import { setImmediate } from "node:timers/promises";

/** Our choice: an answer that is ready waits so long at most. */
const SLICE_MS = 8;

export class Slices {
  readonly #sliceMs: number;
  #endMs: number;

  /** @param sliceMs shorter where no caller waits for the work itself */
  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
    this.#endMs = performance.now() + sliceMs;
  }

  /** Called often; waits only when this slice is over. */
  async rest(): Promise<void> {
    if (performance.now() < this.#endMs) return;
    await setImmediate();
    this.#endMs = performance.now() + this.#sliceMs;
  }

  async run<Result>(steps: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.rest();
    }
  }
}
