/**
 * Limits how many checks begin at once in a core: a batch gets ready all at once, and if its hundreds of checks began together, each would measure
 * the load of the others. The next check begins when one ends, or has waited for its server for a while.
 */

/** Starts at the same time; our choice. */
const LIMIT = 16;
/**
 * When this many wait, each result is marked as measured in a crowd anyway (run.ts, CROWDED_SAMPLE_FROM). Then more starts at once cost less,
 * because cores, servers and our own threads wake up once for several of them; above CROWD_LIMIT nothing is gained.
 */
const CROWD_FROM = 100;
const CROWD_LIMIT = 48;
/** A slot is released after this time even when the check has not ended, ms. */
const MAX_HELD_MS = 50;

type Start = (release: () => void) => void;

export class StartLimiter {
  readonly #waiting: Start[] = [];
  #starting = 0;

  /** Calls `start` with a function that releases the slot: now when a slot is free, otherwise when one is released. */
  acquire(start: Start): void {
    this.#waiting.push(start);
    this.#next();
  }

  #next(): void {
    while (this.#starting < (this.#waiting.length >= CROWD_FROM ? CROWD_LIMIT : LIMIT)) {
      const start = this.#waiting.shift();
      if (start === undefined) return;
      this.#start(start);
    }
  }

  #start(start: Start): void {
    this.#starting += 1;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(timer);
      this.#starting -= 1;
      this.#next();
    };
    const timer = setTimeout(release, MAX_HELD_MS);
    timer.unref();
    start(release);
  }
}
