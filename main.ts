/**
 * Wiring only: settings → stores → engine → scheduler → API. Starts in that order, stops in reverse. The one file that may import from
 * every folder.
 */
import { existsSync } from "node:fs";
import { availableParallelism, hostname } from "node:os";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { ApiHealth } from "./api/api.ts";
import { startApi } from "./api/start.ts";
import { checkSettings } from "./check-settings.ts";
import { type Config, engineOptionsOf, OWNER_KEY_FILE } from "./config.ts";
import { ensureFirst, type FirstStart } from "./first-start.ts";
import {
  type Closers,
  claimFolder,
  freePort,
  lookAtKeyFile,
  openOwn,
  openSchedulerPool,
  openSealingOf,
  startedOr,
  startWhole,
  tellProtection,
} from "./main-parts.ts";
import { ANY_LOCATION } from "./model/monitor.ts";
import { startSender } from "./scheduler/alerts/start.ts";
import { holdScheduler, type SchedulerHandle } from "./scheduler/handle.ts";
import type { SchedulerStatus } from "./scheduler/status.ts";
import { startSyncs } from "./scheduler/subscriptions/start.ts";
import type { DataFolder } from "./store/data-folder.ts";
import { openResultStore } from "./store/results/clickhouse.ts";
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from "./store/results/embedded/child.ts";
import type { ControlPlane } from "./store/sql/control-plane.ts";
import { openControlPlane, type SqlPlace } from "./store/sql/open.ts";
import { openChecks, openState } from "./store/state/open.ts";
import type { State } from "./store/state/state.ts";
import { VERSION } from "./version.ts";

export interface ServiceOptions {
  readonly log: Logger;
  /** What the start is doing, for people. */
  readonly progress: (line: string) => void;
  /** Where its probers stand; only the general pool when absent. */
  readonly locations?: readonly string[];
}

export interface Service extends FirstStart {
  /** Without /api/v1. */
  readonly url: string;
  /** Why uWebSockets.js was meant and is not used. */
  readonly httpRefused: string | null;
  /** Drains and stops everything, in reverse order. */
  close(): Promise<void>;
}

/** @throws an Error of one line that says what to do; nothing keeps running then */
export function startService(config: Config, options: ServiceOptions): Promise<Service> {
  tellProtection(config, options.log);
  lookAtKeyFile(config.sealingKeyFile, config, options.log);
  return startWhole(options.log, (closers) => start(config, options, closers));
}

async function start(
  config: Config,
  { log, progress, locations = [ANY_LOCATION] }: ServiceOptions,
  closers: Closers,
): Promise<Omit<Service, "close">> {
  await checkSettings(config);
  const port = await freePort(config.host, config.port);
  const folder = claimFolder(config.dataDir, log, closers);
  const sql: SqlPlace =
    config.databaseUrl === null ? { file: folder.file("control.sqlite") } : { url: config.databaseUrl };
  const controlPlane = await openControlPlane(sql, { role: "api" });
  closers.push(() => controlPlane.close());
  const sealingKeyFile = config.sealingKeyFile ?? folder.file("sealing.key");
  const keyFile = { keyFile: sealingKeyFile, createIfMissing: config.sealingKeyFile === null };
  const sealing = await openSealingOf(controlPlane, keyFile, log, closers);
  const statePlace = config.redisUrl === null ? { file: folder.file("state.sqlite") } : { url: config.redisUrl };
  const state = await openState(statePlace);
  closers.push(() => state.close());

  const checks = await openChecks(statePlace, () => sealing);
  closers.push(() => checks.close());

  const embedded = config.clickhouseUrl === null ? await startEmbedded(folder, config, log, progress) : null;
  if (embedded !== null) closers.push(() => embedded.close());
  const clickhouseUrl = config.clickhouseUrl ?? embedded?.url ?? "";
  const results = openResultStore({ url: clickhouseUrl, log });
  closers.push(() => results.close());

  const own = await openOwn(closers, log, { ...config, port }, [config.databaseUrl, config.redisUrl, clickhouseUrl]);
  const engine = engineOptionsOf(config, own);
  const scheduler = holdScheduler();
  const pool = await openSchedulerPool(
    config.workers ?? Math.max(1, availableParallelism() - 1),
    engine,
    log,
    scheduler,
    {
      checker: hostname(),
      locations,
      checkers: null,
      sql,
      notices: statePlace,
      sealingKeyFile,
      clickhouseUrl,
      spoolDir: folder.file("spool"),
      logLevel: log.level,
    },
  );
  closers.push(
    () => pool.close(),
    () => scheduler.stop(),
  );
  await Promise.all([scheduler.ready, embedded === null ? undefined : startedOr(embedded.ready)]);

  const sender = startSender({ sql, sealing, engine, log, version: VERSION });
  closers.push(() => sender.close());
  const syncs = startSyncs({ sql, notices: statePlace, sealingKeyFile, engine, plans: config.plans, log });
  closers.push(() => syncs.close());

  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const api = await startApi({
    config: { ...config, port, ownEndpoints: own.entries, own: own.memory },
    controlPlane,
    state,
    checks,
    results,
    sealing,
    clock: { now: () => Date.now() },
    log,
    version: VERSION,
    health: healthOf(controlPlane, scheduler, state),
    metrics: async () =>
      [
        await registry.metrics(),
        scheduler.status()?.metrics ?? "",
        await pool.metrics(),
        await sender.metrics(),
        syncs.metrics(),
      ].join("\n"),
    regions: async () => {
      const healthyCheckers = (scheduler.status()?.healthyProbers ?? 0) > 0 ? 1 : 0;
      return locations.map((code) => ({ code, healthyCheckers }));
    },
    storeCondition: () => conditionOf(embedded, scheduler.status()),
  });
  closers.push(() => api.close());
  const first = await ensureFirst(controlPlane, folder.file(OWNER_KEY_FILE));
  return { url: config.baseUrl ?? api.url, httpRefused: api.refused, ...first };
}

async function startEmbedded(
  folder: DataFolder,
  { isDebuggable }: Config,
  log: Logger,
  progress: (line: string) => void,
): Promise<EmbeddedClickHouse> {
  const dir = folder.file("clickhouse");
  if (!existsSync(dir)) progress("making the result store (a few seconds the first time) …");
  return startedOr(startEmbeddedClickHouse({ dir, log, isDebuggable }));
}

/** The counters of limits and quotas may be in a Redis. */
function healthOf(
  controlPlane: Pick<ControlPlane, "ping">,
  scheduler: SchedulerHandle,
  state: Pick<State, "ping">,
): ApiHealth {
  return {
    database: () => controlPlane.ping(),
    queue: async () => void (await Promise.all([scheduler.ping(), state.ping()])),
    warnings: () => scheduler.status()?.warnings ?? [],
  };
}

/** Why results are late or away, for the API's answers. */
function conditionOf(embedded: EmbeddedClickHouse | null, status: SchedulerStatus | undefined): string | null {
  const state = embedded?.state();
  if (state?.isDiskFull === true) return "The disk is full: results wait until there is room";
  if (state !== undefined && state.status !== "ready") return "The result store is being restarted: results wait";
  return status?.trouble ?? null;
}
