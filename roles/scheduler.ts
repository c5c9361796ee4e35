/** Wiring of `sonde scheduler`: plans, hands out and judges checks of the shards it holds; sends webhooks and syncs subscriptions. */
import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Config, engineOptionsOf } from "../config.ts";
import { AttemptsThread } from "../scheduler/alerts/attempts/start.ts";
import { openClickHouse } from "../store/results/clickhouse.ts";
import { openControlPlane } from "../store/sql/control-plane/open.ts";
import { checkSettings } from "./check-settings.ts";
import { watchClocks } from "./common-clock.ts";
import { startRoleListener } from "./listener.ts";
import { claimFolder, joined, openSealingOf, type SchedulingParts, startScheduling } from "./scheduling.ts";
import {
  type Closers,
  closing,
  lookAtKeyFile,
  openOwnEndpoints,
  processMetrics,
  requireServers,
  startWhole,
  type Whole,
  withFreePort,
} from "./shared.ts";

export interface SchedulerRoleOptions {
  /** Where it listens for /metrics and /health; null: nowhere. */
  readonly listen: { readonly host: string; readonly port: number } | null;
  readonly log: Logger;
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

async function start(config: Config, { listen, log }: SchedulerRoleOptions, closers: Closers): Promise<SchedulerRole> {
  const { databaseUrl, redisUrl, clickhouseUrl } = requireServers(config, "scheduler");
  await checkSettings(config);
  // Its spool: results that are on their way to the stores.
  const folder = claimFolder(config.dataDir, log, closers);
  const sql = { url: databaseUrl };
  const controlPlane = closing(closers, await openControlPlane(sql, { role: "api" }));
  // config.ts insists on it where there is a database URL.
  const sealingKeyFile = config.sealingKeyFile ?? join(config.dataDir, "sealing.key");
  const keyFile = { keyFile: sealingKeyFile, createIfMissing: false };
  const sealing = await openSealingOf(controlPlane, keyFile, log, closers);
  await (await openClickHouse({ url: clickhouseUrl, log })).close();
  const redis = { url: redisUrl };
  const registry = processMetrics("scheduler");
  const { time } = await watchClocks(closers, { sql: controlPlane, redis, registry, log });
  const own = await openOwnEndpoints(closers, log, listen, [databaseUrl, redisUrl, clickhouseUrl]);
  const engine = engineOptionsOf(config, own);
  const scheduling = await startScheduling(closers, {
    config,
    log,
    engine,
    attempts: closing(closers, new AttemptsThread({ engine, log })),
    controlPlane,
    sealing,
    base: config.baseUrl,
    // They stand in for the checkers of the general pool while Redis is away.
    workers: config.workers ?? Math.max(1, availableParallelism() - 1),
    standsIn: true,
    time,
    data: {
      locations: [],
      checkers: redis,
      sql,
      notices: redis,
      sealingKeyFile,
      clickhouseUrl,
      asksFirst: false,
      spoolDir: folder.file("spool"),
    },
  });
  const port = listen === null ? null : await startListener(closers, config, listen, { ...scheduling, registry });
  return { name: hostname(), port };
}

/** /metrics and /health of this process. @returns the listener's port */
async function startListener(
  closers: Closers,
  config: Config,
  listen: { readonly host: string; readonly port: number },
  { scheduler, metrics, registry }: SchedulingParts & { readonly registry: Registry },
): Promise<number> {
  let isSilent = false;
  const watching = setInterval(() => {
    scheduler.ping().then(
      () => {
        isSilent = false;
      },
      () => {
        isSilent = true;
      },
    );
  }, 1_000);
  closers.push(async () => clearInterval(watching));
  const web = await startRoleListener({
    ...listen,
    token: config.metricsToken,
    metrics: () => joined([registry.metrics(), scheduler.status()?.metrics ?? "", metrics()]),
    notices: () => scheduler.status()?.warnings ?? [],
    problems: () => [isSilent ? UNWELL : null, scheduler.status()?.trouble ?? null].filter((one) => one !== null),
  });
  return closing(closers, web).port;
}
