/**
 * Shards: monitors are divided among schedulers by a hash of their ids. Each scheduler decides by itself, from the beats that it sees, which
 * shards it takes. Shards are leases (lease.ts) that go with their holder's beat.
 */

import { BEATS_PER_LEASE, type Beat, BeatWatch, beatMs, LEASE_MS } from "./lease.ts";

/**
 * Within this after its last beat the shards of a scheduler that stands still have another holder, ms. Longer than a pause of 3 s with all that
 * is added to it: see PresenceWatch. Shorter than other leases, because turns wait for it.
 */
export const SHARD_LEASE_MS = 8_000;

/** 2^16 divided by the golden ratio, odd: neighbouring ids land far apart (Knuth, TAOCP 3, section 6.4). */
export const SHARD_FACTOR = 40_503;
export const SHARD_RANGE = 65_536;

/** Which of `count` shards a monitor belongs to. store/sql/coordination/shard-filter.ts reckons the same in SQL: change both or neither. */
export function shardOf(monitorId: number, count: number): number {
  return Math.floor((((monitorId * SHARD_FACTOR) % SHARD_RANGE) * count) / SHARD_RANGE);
}

/** A shard as its row says. */
export interface ShardClaim {
  readonly shard: number;
  /** null: free. */
  readonly holder: string | null;
}

/** How a scheduler looks to another, by that one's own clock. */
export type Presence =
  /** It beat a moment ago: it gets its share. */
  | "present"
  /** It has not beaten for a while: nothing is taken from it, nothing is kept for it. */
  | "quiet"
  /** It stood still for so long that its shards may be taken: they have another holder within a lease time of its last beat. */
  | "dead";

export interface ShardMoves {
  readonly take: readonly number[];
  readonly giveBack: readonly number[];
}

/** What one scheduler may hold, so that all find a place: ceil(shards / present schedulers). */
export function fairShare(shards: number, present: number): number {
  return Math.ceil(shards / Math.max(1, present));
}

/**
 * The next step of one scheduler. It takes free shards and those of a dead scheduler up to its share, and gives back the rest.
 * @param presence of each scheduler that has a row; one without is dead
 */
export function decideShards(
  me: string,
  claims: readonly ShardClaim[],
  presence: ReadonlyMap<string, Presence>,
): ShardMoves {
  const isPresent = (id: string): boolean => id === me || presence.get(id) === "present";
  const present = new Set([me, ...presence.keys()].filter(isPresent));
  const share = fairShare(claims.length, present.size);
  const mine = claims.filter(({ holder }) => holder === me).map(({ shard }) => shard);
  if (mine.length > share) return { take: [], giveBack: mine.slice(share) };
  const free = claims.filter(({ holder }) => holder === null || (presence.get(holder) ?? "dead") === "dead");
  const takeable = free.filter(({ holder }) => holder !== me).map(({ shard }) => shard);
  return { take: takeable.slice(0, share - mine.length), giveBack: [] };
}

/** Beats that may be missing before a scheduler's share is no longer kept for it. */
const QUIET_BEATS = 3;
/**
 * Beats that may be missing before a scheduler counts as dead. Two less than a lease time has: its last beat was seen up to one beat later, and
 * the look that finds it dead may be another one late.
 */
const DEAD_BEATS = BEATS_PER_LEASE - 2;
/**
 * For so many beats after it began its last one a scheduler begins checks. One less than DEAD_BEATS: what was decided at the last moment has
 * begun before others take the shard.
 */
const TENURE_BEATS = DEAD_BEATS - 1;
/** Looks that are further apart, in beats, say nothing of the time between them. */
const BLIND_BEATS = 3;

/** How long a scheduler may begin checks after it began a beat that succeeded, ms. */
export function tenureMs(leaseMs: number): number {
  return TENURE_BEATS * beatMs(leaseMs);
}

/** A scheduler's beat. */
export interface SchedulerBeat extends Beat {
  /** How often it beats, ms, as it says itself; absent from one of an older version. */
  readonly beatMs?: number | undefined;
}

/**
 * How the schedulers look to one of them. A scheduler that pauses for p is seen to stand still for p and two beats at most, its own and the one
 * of the look, and counts as dead after DEAD_BEATS: of 8 s of lease that leaves a pause of 3 s another 1.8 s.
 */
export class PresenceWatch {
  readonly #beats: BeatWatch;

  /** @param leaseMs of the scheduler that looks: it looks with each of its beats */
  constructor(leaseMs: number) {
    this.#beats = new BeatWatch(BLIND_BEATS * beatMs(leaseMs));
  }

  /** @param beats of all schedulers that have a row */
  look(beats: readonly SchedulerBeat[], nowMs: number): ReadonlyMap<string, Presence> {
    this.#beats.look(beats, nowMs);
    return new Map(
      beats.map(({ id, beatMs: ownMs }) => {
        const stillBeats = (this.#beats.stillMs(id, nowMs) ?? 0) / (ownMs ?? beatMs(LEASE_MS));
        return [id, presenceAfter(stillBeats)];
      }),
    );
  }
}

function presenceAfter(stillBeats: number): Presence {
  if (stillBeats >= DEAD_BEATS) return "dead";
  return stillBeats >= QUIET_BEATS ? "quiet" : "present";
}
