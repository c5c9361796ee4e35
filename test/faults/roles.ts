/** Schedulers as processes of their own over real servers, and what became of every due time. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { shardOf } from "../../model/shards.ts";
import { phaseOf } from "../../scheduler/spread.ts";
import { type ControlPlane, type NewMonitor, SYSTEM_ACTOR } from "../../store/sql/control-plane.ts";
import type { ShardsView } from "../../store/sql/ports/shards.ts";
import { productEnv } from "../product.ts";
import { ended, eventually, temporaryFolder } from "../service.ts";
import type { TrueRow } from "./truth.ts";

const PROGRAM = fileURLToPath(new URL("../fixtures/scheduler-role.mjs", import.meta.url));

export interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly clickhouseUrl: string;
  readonly sealingKeyFile: string;
}

/** One scheduler, which may die and come back on the same folder. */
export interface SchedulerProcess {
  readonly name: string;
  start(): Promise<void>;
  /** SIGKILL, and the end. */
  kill(): Promise<void>;
  /** SIGTERM. @returns the exit code */
  stop(): Promise<number | null>;
  freeze(): void;
  thaw(): void;
  output(): string;
  pid(): number;
}

export function schedulerOf(name: string, servers: Servers, leaseMs: number, workers = 1): SchedulerProcess {
  const dataDir = join(temporaryFolder(), name);
  let child: ChildProcess | undefined;
  let output = "";
  const running = (): ChildProcess => {
    if (child === undefined) throw new Error(`${name} was not started`);
    return child;
  };
  return {
    name,
    async start() {
      const started = spawn(process.execPath, [PROGRAM, String(leaseMs), String(workers)], {
        env: {
          PATH: process.env.PATH ?? "",
          HOME: dataDir,
          ...productEnv(),
          SONDE_DATA_DIR: dataDir,
          SONDE_DATABASE_URL: servers.databaseUrl,
          SONDE_REDIS_URL: servers.redisUrl,
          SONDE_CLICKHOUSE_URL: servers.clickhouseUrl,
          SONDE_SEALING_KEY_FILE: servers.sealingKeyFile,
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      const from = output.length;
      for (const stream of [started.stdout, started.stderr]) {
        stream?.setEncoding("utf8").on("data", (chunk: string) => {
          output += chunk;
        });
      }
      await eventually(async () => {
        if (started.exitCode !== null) throw new Error(`${name} ended with ${started.exitCode}: ${output}`);
        return output.slice(from).includes("Sonde schedules") ? true : undefined;
      }, 60_000);
    },
    async kill() {
      const dying = running();
      await ended(dying, () => dying.kill("SIGKILL"));
    },
    stop() {
      const stopping = running();
      return ended(stopping, () => stopping.kill("SIGTERM"));
    },
    freeze: () => void running().kill("SIGSTOP"),
    thaw: () => void running().kill("SIGCONT"),
    output: () => output,
    pid: () => running().pid ?? 0,
  };
}

/** Monitors of websites on loopback. @returns them by id */
export async function createMonitors(
  plane: ControlPlane,
  given: { readonly projectId: number; readonly organizationId: number },
  count: number,
  intervalS: number,
  urlOf: (index: number) => string,
  locationsOf: (index: number) => readonly string[] = () => ["any"],
): Promise<ReadonlyMap<number, NewMonitor>> {
  const made = new Map<number, NewMonitor>();
  for (let index = 0; index < count; index += 1) {
    const monitor: NewMonitor = {
      ...given,
      name: `monitor ${index}`,
      kind: "http",
      settings: { url: urlOf(index) },
      intervalS,
      timeoutS: 10,
      maxRetries: 2,
      tags: [],
      pauseReasons: [],
      pausedAtMs: null,
      locations: locationsOf(index),
      disabledLocations: [],
      notifyOnPartial: false,
      host: "127.0.0.1",
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

/** How many shards each holder has; free ones under the empty name. */
export function holdersOf({ shards, schedulers }: ShardsView): ReadonlyMap<string, number> {
  const names = new Map(schedulers.map(({ id, name }) => [id, name]));
  const counts = new Map<string, number>();
  for (const { holder } of shards) {
    const name = holder === null ? "" : (names.get(holder) ?? "gone");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
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
  /** Missing ones by shard: what must have been counted there. */
  readonly missingByShard: ReadonlyMap<number, number>;
}

/** Rows say when they were due: their start without their lateness, which is in whole ms. */
const ROUNDING_MS = 20;

export function reckon(
  monitors: ReadonlyMap<number, Pick<NewMonitor, "intervalS" | "locations">>,
  rows: readonly TrueRow[],
  fromMs: number,
  untilMs: number,
  shards: number,
): Reckoning {
  const counts = new Map<string, number>();
  let latestMs = 0;
  for (const row of rows) {
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
  let due = 0;
  let missing = 0;
  const missingByShard = new Map<number, number>();
  for (const [id, { intervalS, locations }] of monitors) {
    for (const location of locations) {
      const intervalMs = intervalS * 1_000;
      const phaseMs = phaseOf(id, location, intervalMs);
      for (let turn = Math.ceil((fromMs - phaseMs) / intervalMs); turn * intervalMs + phaseMs < untilMs; turn += 1) {
        due += 1;
        if (counts.has(`${id} ${location} ${turn}`)) continue;
        missing += 1;
        const shard = shardOf(id, shards);
        missingByShard.set(shard, (missingByShard.get(shard) ?? 0) + 1);
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
