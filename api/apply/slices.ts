/** Long work on the API's thread, a few milliseconds at a time: other requests are answered in between. */
import { setImmediate } from "node:timers/promises";

const SLICE_MS = 8;

export class Slices {
  #endMs = performance.now() + SLICE_MS;

  /** Called often; waits only when this slice is over. */
  async rest(): Promise<void> {
    if (performance.now() < this.#endMs) return;
    await setImmediate();
    this.#endMs = performance.now() + SLICE_MS;
  }

  async run<Result>(steps: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.rest();
    }
  }
}
