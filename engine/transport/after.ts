/**
 * Timers of checks. After a stall Node runs timers before it reads sockets, so these timers let data that has arrived be read first. When
 * thousands are due at once (retries to silent servers), they run in slices, so that other sockets and starts are served in between.
 */

/** Work in one turn of the event loop, ms. */
const SLICE_MS = 4;

interface Waiting {
  isWanted: boolean;
  readonly callback: () => void;
}

let due: Waiting[] = [];
let next = 0;
let isDraining = false;

/** Calls back after a delay in ms. @returns cancels the call */
export type After = (delayMs: number, callback: () => void) => () => void;

/** The timer of checks, and of what waits for them. */
export function after(delayMs: number, callback: () => void): () => void {
  const waiting: Waiting = { isWanted: true, callback };
  const timer = setTimeout(() => {
    due.push(waiting);
    if (isDraining) return;
    isDraining = true;
    setImmediate(drain);
  }, delayMs);
  return () => {
    waiting.isWanted = false;
    clearTimeout(timer);
  };
}

function drain(): void {
  const untilMs = performance.now() + SLICE_MS;
  // The others of this turn have their turn whatever one of them throws.
  const rest = setImmediate(drain);
  while (next < due.length && performance.now() < untilMs) {
    const waiting = due[next++];
    if (waiting?.isWanted !== true) continue;
    waiting.isWanted = false;
    waiting.callback();
  }
  if (next < due.length) return;
  clearImmediate(rest);
  due = [];
  next = 0;
  isDraining = false;
}
