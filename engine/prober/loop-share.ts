/**
 * Which checks may hold a prober's event loop: a first suspicion, cheap enough for every check. A check sets a mark when it begins, enters a
 * phase or ends. When much of the thread's processor time passed between two marks, either the check of the first mark still computed or
 * the check of the second had already begun: both are suspected. A run alone then shows which one it is (thread-budget.ts). Pure.
 */

/** Shorter stretches are ignored, ms: a busy prober spends as much on a burst. */
const STRETCH_MS = 50;
/** Processor time in such a stretch from which on a check is suspected, ms. */
const HELD_MS = 100;

export class LoopShare {
  readonly #cpuMs: () => number;
  readonly #report: (holds: ReadonlyMap<number, number>) => void;
  #lastKey = 0;
  #lastAtMs: number;
  /** When the thread's processor time was read last: at the last tick, so at most that much before the last mark. */
  #cpuThenMs: number;

  /**
   * @param cpuMs processor time that this thread has spent, ms
   * @param report called at once with what was held, ms by spec: the thread may not live until its loop turns again
   */
  constructor(nowMs: number, cpuMs: () => number, report: (holds: ReadonlyMap<number, number>) => void) {
    this.#report = report;
    this.#lastAtMs = nowMs;
    this.#cpuMs = cpuMs;
    this.#cpuThenMs = cpuMs();
  }

  /** A check of the spec begins, goes on or ends. @returns whether the last mark is long ago */
  mark(specKey: number, nowMs: number): boolean {
    const isLong = nowMs - this.#lastAtMs >= STRETCH_MS;
    if (isLong) this.#judge(specKey, nowMs);
    this.#lastKey = specKey;
    this.#lastAtMs = nowMs;
    return isLong;
  }

  /** The loop turns; to be called often. */
  tick(nowMs: number): void {
    this.mark(0, nowMs);
    this.#cpuThenMs = this.#cpuMs();
  }

  #judge(specKey: number, nowMs: number): void {
    const cpuMs = this.#cpuMs();
    const heldMs = Math.min(nowMs - this.#lastAtMs, cpuMs - this.#cpuThenMs);
    this.#cpuThenMs = cpuMs;
    if (heldMs < HELD_MS) return;
    const holds = new Map<number, number>();
    for (const key of [this.#lastKey, specKey]) if (key !== 0) holds.set(key, heldMs);
    if (holds.size > 0) this.#report(holds);
  }
}
