/** Roles as processes of their own on stores that they share, started as an operator starts them: `sonde api`, `scheduler`, `checker`. */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { admin } from "./admin.ts";
import { productEnv } from "./product.ts";
import { ended, type RunningService, runSonde, type ServiceSettings, startService, until } from "./service.ts";

export interface Role {
  readonly child: ChildProcess;
  readonly dataDir: string;
  output(): string;
  /** SIGTERM and the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, and the end. */
  kill(): Promise<void>;
}

/** What `sonde admin location add` answers. */
export interface LocationFacts {
  readonly code: string;
  readonly key_file: string;
  readonly redis_user: string;
  readonly redis_url: string;
  readonly acl: string;
}

export interface SharedStores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly clickhouseUrl: string;
}

export interface Installation {
  /** Of roles with a database. */
  readonly env: Readonly<Record<string, string>>;
  startApi(settings?: ServiceSettings): Promise<RunningService>;
  /** On a folder of its own unless one is given. */
  startScheduler(settings?: ServiceSettings): Promise<Role>;
  /** Makes the location when it is not there. */
  startChecker(location: string, settings?: ServiceSettings): Promise<Role>;
  location(code: string): Promise<LocationFacts>;
  admin<Facts = Readonly<Record<string, unknown>>>(...words: readonly string[]): Promise<Facts>;
}

/** Nothing runs yet: the first API makes the schema and the first key. */
export function installation(
  stores: SharedStores,
  common: Readonly<Record<string, string>> = productEnv(),
): Installation {
  const keyFile = join(temporaryFolder(), "sealing.key");
  writeFileSync(keyFile, randomBytes(32));
  const env = {
    ...common,
    SONDE_DATABASE_URL: stores.databaseUrl,
    SONDE_REDIS_URL: stores.redisUrl,
    SONDE_CLICKHOUSE_URL: stores.clickhouseUrl,
    SONDE_SEALING_KEY_FILE: keyFile,
  };
  const adminDir = join(temporaryFolder(), "data");
  const locations = new Map<string, Promise<LocationFacts>>();

  async function makeLocation(code: string): Promise<LocationFacts> {
    const facts = await admin<LocationFacts>({ dataDir: adminDir }, env, "location", "add", code);
    const redis = new Redis(stores.redisUrl);
    const [command = "", ...words] = facts.acl.split(" ");
    await redis.call(command, ...words);
    await redis.call("ACL", "SAVE");
    redis.disconnect();
    return facts;
  }

  function location(code: string): Promise<LocationFacts> {
    const known = locations.get(code) ?? makeLocation(code);
    locations.set(code, known);
    return known;
  }

  return {
    env,
    location,
    startApi: (settings = {}) => startService({ ...settings, env: { ...env, ...settings.env }, args: ["api"] }),
    startScheduler: ({ args = [], ...settings } = {}) =>
      startRole({ ...settings, env: { ...env, ...settings.env }, args: ["scheduler", ...args] }, /Sonde schedules/),
    async startChecker(code, { args = [], ...settings } = {}) {
      const facts = await location(code);
      const dataDir = settings.dataDir ?? join(temporaryFolder(), "data");
      mkdirSync(dataDir, { recursive: true });
      writeFileSync(join(dataDir, `location-${code}.key`), facts.key_file, { mode: 0o600 });
      // Nothing but Redis, the key and how checks leave the machine.
      const given = { ...common, SONDE_REDIS_URL: facts.redis_url, SONDE_WORKERS: "1", ...settings.env };
      const words = ["checker", "--location", code, ...args];
      return startRole({ ...settings, dataDir, env: given, args: words }, /Sonde checks from/);
    },
    admin: (...words) => admin({ dataDir: adminDir }, env, ...words),
  };
}

/** One of each, seen as one service: for suites that know nothing of roles. A restart finds what the last run left. */
export function startApart(stores: SharedStores): (settings: ServiceSettings) => Promise<RunningService> {
  let whole: Installation | undefined;
  const schedulerDir = join(temporaryFolder(), "data");
  return async ({ env = {}, ...settings }) => {
    whole ??= installation(stores, env);
    const api = await whole.startApi({ ...settings, env });
    const scheduler = await whole.startScheduler({ dataDir: schedulerDir, env, args: ["--metrics", "0"] });
    const checker = await whole.startChecker("any", { env });
    // In reverse order of start: what runs ends while its receiver still works.
    const roles = [checker, scheduler, api];
    return {
      ...api,
      schedulerUrl: `http://127.0.0.1:${/metrics on port (\d+)/.exec(scheduler.output())?.[1]}`,
      output: () => roles.map((role) => role.output()).join(""),
      async stop() {
        const codes: (number | null)[] = [];
        for (const role of roles) codes.push(await role.stop());
        return codes.find((code) => code !== 0) ?? 0;
      },
      async kill() {
        await Promise.all(roles.map((role) => role.kill()));
      },
    };
  };
}

/** @param banner what it says when it is ready */
export async function startRole(settings: ServiceSettings, banner: RegExp): Promise<Role> {
  const { child, output, dataDir } = await runSonde(settings);
  await until(() => banner.test(output()), child, output);
  return {
    child,
    dataDir,
    output,
    stop: () => ended(child, () => child.kill("SIGTERM")),
    kill: async () => {
      await ended(child, () => child.kill("SIGKILL"));
    },
  };
}
