/**
 * Timers of checks. After a stall Node runs timers before it reads sockets, so these timers let data that has arrived be read first. When
 * thousands are due at once (retries to silent servers), they run in slices, so that other sockets and starts are served in between.
 */

/** Work in one turn of the event loop, ms. */
const SLICE_MS = 4;

interface Waiting {
  /** null: it was called, or is not wanted any more. What it holds of its check must go although this waits on. */
  callback: (() => void) | null;
}

let due: Waiting[] = [];
let next = 0;
let isDraining = false;

/** Calls back after a delay in ms. @returns cancels the call */
export type After = (delayMs: number, callback: () => void) => () => void;

/** The timer of checks, and of what waits for them. */
export function after(delayMs: number, callback: () => void): () => void {
  const waiting: Waiting = { callback };
  const timer = setTimeout(() => {
    due.push(waiting);
    if (isDraining) return;
    isDraining = true;
    setImmediate(drain);
  }, delayMs);
  return () => {
    waiting.callback = null;
    clearTimeout(timer);
  };
}

function drain(): void {
  const untilMs = performance.now() + SLICE_MS;
  // The others of this turn have their turn whatever one of them throws.
  const rest = setImmediate(drain);
  while (next < due.length && performance.now() < untilMs) {
    const waiting = due[next++];
    const callback = waiting?.callback;
    if (waiting === undefined || callback == null) continue;
    waiting.callback = null;
    callback();
  }
  if (next < due.length) return;
  clearImmediate(rest);
  due = [];
  next = 0;
  isDraining = false;
}
