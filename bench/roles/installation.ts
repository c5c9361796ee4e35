/** Roles as processes of their own on stores that they share, seen by the bench as one service. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { proportionalMiBOf, type TreeUse, useOf } from "../process-tree.ts";
import {
  API_BANNER,
  type RunningSonde,
  reached,
  SONDE,
  type SondeProcess,
  settingsUnderTest,
  startSonde,
} from "../uptime/service.ts";

export interface StoreUrls {
  readonly SONDE_DATABASE_URL: string;
  readonly SONDE_REDIS_URL: string;
  readonly SONDE_CLICKHOUSE_URL: string;
}

export interface Installation extends RunningSonde {
  /** Of each role by itself. */
  readonly uses: () => Readonly<Record<string, TreeUse>>;
}

/** What `sonde admin location add` answers. */
interface LocationFacts {
  readonly key_file: string;
  readonly redis_url: string;
  readonly acl: string;
}

/** Processes of each role. */
export interface RoleCounts {
  readonly apis: number;
  readonly schedulers: number;
  readonly checkers: number;
}

interface RolesOrder {
  readonly stores: StoreUrls;
  readonly sealingKeyFile: string;
  readonly allowNets: string;
  readonly counts: RoleCounts;
  readonly nodeArgs: readonly string[];
}

/** APIs, schedulers and checkers of the general pool, each checker with one prober thread. The bench asks the first API. */
export async function startRoles(order: RolesOrder): Promise<Installation> {
  const { stores, sealingKeyFile, allowNets, counts, nodeArgs } = order;
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const common = settingsUnderTest(folder, allowNets);
  const settings = { ...common, ...stores, SONDE_SEALING_KEY_FILE: sealingKeyFile };
  const processes = new Map<string, SondeProcess>();
  const stop = async (): Promise<void> => {
    for (const one of [...processes.values()].reverse()) await one.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const start = async (name: string, words: readonly string[], env: Env, banner: RegExp): Promise<SondeProcess> => {
      const started = await startSonde(words, { ...env, SONDE_DATA_DIR: join(folder, name) }, banner, nodeArgs);
      processes.set(name, started);
      return started;
    };
    const apis: SondeProcess[] = [];
    for (const name of named("api", counts.apis)) {
      apis.push(await start(name, ["api"], { ...settings, SONDE_PORT: "0" }, API_BANNER));
    }
    const facts = await addLocation({ ...settings, SONDE_DATA_DIR: join(folder, "admin") }, stores.SONDE_REDIS_URL);
    const metricsPorts: string[] = [];
    for (const name of named("scheduler", counts.schedulers)) {
      const words = ["scheduler", "--metrics", "127.0.0.1:0"];
      metricsPorts.push((await start(name, words, settings, /metrics on port (\d+)/)).banner[1] ?? "");
    }
    for (const name of named("checker", counts.checkers)) {
      const dir = join(folder, name);
      mkdirSync(dir, { mode: 0o700 });
      writeFileSync(join(dir, "location-any.key"), facts.key_file, { mode: 0o600 });
      const env = { ...common, SONDE_REDIS_URL: facts.redis_url, SONDE_WORKERS: "1" };
      await start(name, ["checker", "--location", "any", "--name", name], env, /Sonde checks from/);
    }
    const [api] = apis;
    if (api === undefined) throw new Error("there must be one API at least");
    const uses = () => Object.fromEntries([...processes].map(([name, { pid }]) => [name, useOf(pid)]));
    return {
      ...(await reached(api, join(folder, "api-1"))),
      uses,
      use: () => sumOf(Object.values(uses())),
      proportionalMiB: () => [...processes.values()].reduce((sum, { pid }) => sum + proportionalMiBOf(pid), 0),
      metrics: async () => (await Promise.all(metricsPorts.map(metricsOn))).join("\n"),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Env = Readonly<Record<string, string>>;

function named(role: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${role}-${index + 1}`);
}

async function metricsOn(port: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

async function addLocation(settings: Env, redisUrl: string): Promise<LocationFacts> {
  const words = [SONDE, "admin", "location", "add", "any", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env: settings });
  const facts = JSON.parse(stdout) as LocationFacts;
  const redis = new Redis(redisUrl);
  const [command = "", ...rule] = facts.acl.split(" ");
  await redis.call(command, ...rule);
  redis.disconnect();
  return facts;
}

function sumOf(uses: readonly TreeUse[]): TreeUse {
  return uses.reduce((all, one) => ({
    cpuS: all.cpuS + one.cpuS,
    residentMiB: all.residentMiB + one.residentMiB,
    processes: all.processes + one.processes,
  }));
}
