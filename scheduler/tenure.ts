/**
 * Until when this process may begin checks. Others may take its shards when they have not seen its beat change for long enough
 * (model/shards.ts), and run its turns from then on. So it begins nothing when that may have happened: when it was frozen, or cannot reach
 * the database. Only its own clock is read: a beat is seen after it was sent, so the others' time ends later than ours.
 */
import { tenureMs } from "../model/shards.ts";

export class Tenure {
  readonly #leaseMs: number;
  readonly #nowMs: () => number;
  #endsAtMs: number;

  /**
   * @param leaseMs of a shard; null: no other process can take the shards
   * @param nowMs monotonic
   */
  constructor(leaseMs: number | null, nowMs: () => number) {
    this.#leaseMs = leaseMs ?? 0;
    this.#nowMs = nowMs;
    this.#endsAtMs = leaseMs === null ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /**
   * A beat has succeeded, and the shards were still ours after it.
   * @param sentAtMs when the beat was begun
   * @param isAlone no other scheduler was there that could take them: checks go on without the database
   */
  renew(sentAtMs: number, isAlone: boolean): void {
    this.#endsAtMs = isAlone ? Number.POSITIVE_INFINITY : sentAtMs + tenureMs(this.#leaseMs);
  }

  /** What is left of it, ms; 0 or less: nothing may begin. */
  get leftMs(): number {
    return this.#endsAtMs - this.#nowMs();
  }

  get mayBegin(): boolean {
    return this.leftMs > 0;
  }
}
