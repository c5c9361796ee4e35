/**
 * What targets saw: every request with its time, and which due time each of them belongs to. Our own counters may be wrong in the same way as
 * what they count; this cannot.
 */
import { phaseOf } from "../../scheduler/plan/phase.ts";
import type { NewMonitor } from "../../store/sql/monitors/port.ts";
import type { TrueRow } from "./truth.ts";

/** A request that a target got. */
export interface Hit {
  /** Names the monitor: the path of its address. */
  readonly path: string;
  /** Unix ms. */
  readonly atMs: number;
}

interface GroupWord {
  /** Due times of the stretch, and those of them that have a request. */
  readonly due: number;
  readonly asked: number;
  /** Longest time without a request to a monitor of one location, beyond its interval, ms. */
  readonly gapMs: number;
}

export interface TargetsWord {
  /** Requests that no due time is left for, less those of `again`. */
  readonly twice: number;
  /**
   * Due times that were asked on time, and once more, late, by the scheduler that took the shard: the first one could not write its result, so
   * the second one did not know of it.
   */
  readonly again: number;
  /** Monitors of the general pool alone. */
  readonly pool: GroupWord;
  /** All others. */
  readonly other: GroupWord;
}

type Planned = Pick<NewMonitor, "intervalS" | "locations" | "settings">;

const POOL = ["any"];
/** Our clock and that of the phases are one, read at two places; ms. */
const EARLY_MS = 20;
/** On a machine that is busy. */
const ON_TIME_MS = 300;
/** A due time has its request within so many intervals: one that was missed is made up for until the next one is due, and machines are busy. */
const LATEST_INTERVALS = 2;
/** A request reaches its target within this after its check began, ms: the machine is busy. */
const ON_THE_WAY_MS = 200;

/** A stored result, as far as it says when its check was due. */
type Begun = Pick<TrueRow, "monitor_id" | "tested_at_ms" | "lateness_ms">;

/** @param rows what was stored; they say only which requests were late */
export function wordOfTargets(
  monitors: ReadonlyMap<number, Planned>,
  hits: readonly Hit[],
  rows: readonly Begun[],
  fromMs: number,
  untilMs: number,
): TargetsWord {
  const times = timesByPath(hits);
  const late = rows.filter(({ lateness_ms: ms }) => ms > ON_TIME_MS);
  let twice = 0;
  let again = 0;
  const groups = { pool: { due: 0, asked: 0, gapMs: 0 }, other: { due: 0, asked: 0, gapMs: 0 } };
  for (const [id, monitor] of monitors) {
    const intervalMs = monitor.intervalS * 1_000;
    const all = times.get(pathOf(monitor)) ?? [];
    // Those before it explain the first requests of the stretch.
    const marginMs = LATEST_INTERVALS * intervalMs;
    const due = dueTimes(id, monitor, fromMs - marginMs, untilMs);
    const madeUp = requestsOf(
      late.filter((row) => Number(row.monitor_id) === id),
      all,
    );
    const taken = match(due, all, madeUp, marginMs);
    const group = groups[String(monitor.locations) === String(POOL) ? "pool" : "other"];
    for (const [index, dueAtMs] of due.entries()) {
      if (dueAtMs < fromMs) continue;
      group.due += 1;
      if (taken.due.has(index)) group.asked += 1;
    }
    for (const [index, atMs] of all.entries()) {
      if (atMs < fromMs || atMs >= untilMs || taken.hits.has(index)) continue;
      if (madeUp.has(index)) again += 1;
      else twice += 1;
    }
    if (monitor.locations.length > 1) continue;
    const gapMs = longestGap(all, fromMs - intervalMs, untilMs) - intervalMs;
    group.gapMs = Math.max(group.gapMs, Math.round(gapMs));
  }
  return { twice, again, ...groups };
}

/** Requests to one monitor within a stretch. */
export function hitsWithin(monitor: Planned, hits: readonly Hit[], fromMs: number, untilMs: number): readonly Hit[] {
  const path = pathOf(monitor);
  return hits.filter((hit) => hit.path === path && hit.atMs >= fromMs && hit.atMs < untilMs);
}

function timesByPath(hits: readonly Hit[]): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const { path, atMs } of hits) {
    const known = times.get(path);
    if (known === undefined) times.set(path, [atMs]);
    else known.push(atMs);
  }
  return times;
}

function pathOf({ settings }: Planned): string {
  return new URL(String(settings.url)).pathname;
}

/** Of all its locations, in order. */
function dueTimes(id: number, { intervalS, locations }: Planned, fromMs: number, untilMs: number): readonly number[] {
  const intervalMs = intervalS * 1_000;
  const due: number[] = [];
  for (const location of locations) {
    const phaseMs = phaseOf(id, location, intervalMs);
    const first = Math.ceil((fromMs - phaseMs) / intervalMs) * intervalMs + phaseMs;
    for (let atMs = first; atMs < untilMs; atMs += intervalMs) due.push(atMs);
  }
  return due.sort((a, b) => a - b);
}

interface Matched {
  /** Indices of due times that have a request, and of requests that have a due time. */
  readonly due: ReadonlySet<number>;
  readonly hits: ReadonlySet<number>;
}

/** @returns indices of the requests of checks that were late: for each the first that has no other, after its check began */
function requestsOf(late: readonly Begun[], hits: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { tested_at_ms: beganAt } of late) {
    const sinceMs = Number(beganAt) - EARLY_MS;
    const index = hits.findIndex((atMs, at) => !found.has(at) && atMs >= sinceMs);
    if (index >= 0 && (hits[index] ?? 0) <= sinceMs + ON_THE_WAY_MS) found.add(index);
  }
  return found;
}

/**
 * A due time has the first request that is on time for it. What is left after that was made up for: it goes to the earliest due time that is left
 * and not too long ago. So a due time that was missed hides one request beyond one for each, and not all that follow.
 */
function match(
  due: readonly number[],
  hits: readonly number[],
  madeUp: ReadonlySet<number>,
  latestMs: number,
): Matched {
  const taken = { due: new Set<number>(), hits: new Set<number>() };
  const pass = (withinMs: number, except: ReadonlySet<number>): void => {
    let next = 0;
    for (const [index, atMs] of hits.entries()) {
      if (taken.hits.has(index) || except.has(index)) continue;
      while (next < due.length && (taken.due.has(next) || (due[next] ?? 0) < atMs - withinMs)) next += 1;
      if ((due[next] ?? Number.POSITIVE_INFINITY) > atMs + EARLY_MS) continue;
      taken.due.add(next);
      taken.hits.add(index);
    }
  };
  pass(ON_TIME_MS, madeUp);
  pass(latestMs, new Set());
  return taken;
}

function longestGap(times: readonly number[], fromMs: number, untilMs: number): number {
  const within = times.filter((atMs) => atMs >= fromMs && atMs < untilMs);
  const points = [fromMs, ...within, untilMs];
  return points.slice(1).reduce((longest, atMs, index) => Math.max(longest, atMs - (points[index] ?? atMs)), 0);
}
