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

const works = new Set<Work>();
let timer: NodeJS.Timeout | undefined;
let ticks = 0;
/** From one wake-up to the next, in ticks. */
let step = 0;

/**
 * Runs it again and again on this thread, and does not keep the thread alive. After a moment in which the thread was blocked, missed runs are
 * not made up for.
 * @param everyMs a multiple of TICK_MS; the first run comes up to so much later
 * @returns what ends that
 * @throws RangeError
 */
export function onTicks(everyMs: number, run: () => void): () => void {
  const every = everyMs / TICK_MS;
  if (!Number.isInteger(every) || every < 1) throw new RangeError(`${everyMs} ms is no multiple of ${TICK_MS} ms`);
  const work: Work = { every, run };
  works.add(work);
  adapt();
  return () => {
    if (works.delete(work)) adapt();
  };
}

/** The longest step that meets every rhythm. */
function adapt(): void {
  let wanted = 0;
  for (const { every } of works) wanted = commonDivisor(every, wanted);
  if (wanted === step) return;
  clearInterval(timer);
  step = wanted;
  if (step === 0) return;
  ticks -= ticks % step;
  timer = setInterval(tick, step * TICK_MS).unref();
}

/** The greatest one; of `a` and 0 it is `a`. */
function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

function tick(): void {
  ticks += step;
  for (const { every, run } of works) if (ticks % every === 0) run();
}
