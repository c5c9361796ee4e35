/** The overview of a project as columns: a value of each monitor in one place of every column, which is a third of the bytes of rows. Pure. */
import type { Kind } from "../../model/kind.ts";
import { MAINTENANCE_LETTER, STATUS_LETTERS, type StatusLetter } from "../../model/letters.ts";
import { isInMaintenance } from "../../model/monitor.ts";
import { percentileOf } from "../../model/percentile.ts";
import type { OverviewMonitor, OverviewState } from "../../store/sql/monitors/overview-port.ts";

interface NamedSubscription {
  readonly id: number;
  readonly name: string | null;
}

/** What stays while no monitor is changed. */
export interface FixedColumns {
  readonly kinds: readonly Kind[];
  readonly tags: readonly string[];
  readonly subscriptions: readonly NamedSubscription[];
  readonly ids: readonly number[];
  readonly names: readonly string[];
  readonly intervalS: readonly number[];
  /** Places in `kinds`. */
  readonly kind: readonly number[];
  /** Places in `tags`. */
  readonly tag: readonly (readonly number[])[];
  /** Places in `subscriptions`. */
  readonly subscription: readonly (number | null)[];
}

export function fixedColumns(
  monitors: readonly OverviewMonitor[],
  subscriptions: readonly NamedSubscription[],
): FixedColumns {
  const kinds = placesOf(monitors.map((monitor) => monitor.kind));
  const tags = placesOf(monitors.flatMap((monitor) => monitor.tags).sort());
  const followed = placesOf(subscriptions.map(({ id }) => id));
  return {
    kinds: [...kinds.keys()],
    tags: [...tags.keys()],
    subscriptions,
    ids: monitors.map(({ id }) => id),
    names: monitors.map(({ name }) => name),
    intervalS: monitors.map(({ intervalS }) => intervalS),
    kind: monitors.map((monitor) => kinds.get(monitor.kind) ?? 0),
    tag: monitors.map((monitor) => monitor.tags.map((tag) => tags.get(tag) ?? 0)),
    subscription: monitors.map(({ subscriptionId }) =>
      subscriptionId === null ? null : (followed.get(subscriptionId) ?? null),
    ),
  };
}

/** Each value once, in the order in which they came, with its place. */
function placesOf<Value>(values: readonly Value[]): ReadonlyMap<Value, number> {
  const places = new Map<Value, number>();
  for (const value of values) if (!places.has(value)) places.set(value, places.size);
  return places;
}

export type StatusCounts = Readonly<Record<keyof typeof STATUS_LETTERS | "maintenance", number>>;

/** What checks move. */
export interface LiveColumns {
  readonly counts: StatusCounts;
  /** A letter for each monitor (letters.ts). */
  readonly status: string;
  readonly latencyMs: readonly (number | null)[];
  /** Whole seconds since the latest check. */
  readonly checkedS: readonly (number | null)[];
  /** Whole seconds since the status is what it is. */
  readonly sinceS: readonly (number | null)[];
  /** 99th percentile of how late the latest checks of active monitors began, ms; null without any. */
  readonly lateP99Ms: number | null;
}

const NEVER_CHECKED = {
  status: "unknown",
  statusSinceMs: null,
  lastCheckedAtMs: null,
  latencyMs: null,
  latenessMs: null,
} as const;

/** @param states by monitor @param nowMs Unix ms */
export function liveColumns(
  monitors: readonly OverviewMonitor[],
  states: ReadonlyMap<number, OverviewState>,
  nowMs: number,
): LiveColumns {
  const counts = { healthy: 0, down: 0, degraded: 0, partial: 0, paused: 0, unknown: 0, maintenance: 0 };
  const letters: string[] = [];
  const latencyMs: (number | null)[] = [];
  const checkedS: (number | null)[] = [];
  const sinceS: (number | null)[] = [];
  const late: number[] = [];
  for (const monitor of monitors) {
    const state = states.get(monitor.id) ?? NEVER_CHECKED;
    const word = wordOf(monitor, state, nowMs);
    counts[word] += 1;
    letters.push(letterOf(word));
    latencyMs.push(state.latencyMs === null ? null : Math.round(state.latencyMs));
    checkedS.push(secondsSince(state.lastCheckedAtMs, nowMs));
    sinceS.push(secondsSince(monitor.isPaused ? monitor.pausedAtMs : state.statusSinceMs, nowMs));
    if (!monitor.isPaused && state.latenessMs !== null) late.push(state.latenessMs);
  }
  const p99 = percentileOf(late, 0.99);
  return {
    counts,
    status: letters.join(""),
    latencyMs,
    checkedS,
    sinceS,
    lateP99Ms: p99 === null ? null : Math.round(p99),
  };
}

/** Paused wins over maintenance. */
export function wordOf(
  monitor: Pick<OverviewMonitor, "isPaused" | "maintenance">,
  state: Pick<OverviewState, "status">,
  nowMs: number,
): keyof StatusCounts {
  if (monitor.isPaused) return "paused";
  return isInMaintenance(monitor, nowMs) ? "maintenance" : state.status;
}

function letterOf(word: keyof StatusCounts): StatusLetter {
  return word === "maintenance" ? MAINTENANCE_LETTER : STATUS_LETTERS[word];
}

function secondsSince(atMs: number | null, nowMs: number): number | null {
  return atMs === null ? null : Math.max(0, Math.floor((nowMs - atMs) / 1_000));
}
