/** Roles as processes of their own on stores that they share, seen by the bench as one service. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { type TreeUse, useOf } from "../process-tree.ts";
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

/** One API, one scheduler and checkers of the general pool, each with one prober thread. */
export async function startRoles(
  stores: StoreUrls,
  sealingKeyFile: string,
  allowNets: string,
  checkers: number,
  nodeArgs: readonly string[],
): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const common = settingsUnderTest(folder, allowNets);
  const settings = { ...common, ...stores, SONDE_SEALING_KEY_FILE: sealingKeyFile };
  const processes = new Map<string, SondeProcess>();
  const stop = async (): Promise<void> => {
    for (const one of [...processes.values()].reverse()) await one.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const apiDir = join(folder, "api");
    const api = await startSonde(
      ["api"],
      { ...settings, SONDE_PORT: "0", SONDE_DATA_DIR: apiDir },
      API_BANNER,
      nodeArgs,
    );
    processes.set("api", api);
    const facts = await addLocation({ ...settings, SONDE_DATA_DIR: join(folder, "admin") }, stores.SONDE_REDIS_URL);
    const schedulerSettings = { ...settings, SONDE_DATA_DIR: join(folder, "scheduler") };
    const scheduler = await startSonde(
      ["scheduler", "--metrics", "127.0.0.1:0"],
      schedulerSettings,
      /metrics on port (\d+)/,
      nodeArgs,
    );
    processes.set("scheduler", scheduler);
    for (let n = 1; n <= checkers; n++) {
      const dir = join(folder, `checker-${n}`);
      mkdirSync(dir, { mode: 0o700 });
      writeFileSync(join(dir, "location-any.key"), facts.key_file, { mode: 0o600 });
      const env = { ...common, SONDE_REDIS_URL: facts.redis_url, SONDE_DATA_DIR: dir, SONDE_WORKERS: "1" };
      const words = ["checker", "--location", "any", "--name", `checker-${n}`];
      processes.set(`checker ${n}`, await startSonde(words, env, /Sonde checks from/, nodeArgs));
    }
    const uses = () => Object.fromEntries([...processes].map(([name, { pid }]) => [name, useOf(pid)]));
    return {
      ...(await reached(api, apiDir)),
      uses,
      use: () => sumOf(Object.values(uses())),
      metrics: async () => (await fetch(`http://127.0.0.1:${scheduler.banner[1] ?? ""}/metrics`)).text(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addLocation(settings: Readonly<Record<string, string>>, redisUrl: string): Promise<LocationFacts> {
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
    proportionalMiB: all.proportionalMiB + one.proportionalMiB,
    processes: all.processes + one.processes,
  }));
}
