/**
 * The states of a monitor over time, by day and over longer stretches: down, degraded, in maintenance, paused, not watched. Made of
 * incidents, not from results, because results are thinned (retention.ts). Pure.
 */
import type { Span } from "./uptime.ts";

export const DAY_MS = 86_400_000;

/** What is known of a monitor's past. */
export interface Past {
  /** They do not overlap. */
  readonly incidents: readonly PastIncident[];
  /** Newest first. */
  readonly pauseEvents: readonly { readonly type: "paused" | "resumed"; readonly atMs: number }[];
  /** They may overlap. */
  readonly maintenance: readonly Span[];
  /** Unix ms; before it nothing was watched, or nothing is known. */
  readonly knownFromMs: number;
}

interface PastIncident extends Span {
  /** When it became an outage; null: it is degraded alone. */
  readonly downFromMs: number | null;
}

/** A UTC day, or the part of it that has passed. */
interface DayOfMonitor {
  /** Midnight, Unix ms. */
  readonly fromMs: number;
  readonly downS: number;
  readonly degradedS: number;
  readonly maintenanceS: number;
  readonly pausedS: number;
  readonly unwatchedS: number;
  /** That were open in it, whenever they began. */
  readonly incidents: number;
}

/** The first of them that holds is what the time counts as. */
const STATES = ["unwatched", "paused", "maintenance", "down", "degraded"] as const;
type State = (typeof STATES)[number] | "up";
type Times = Record<State, number>;

/**
 * @param days the last of them is the day of `nowMs`
 * @returns oldest first
 */
export function daysOf(past: Past, days: number, nowMs: number): readonly DayOfMonitor[] {
  const today = Math.floor(nowMs / DAY_MS);
  const first = today - days + 1;
  const times = Array.from({ length: days }, noTimes);
  walk(past, first * DAY_MS, nowMs, (fromMs, toMs, state) => {
    for (let day = Math.floor(fromMs / DAY_MS); day * DAY_MS < toMs; day += 1) {
      const spent = times[day - first];
      if (spent !== undefined) spent[state] += Math.min(toMs, (day + 1) * DAY_MS) - Math.max(fromMs, day * DAY_MS);
    }
  });
  return times.map((spent, index) => {
    const fromMs = (first + index) * DAY_MS;
    const untilMs = Math.min(fromMs + DAY_MS, nowMs);
    const incidents = past.incidents.filter((one) => one.fromMs < untilMs && (one.toMs ?? nowMs) >= fromMs).length;
    return {
      fromMs,
      downS: seconds(spent.down),
      degradedS: seconds(spent.degraded),
      maintenanceS: seconds(spent.maintenance),
      pausedS: seconds(spent.paused),
      unwatchedS: seconds(spent.unwatched),
      incidents,
    };
  });
}

/**
 * Percent of the watched time that was not down, to three decimals. Pauses and maintenance are not watched.
 * @param lengthMs of the stretch that ends now
 * @returns null when nothing was watched
 */
export function uptimeOf(past: Past, lengthMs: number, nowMs: number): number | null {
  const spent = noTimes();
  walk(past, nowMs - lengthMs, nowMs, (fromMs, toMs, state) => {
    spent[state] += toMs - fromMs;
  });
  const watchedMs = spent.up + spent.down + spent.degraded;
  return watchedMs === 0 ? null : Math.round((1 - spent.down / watchedMs) * 100_000) / 1_000;
}

function noTimes(): Times {
  return { unwatched: 0, paused: 0, maintenance: 0, down: 0, degraded: 0, up: 0 };
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}

/** Calls back with the stretches of one state each, oldest first, without gaps. */
function walk(past: Past, fromMs: number, toMs: number, tell: (fromMs: number, toMs: number, state: State) => void) {
  const edges: { readonly atMs: number; readonly state: State; readonly by: 1 | -1 }[] = [];
  for (const { fromMs: beganMs, toMs: endedMs, state } of spansOf(past)) {
    const [start, end] = [Math.max(beganMs, fromMs), Math.min(endedMs ?? toMs, toMs)];
    if (start >= end) continue;
    edges.push({ atMs: start, state, by: 1 }, { atMs: end, state, by: -1 });
  }
  edges.sort((one, other) => one.atMs - other.atMs);
  const open = noTimes();
  let atMs = fromMs;
  for (const edge of edges) {
    if (edge.atMs > atMs) tell(atMs, edge.atMs, stateOf(open));
    atMs = edge.atMs;
    open[edge.state] += edge.by;
  }
  if (toMs > atMs) tell(atMs, toMs, stateOf(open));
}

function stateOf(open: Times): State {
  return STATES.find((state) => open[state] > 0) ?? "up";
}

function spansOf({
  incidents,
  pauseEvents,
  maintenance,
  knownFromMs,
}: Past): readonly (Span & { readonly state: State })[] {
  return [
    { fromMs: Number.NEGATIVE_INFINITY, toMs: knownFromMs, state: "unwatched" },
    ...pausesOf(pauseEvents).map((span) => ({ ...span, state: "paused" as const })),
    ...maintenance.map((span) => ({ ...span, state: "maintenance" as const })),
    ...incidents.map(({ fromMs, downFromMs, toMs }) => ({
      fromMs,
      toMs: downFromMs ?? toMs,
      state: "degraded" as const,
    })),
    ...incidents.flatMap(({ downFromMs, toMs }) =>
      downFromMs === null ? [] : [{ fromMs: downFromMs, toMs, state: "down" as const }],
    ),
  ];
}

/** The oldest event says what was before it. */
function pausesOf(pauseEvents: Past["pauseEvents"]): readonly Span[] {
  const pauses: Span[] = [];
  let beganMs: number | null = pauseEvents.at(-1)?.type === "resumed" ? Number.NEGATIVE_INFINITY : null;
  for (const { type, atMs } of pauseEvents.toReversed()) {
    if (type === "paused") beganMs ??= atMs;
    else if (beganMs !== null) {
      pauses.push({ fromMs: beganMs, toMs: atMs });
      beganMs = null;
    }
  }
  if (beganMs !== null) pauses.push({ fromMs: beganMs, toMs: null });
  return pauses;
}
