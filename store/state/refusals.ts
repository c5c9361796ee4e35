/**
 * Messages that were refused, by location: a location's key may have been stolen. They are counted, logged at a limited rate, and kept for
 * as long as the location counts as troubled. Time comes in.
 */

/** A location is named in the log this often at most, ms. */
const SAID_EVERY_MS = 60_000;
/** So many refused messages … */
const TROUBLED_FROM = 10;
/** … within this long call a location troubled; and for as long after the last one, ms. */
const TROUBLED_FOR_MS = 5 * 60_000;

export interface RefusalsOptions {
  readonly monotonicNowMs: () => number;
  /** @param count since it was last said */
  readonly say: (location: string, count: number, reason: string) => void;
}

export interface Refusals {
  add(location: string, count: number, reason: string): void;
  /** Since the start, by location. */
  readonly counts: ReadonlyMap<string, number>;
  /** Locations that have sent invalid messages repeatedly. */
  troubled(): readonly string[];
}

interface Known {
  unsaid: number;
  saidAtMs: number;
  recent: number;
  lastAtMs: number;
}

/** Locations are the operator's own, so there are few. */
export function createRefusals({ monotonicNowMs, say }: RefusalsOptions): Refusals {
  const counts = new Map<string, number>();
  const known = new Map<string, Known>();
  return {
    add(location, count, reason) {
      const nowMs = monotonicNowMs();
      counts.set(location, (counts.get(location) ?? 0) + count);
      const one = known.get(location) ?? { unsaid: 0, saidAtMs: Number.NEGATIVE_INFINITY, recent: 0, lastAtMs: nowMs };
      known.set(location, one);
      if (nowMs - one.lastAtMs > TROUBLED_FOR_MS) one.recent = 0;
      one.recent += count;
      one.lastAtMs = nowMs;
      one.unsaid += count;
      if (nowMs - one.saidAtMs < SAID_EVERY_MS) return;
      say(location, one.unsaid, reason);
      one.unsaid = 0;
      one.saidAtMs = nowMs;
    },
    counts,
    troubled() {
      const nowMs = monotonicNowMs();
      return [...known].flatMap(([location, { recent, lastAtMs }]) =>
        recent >= TROUBLED_FROM && nowMs - lastAtMs <= TROUBLED_FOR_MS ? [location] : [],
      );
    },
  };
}
