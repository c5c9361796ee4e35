/** Wiring of `sonde scheduler`: plans, hands out and judges checks of the shards it holds; sends webhooks and syncs subscriptions. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { checkSettings } from "./check-settings.ts";
import { type Config, engineOptionsOf } from "./config.ts";
import {
  type Closers,
  claimFolder,
  lookAtKeyFile,
  openOwn,
  openSchedulerPool,
  openSealingOf,
  requireServers,
  startWhole,
  type Whole,
  withFreePort,
} from "./main-parts.ts";
import { ANY_LOCATION } from "./model/monitor.ts";
import { startRoleListener } from "./role-listener.ts";
import { startSender } from "./scheduler/alerts/start.ts";
import { holdScheduler } from "./scheduler/handle.ts";
import { startSyncs } from "./scheduler/subscriptions/start.ts";
import { openControlPlane } from "./store/sql/open.ts";
import { VERSION } from "./version.ts";

export interface SchedulerRoleOptions {
  /** Where it listens for /metrics and /health; null: nowhere. */
  readonly listen: { readonly host: string; readonly port: number } | null;
  readonly log: Logger;
  /** When a scheduler that stands still is taken to be gone, ms; the standard when absent. */
  readonly shardLeaseMs?: number;
  /** Prober threads of its own, in the general pool, instead of checkers: for tests of this role alone. */
  readonly workers?: number;
}

export interface SchedulerRole {
  readonly name: string;
  /** Of the listener; null without one. */
  readonly port: number | null;
}

const UNWELL = "the scheduler's thread does not answer";

/** @throws an Error of one line that says what to do; nothing keeps running then */
export function startSchedulerRole(config: Config, options: SchedulerRoleOptions): Promise<Whole<SchedulerRole>> {
  lookAtKeyFile(config.sealingKeyFile, config, options.log);
  return startWhole(options.log, async (closers) =>
    start(config, { ...options, listen: await withFreePort(options.listen) }, closers),
  );
}

async function start(
  config: Config,
  { listen, log, shardLeaseMs, workers }: SchedulerRoleOptions,
  closers: Closers,
): Promise<SchedulerRole> {
  const { databaseUrl, redisUrl, clickhouseUrl } = requireServers(config, "scheduler");
  await checkSettings(config);
  // Its spool: results that are on their way to the stores.
  const folder = claimFolder(config.dataDir, log, closers);
  const sql = { url: databaseUrl };
  const controlPlane = await openControlPlane(sql, { role: "api" });
  closers.push(() => controlPlane.close());
  // config.ts insists on it where there is a database URL.
  const sealingKeyFile = config.sealingKeyFile ?? join(config.dataDir, "sealing.key");
  const keyFile = { keyFile: sealingKeyFile, createIfMissing: false };
  const sealing = await openSealingOf(controlPlane, keyFile, log, closers);
  const redis = { url: redisUrl };
  const engine = engineOptionsOf(config, await openOwn(closers, log, listen, [databaseUrl, redisUrl, clickhouseUrl]));
  const scheduler = holdScheduler(workers !== undefined);
  const pool = await openSchedulerPool(workers ?? 0, engine, log, scheduler, {
    checker: hostname(),
    locations: workers === undefined ? [] : [ANY_LOCATION],
    checkers: workers === undefined ? redis : null,
    sql,
    notices: redis,
    sealingKeyFile,
    clickhouseUrl,
    spoolDir: folder.file("spool"),
    logLevel: log.level,
    ...(shardLeaseMs !== undefined && { shardLeaseMs }),
  });
  closers.push(
    () => pool.close(),
    () => scheduler.stop(),
  );
  await scheduler.ready;
  const sender = startSender({ sql, sealing, engine, log, version: VERSION });
  closers.push(() => sender.close());
  const syncs = startSyncs({ sql, notices: redis, sealingKeyFile, engine, plans: config.plans, log });
  closers.push(() => syncs.close());
  if (listen === null) return { name: hostname(), port: null };

  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let isSilent = false;
  const watching = setInterval(() => {
    void scheduler
      .ping()
      .then(() => false)
      .catch(() => true)
      .then((isNow) => {
        isSilent = isNow;
      });
  }, 1_000);
  closers.push(async () => clearInterval(watching));
  const web = await startRoleListener({
    ...listen,
    token: config.metricsToken,
    metrics: async () =>
      [await registry.metrics(), scheduler.status()?.metrics ?? "", await sender.metrics(), syncs.metrics()].join("\n"),
    notices: () => scheduler.status()?.warnings ?? [],
    problems: () => [isSilent ? UNWELL : null, scheduler.status()?.trouble ?? null].filter((one) => one !== null),
  });
  closers.push(() => web.close());
  return { name: hostname(), port: web.port };
}
