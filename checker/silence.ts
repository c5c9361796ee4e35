/**
 * Whether this checker's targets have fallen silent, which is the first sign of a cut of its own network: checks into a cut end with their
 * time-outs, many seconds later. Then the canaries are asked at once, so that other checkers have the work within 5 s. Pure; times are of one
 * monotonic clock, ms.
 */

/** Healthy targets answer within this, most of them. */
const SILENT_MS = 1_000;

/** A check that is under way. */
export interface AwaitedCheck {
  readonly begunAtMs: number;
  /** Its target was confirmed up, and answers in one step: a tunnel or a list takes longer. */
  readonly isPrompt: boolean;
}

export class Silence {
  #passedAtMs = Number.NEGATIVE_INFINITY;

  /** A check has passed. */
  passed(nowMs: number): void {
    this.#passedAtMs = nowMs;
  }

  /** @param underWay the one that was begun first comes first */
  isSuspicious(underWay: Iterable<AwaitedCheck>, nowMs: number): boolean {
    if (nowMs - this.#passedAtMs < SILENT_MS) return false;
    for (const { begunAtMs, isPrompt } of underWay) {
      if (nowMs - begunAtMs < SILENT_MS) return false;
      if (isPrompt) return true;
    }
    return false;
  }
}
