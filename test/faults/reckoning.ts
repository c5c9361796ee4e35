/** Monitors whose due times are known, and what became of each of them. */

import pg from "pg";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { MONITOR_DEFAULTS } from "../../model/monitor.ts";
import { shardOf } from "../../model/shards.ts";
import { phaseOf } from "../../scheduler/plan/phase.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { NewMonitor } from "../../store/sql/monitors/port.ts";
import { eventually } from "../service.ts";
import type { TrueRow } from "./truth.ts";

/** Monitors of websites. @returns them by id */
export async function createMonitors(
  plane: ControlPlane,
  owner: { readonly projectId: number; readonly organizationId: number },
  size: { readonly monitors: number; readonly intervalS: number; readonly timeoutS: number },
  urlOf: (index: number) => string,
  locationsOf: (index: number) => readonly string[] = () => ["any"],
): Promise<ReadonlyMap<number, NewMonitor>> {
  const made = new Map<number, NewMonitor>();
  for (let index = 0; index < size.monitors; index += 1) {
    const monitor: NewMonitor = {
      ...MONITOR_DEFAULTS,
      ...owner,
      name: `monitor ${index}`,
      kind: "http",
      settings: { url: urlOf(index) },
      intervalS: size.intervalS,
      timeoutS: size.timeoutS,
      maxRetries: 2,
      tags: [],
      pauseReasons: [],
      pausedAtMs: null,
      locations: locationsOf(index),
      disabledLocations: [],
      notifyOnPartial: false,
      host: new URL(urlOf(index)).hostname,
      sslExpirationDays: null,
      domainExpirationDays: null,
      graceS: null,
      subscriptionId: null,
      nowMs: Date.now(),
      heartbeatToken: null,
    };
    made.set((await plane.monitors.create(monitor, SYSTEM_ACTOR)).id, monitor);
  }
  return made;
}

/** What became of the due times of a stretch of time. */
export interface Reckoning {
  readonly due: number;
  /** Due times with a result. */
  readonly run: number;
  /** Due times without one. */
  readonly missing: number;
  /** Due times with more than one. */
  readonly doubled: number;
  readonly latestMs: number;
  /** By shard: what must have been counted there. */
  readonly missingByShard: ReadonlyMap<number, readonly MissingTurn[]>;
}

export interface MissingTurn {
  readonly monitorId: number;
  readonly location: string;
  readonly dueAtMs: number;
}

/** Rows say when they were due: their start without their lateness, which is in whole ms. */
const ROUNDING_MS = 20;
/** How many turns may pass, each counted, before the second look at one comes to its end. */
const MOST_TURNS_DOUBTED = 8;

export function reckon(
  monitors: ReadonlyMap<number, Pick<NewMonitor, "intervalS" | "locations">>,
  rows: readonly TrueRow[],
  fromMs: number,
  untilMs: number,
  shards: number,
): Reckoning {
  const counts = new Map<string, number>();
  let latestMs = 0;
  const secondLooks: TrueRow[] = [];
  for (const row of rows) {
    if (row.attempt > 1) {
      secondLooks.push(row);
      continue;
    }
    const monitor = monitors.get(Number(row.monitor_id));
    if (monitor === undefined) continue;
    const intervalMs = monitor.intervalS * 1_000;
    const phaseMs = phaseOf(Number(row.monitor_id), row.location, intervalMs);
    const turn = (Number(row.tested_at_ms) - row.lateness_ms - phaseMs) / intervalMs;
    // Off the phase are first checks and those that come sooner than the next turn.
    if (Math.abs(turn - Math.round(turn)) * intervalMs > ROUNDING_MS) continue;
    const dueAtMs = Math.round(turn) * intervalMs + phaseMs;
    if (dueAtMs < fromMs || dueAtMs >= untilMs) continue;
    latestMs = Math.max(latestMs, row.lateness_ms);
    const key = `${row.monitor_id} ${row.location} ${Math.round(turn)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  // A second look is due when there is room for it, and what it found is the result of the turn that was doubted.
  for (const row of secondLooks) {
    const monitor = monitors.get(Number(row.monitor_id));
    if (monitor === undefined) continue;
    const intervalMs = monitor.intervalS * 1_000;
    const phaseMs = phaseOf(Number(row.monitor_id), row.location, intervalMs);
    const last = Math.floor((Number(row.tested_at_ms) - phaseMs) / intervalMs);
    const turns = Array.from({ length: MOST_TURNS_DOUBTED }, (_, back) => last - back);
    const turn = turns.find((one) => !counts.has(`${row.monitor_id} ${row.location} ${one}`));
    if (turn !== undefined) counts.set(`${row.monitor_id} ${row.location} ${turn}`, 1);
  }
  let due = 0;
  let missing = 0;
  const missingByShard = new Map<number, MissingTurn[]>();
  for (const [id, { intervalS, locations }] of monitors) {
    for (const location of locations) {
      const intervalMs = intervalS * 1_000;
      const phaseMs = phaseOf(id, location, intervalMs);
      for (let turn = Math.ceil((fromMs - phaseMs) / intervalMs); turn * intervalMs + phaseMs < untilMs; turn += 1) {
        due += 1;
        if (counts.has(`${id} ${location} ${turn}`)) continue;
        missing += 1;
        const shard = shardOf(id, shards);
        const turns = missingByShard.get(shard) ?? [];
        missingByShard.set(shard, turns);
        turns.push({ monitorId: id, location, dueAtMs: turn * intervalMs + phaseMs });
      }
    }
  }
  const doubled = [...counts.values()].filter((count) => count > 1).length;
  return { due, run: due - missing, missing, doubled, latestMs, missingByShard };
}

/** The database's own word on whether it answers again. */
export async function untilDatabaseAnswers(url: string): Promise<void> {
  await eventually(async () => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      return true;
    } catch {
      return undefined;
    } finally {
      await client.end().catch(() => {});
    }
  });
}
