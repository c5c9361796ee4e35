/** What targets saw: every request with its time. Our own counters may be wrong in the same way as what they count; this cannot. */
import type { NewMonitor } from "../../store/sql/monitors/port.ts";

/** A request that a target got. */
export interface Hit {
  /** Names the monitor: the path of its address. */
  readonly path: string;
  /** Unix ms. */
  readonly atMs: number;
}

export interface TargetsWord {
  /** Requests beyond one for each due time, and one for a turn that was made up for, by monitor and location. */
  readonly twice: number;
  /** Longest time without a request to a monitor of the general pool alone, beyond its interval, ms. */
  readonly poolGapMs: number;
  /** The same of monitors of one other location. */
  readonly gapMs: number;
}

const POOL = ["any"];

export function wordOfTargets(
  monitors: ReadonlyMap<number, Pick<NewMonitor, "intervalS" | "locations" | "settings">>,
  hits: readonly Hit[],
  fromMs: number,
  untilMs: number,
): TargetsWord {
  const times = new Map<string, number[]>();
  for (const { path, atMs } of hits) {
    const known = times.get(path);
    if (known === undefined) times.set(path, [atMs]);
    else known.push(atMs);
  }
  let twice = 0;
  const gaps = { pool: 0, other: 0 };
  for (const { intervalS, locations, settings } of monitors.values()) {
    const all = times.get(new URL(String(settings.url)).pathname) ?? [];
    const intervalMs = intervalS * 1_000;
    const within = all.filter((atMs) => atMs >= fromMs && atMs < untilMs);
    // A due time at each end, and the turn that was made up for.
    const most = locations.length * ((untilMs - fromMs) / intervalMs + 2);
    twice += Math.max(0, Math.ceil(within.length - most));
    if (locations.length > 1) continue;
    const gap = longestGap(all, fromMs - intervalMs, untilMs) - intervalMs;
    const group = String(locations) === String(POOL) ? "pool" : "other";
    gaps[group] = Math.max(gaps[group], Math.round(gap));
  }
  return { twice, poolGapMs: gaps.pool, gapMs: gaps.other };
}

function longestGap(times: readonly number[], fromMs: number, untilMs: number): number {
  const within = times.filter((atMs) => atMs >= fromMs && atMs < untilMs);
  const points = [fromMs, ...within, untilMs];
  return points.slice(1).reduce((longest, atMs, index) => Math.max(longest, atMs - (points[index] ?? atMs)), 0);
}
