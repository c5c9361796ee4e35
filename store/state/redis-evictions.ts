/**
 * Whether Redis deletes keys because it is full. Ours are counters, leases and streams of runs: without them checks are not run, and no command fails, so that
 * nothing else would say it.
 */
import type { Redis } from "ioredis";
import { StoreError } from "../errors.ts";

const LOOK_MS = 5_000;
/** So long after a look that found deleted keys it is reported, ms: health is looked at once a minute by many. */
const REPORTED_MS = 60_000;

export interface EvictionsOptions {
  /** Host and port. */
  readonly place: string;
  readonly run: <T>(work: (redis: Redis) => Promise<T>) => Promise<T>;
  /** Called at the start when it might delete keys, and when it begins to. */
  readonly onEvictions: (message: string) => void;
}

export interface Evictions {
  /** @throws StoreError when keys were deleted lately */
  refuse(): Promise<void>;
  stop(): void;
}

export function watchEvictions({ place, run, onEvictions }: EvictionsOptions): Evictions {
  let known: number | null = null;
  let foundAtMs = Number.NEGATIVE_INFINITY;
  const isReported = (): boolean => performance.now() - foundAtMs < REPORTED_MS;
  const look = async (): Promise<void> => {
    // One that is away is reported elsewhere, and a user may have no right to ask.
    const text = await run((redis) => redis.info()).catch(() => "");
    const evicted = Number(/^evicted_keys:(\d+)/m.exec(text)?.[1]);
    if (Number.isNaN(evicted)) return;
    const mayEvict = !/^maxmemory:0\r?$/m.test(text) && !/^maxmemory_policy:noeviction\r?$/m.test(text);
    if (known === null && mayEvict)
      onEvictions(`Redis at ${place} may delete what Sonde needs: set maxmemory-policy to noeviction`);
    if (known !== null && evicted > known) {
      if (!isReported()) onEvictions(messageAt(place));
      foundAtMs = performance.now();
    }
    known = evicted;
  };
  void look();
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return {
    async refuse() {
      await look();
      if (isReported()) throw new StoreError(messageAt(place), { store: "redis" });
    },
    stop: () => clearInterval(timer),
  };
}

function messageAt(place: string): string {
  return `Redis at ${place} is full and deletes what Sonde needs: raise maxmemory, and set maxmemory-policy to noeviction`;
}
