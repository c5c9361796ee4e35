/**
 * Which checks hold a prober's event loop: a first suspicion, cheap enough for every check. Checks name themselves when they begin, enter a
 * phase or end. When much of the thread's processor time passed between two such marks, either the one before still computed or
 * the one after had begun to: both are named. Who is innocent is measured alone (thread-budget.ts). Pure.
 */

/** Shorter stretches are not looked at, ms: what a busy prober spends on a burst. */
const STRETCH_MS = 50;
/** Processor time in such a stretch from which on it is somebody's doing, ms. */
const HELD_MS = 100;

export class LoopShare {
  readonly #cpuMs: () => number;
  #holds = new Map<number, number>();
  #lastKey = 0;
  #lastAtMs: number;
  /** When the thread's processor time was read last: at the last tick, so at most that much before the last mark. */
  #cpuThenMs: number;

  /** @param cpuMs processor time that this thread has spent, ms */
  constructor(nowMs: number, cpuMs: () => number) {
    this.#lastAtMs = nowMs;
    this.#cpuMs = cpuMs;
    this.#cpuThenMs = cpuMs();
  }

  /** A check of the spec begins, goes on or ends. */
  mark(specKey: number, nowMs: number): void {
    if (nowMs - this.#lastAtMs >= STRETCH_MS) this.#judge(specKey, nowMs);
    this.#lastKey = specKey;
    this.#lastAtMs = nowMs;
  }

  /** To be called often; @returns what was held since the last call, ms by spec; null: nothing */
  tick(nowMs: number): ReadonlyMap<number, number> | null {
    if (nowMs - this.#lastAtMs >= STRETCH_MS) this.#judge(0, nowMs);
    this.#lastKey = 0;
    this.#lastAtMs = nowMs;
    this.#cpuThenMs = this.#cpuMs();
    if (this.#holds.size === 0) return null;
    const holds = this.#holds;
    this.#holds = new Map();
    return holds;
  }

  #judge(specKey: number, nowMs: number): void {
    const cpuMs = this.#cpuMs();
    const heldMs = Math.min(nowMs - this.#lastAtMs, cpuMs - this.#cpuThenMs);
    this.#cpuThenMs = cpuMs;
    if (heldMs < HELD_MS) return;
    for (const key of new Set([this.#lastKey, specKey])) {
      if (key !== 0) this.#holds.set(key, (this.#holds.get(key) ?? 0) + heldMs);
    }
  }
}
