/**
 * Regular work of a thread that is done in the same moments. A timer of its own for each would wake the thread up for each, and of what an idle
 * process costs wake-ups are the most. This is where the model's room has a timer: every room may use it.
 */

/** What all rhythms are multiples of, ms. A thread wakes up as often as its own rhythms need. */
export const TICK_MS = 250;

interface Work {
  /** In ticks. */
  readonly every: number;
  readonly run: () => void;
}

/** The work of one thread. */
export class Ticks {
  readonly #works = new Set<Work>();
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  /** From one wake-up to the next, in ticks. */
  #step = 0;

  /**
   * Runs it again and again on this thread, and does not keep the thread alive. After a moment in which the thread was blocked, missed runs are
   * not made up for.
   * @param everyMs a multiple of TICK_MS; the first run comes up to so much later
   * @returns what ends that
   * @throws RangeError
   */
  readonly on = (everyMs: number, run: () => void): (() => void) => {
    const every = everyMs / TICK_MS;
    if (!Number.isInteger(every) || every < 1) throw new RangeError(`${everyMs} ms is no multiple of ${TICK_MS} ms`);
    const work: Work = { every, run };
    this.#works.add(work);
    this.#adapt();
    return () => {
      if (this.#works.delete(work)) this.#adapt();
    };
  };

  /** The longest step that meets every rhythm. */
  #adapt(): void {
    let wanted = 0;
    for (const { every } of this.#works) wanted = commonDivisor(every, wanted);
    if (wanted === this.#step) return;
    clearInterval(this.#timer);
    this.#step = wanted;
    if (wanted === 0) return;
    this.#ticks -= this.#ticks % wanted;
    this.#timer = setInterval(() => this.#tick(), wanted * TICK_MS).unref();
  }

  #tick(): void {
    this.#ticks += this.#step;
    for (const { every, run } of this.#works) if (this.#ticks % every === 0) run();
  }
}

/** The greatest one; of `a` and 0 it is `a`. */
function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** This thread's (see Ticks.on). */
export const onTicks = new Ticks().on;
