/**
 * Leases whose holder raises a beat: a right of one process, kept in a store. The holder raises the beat a few times in a lease time. Another
 * process takes the right when the beat has not changed for long enough by its own clock, so no two clocks are ever compared. Each
 * taking raises the epoch; every write that needs the right asserts the epoch, so a wrong belief costs a move and never a write.
 * Pure: times are arguments, all of one monotonic clock. docs/decisions/0011-leases.md says which rights are kept in this way.
 */

/** Within this after its last beat the rights of a process that stands still have another holder, ms. */
export const LEASE_MS = 30_000;
/** Beats of a holder within a lease time. */
export const BEATS_PER_LEASE = 10;

/** How often the holder raises its beat, ms. */
export function beatMs(leaseMs: number): number {
  return leaseMs / BEATS_PER_LEASE;
}

/** A beat as its row says. */
export interface Beat {
  /** Of the holder, or of the right. */
  readonly id: string;
  /** It is another value after every beat. */
  readonly beat: number | string;
}

interface SeenBeat {
  readonly beat: Beat["beat"];
  /** When it was first seen. */
  readonly sinceMs: number;
}

/** For how long beats have not changed, by the clock of the process that looks. */
export class BeatWatch {
  readonly #blindAfterMs: number;
  #seen = new Map<string, SeenBeat>();
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  /**
   * @param blindAfterMs looks further apart than this say nothing of the time between them: this process was frozen, or the store was away and
   * no holder was able to beat. Default: never.
   */
  constructor(blindAfterMs = Number.POSITIVE_INFINITY) {
    this.#blindAfterMs = blindAfterMs;
  }

  /** @param beats all that the store has now; a beat that is missing is forgotten */
  look(beats: readonly Beat[], nowMs: number): void {
    const wasBlind = nowMs - this.#lookedAtMs > this.#blindAfterMs;
    this.#lookedAtMs = nowMs;
    const seen = new Map<string, SeenBeat>();
    for (const { id, beat } of beats) {
      const before = this.#seen.get(id);
      const isSame = before !== undefined && before.beat === beat && !wasBlind;
      seen.set(id, isSame ? before : { beat, sinceMs: nowMs });
    }
    this.#seen = seen;
  }

  /** @returns since when the beat has not changed, ms; undefined when the last look did not show it */
  stillMs(id: string, nowMs: number): number | undefined {
    const seen = this.#seen.get(id);
    return seen === undefined ? undefined : nowMs - seen.sinceMs;
  }
}
