/** When the next batch of results is written. */

/** How long results wait for more of them, ms; docs/decisions/0002-one-check-one-way.md allows 1 s. */
const WAIT_MS = 250;
/** Results a second up to which batches are rare: each wakes four threads up, which costs an idle machine more than its rows do (docs/develop/cost.md). */
const FEW_PER_S = 4;
/** How long the first of few waits, ms: for those of the same moment. */
const FEW_WAIT_MS = 20;
/** From the begin of one batch of few to that of the next, ms. */
const FEW_APART_MS = 1_000;

export class BatchPace {
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #isFew = true;

  /** A batch begins. @param rows the results in it. @param nowMs on a monotonic clock */
  begin(rows: number, nowMs: number): void {
    this.#isFew = rows * 1_000 <= FEW_PER_S * (nowMs - this.#begunAtMs);
    this.#begunAtMs = nowMs;
  }

  /** @param isAwaited a caller waits for it. @returns how long a result that came now waits for its batch, ms */
  waitMs(isAwaited: boolean, nowMs: number): number {
    if (!this.#isFew) return WAIT_MS;
    return isAwaited ? FEW_WAIT_MS : Math.max(FEW_APART_MS - (nowMs - this.#begunAtMs), FEW_WAIT_MS);
  }
}
