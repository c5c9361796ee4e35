/**
 * Whether Redis is away, judged by its answers: a connection may be open and silent. Time during which this process stood still says
 * nothing about Redis, so silence is counted in looks. Pure.
 */

/** Without a word for this long Redis is silent, ms: a read waits for 1 s at most (store/state/redis-outcomes.ts). */
const SILENT_AFTER_MS = 2_000;
/** So many looks in a row must find it silent. */
const SILENT_LOOKS = 4;

export class RedisSilence {
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #silentLooks = 0;

  /** Redis has answered. */
  heard(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#silentLooks = 0;
  }

  /** To be called a few times a second. */
  look(nowMs: number): void {
    this.#silentLooks = nowMs - this.#heardAtMs > SILENT_AFTER_MS ? this.#silentLooks + 1 : 0;
  }

  get isAway(): boolean {
    return this.#silentLooks >= SILENT_LOOKS;
  }
}
