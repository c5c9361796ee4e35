/** Wiring of `sonde checker`: Redis, the location's key and prober threads. No database, no result store, no operator's key. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { availableParallelism, hostname } from "node:os";
import type { Logger } from "pino";
import { startChecker } from "../checker/checker.ts";
import { type Config, ConfigError, checkThreads, engineOptionsOf } from "../config.ts";
import { startPool } from "../engine/pool/pool.ts";
import { capsOf } from "../model/caps.ts";
import { openLocationSealing } from "../store/sealing/sealing.ts";
import { VERSION } from "../version.ts";
import { checkSettings } from "./check-settings.ts";
import { startRoleListener } from "./listener.ts";
import {
  type Closers,
  closing,
  lookAtKeyFile,
  openOwnEndpoints,
  processMetrics,
  startWhole,
  tellProtection,
  type Whole,
  withFreePort,
} from "./shared.ts";

export interface CheckerRoleOptions {
  readonly location: string;
  /** The location's, of `sonde admin location add`. */
  readonly keyFile: string;
  /** null: the machine's. */
  readonly name: string | null;
  /** Where it listens for /metrics and /health; null: nowhere. */
  readonly listen: { readonly host: string; readonly port: number } | null;
  readonly log: Logger;
}

export interface CheckerRole {
  readonly name: string;
  /** Of the listener; null without one. */
  readonly port: number | null;
}

/** @throws an Error of one line that says what to do; nothing keeps running then */
export function startCheckerRole(config: Config, options: CheckerRoleOptions): Promise<Whole<CheckerRole>> {
  return startWhole(options.log, async (closers) =>
    start(config, { ...options, listen: await withFreePort(options.listen) }, closers),
  );
}

async function start(
  config: Config,
  { location, keyFile, listen, log, name }: CheckerRoleOptions,
  closers: Closers,
): Promise<CheckerRole> {
  if (config.redisUrl === null) {
    throw new ConfigError(
      "sonde checker meets its schedulers in Redis: set SONDE_REDIS_URL, with the user that sonde admin location add printed",
    );
  }
  if (!existsSync(keyFile)) {
    throw new ConfigError(
      `there is no key of the location at ${keyFile}: put the one there that sonde admin location add printed, or name it with --key`,
    );
  }
  await checkSettings(config);
  await tellProtection(config, log);
  const sealing = openLocationSealing(keyFile);
  lookAtKeyFile(keyFile, config, log);
  const engine = engineOptionsOf(config, await openOwnEndpoints(closers, log, listen, [config.redisUrl]));
  const pool = await startPool({
    workers: checkThreads(config, availableParallelism()),
    engine,
    scheduler: null,
    log,
    onFatal(error) {
      log.fatal({ err: error }, "nothing can be checked any more: ending, so that the supervisor starts us again");
      process.exit(1);
    },
  });
  closers.push(() => pool.close());
  if (pool.control === null) throw new Error("the pool has a scheduler of its own");
  const checker = closing(
    closers,
    await startChecker({
      checker: { location, id: randomUUID(), name: name ?? hostname(), version: VERSION },
      redis: { url: config.redisUrl },
      sealing,
      engine,
      room: capsOf(config.caps).overall,
      control: pool.control,
      log,
    }),
  );
  await checker.ready;
  if (listen === null) return { name: name ?? hostname(), port: null };
  const registry = processMetrics("checker");
  const web = closing(
    closers,
    await startRoleListener({
      ...listen,
      token: config.metricsToken,
      metrics: async () => (await Promise.all([registry.metrics(), checker.metrics(), pool.metrics()])).join("\n"),
      problems: () => checker.problems(),
      notices: () => pool.troubles(),
    }),
  );
  return { name: name ?? hostname(), port: web.port };
}
