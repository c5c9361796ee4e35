/**
 * Until when this process may begin checks. Others may take its shards when they have not seen its beat change for long enough
 * (model/shards.ts), and run its turns from then on. So it begins nothing when that may have happened: when it was frozen, or cannot reach
 * the database. Only its own clocks are read: a beat is seen after it was sent, so the others' time ends later than ours. The monotonic clock
 * stands still while a machine is suspended, and the wall clock may be set: the tenure ends by whichever says that more time has passed.
 */
import { tenureMs } from "../model/shards.ts";
import type { Clocks } from "./clock.ts";

/** A moment, by both clocks. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export class Tenure {
  readonly #leaseMs: number;
  readonly #clocks: Clocks;
  /** When the last beat that succeeded was begun; null: none has. */
  #renewedAt: Moment | null = null;
  /** No process could take the shards. */
  #isEndless: boolean;

  /** @param leaseMs of a shard; null: no other process can take the shards */
  constructor(leaseMs: number | null, clocks: Clocks) {
    this.#leaseMs = leaseMs ?? 0;
    this.#clocks = clocks;
    this.#isEndless = leaseMs === null;
  }

  /** To be asked before a beat is sent. */
  moment(): Moment {
    const { monotonicNowMs, wallNowMs } = this.#clocks;
    return { monotonicMs: monotonicNowMs(), wallMs: wallNowMs() };
  }

  /**
   * A beat has succeeded, and the shards were still ours after it.
   * @param sentAt when the beat was begun
   * @param isAlone no other scheduler was there that could take them: checks go on without the database
   */
  renew(sentAt: Moment, isAlone: boolean): void {
    this.#renewedAt = sentAt;
    this.#isEndless = isAlone;
  }

  /** Another scheduler has taken or freed shards, so this one is not alone. It may be the only one that cannot reach the database. */
  doubt(): void {
    if (this.#renewedAt !== null) this.#isEndless = false;
  }

  /** What is left of it, ms; 0 or less: nothing may begin. */
  get leftMs(): number {
    if (this.#isEndless) return Number.POSITIVE_INFINITY;
    if (this.#renewedAt === null) return Number.NEGATIVE_INFINITY;
    const { monotonicMs, wallMs } = this.#renewedAt;
    const now = this.moment();
    return tenureMs(this.#leaseMs) - Math.max(now.monotonicMs - monotonicMs, now.wallMs - wallMs);
  }

  get mayBegin(): boolean {
    return this.leftMs > 0;
  }
}
