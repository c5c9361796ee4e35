/**
 * Wiring only: settings → stores → engine → scheduler → API. Starts in that order, stops in reverse. The one file that may import from
 * every folder.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import type { ApiHealth } from "../api/api.ts";
import { startApi } from "../api/start.ts";
import { type Config, checkThreads, engineOptionsOf, OWNER_KEY_FILE } from "../config.ts";
import { ANY_LOCATION } from "../model/monitor.ts";
import { onTicks } from "../model/ticks.ts";
import { hostInUrl } from "../model/url.ts";
import { keptCpuTime } from "../native/cpu-time.ts";
import { giveWayWhenBusy } from "../native/thread-priority.ts";
import { AttemptsThread } from "../scheduler/alerts/attempts/start.ts";
import type { SchedulerHandle } from "../scheduler/role/handle.ts";
import type { SchedulerStatus } from "../scheduler/role/status.ts";
import type { DataFolder } from "../store/data-folder.ts";
import { ClickHouseResults, openClickHouse } from "../store/results/clickhouse.ts";
import { EmbeddedClickHouse } from "../store/results/embedded/child.ts";
import { askingFirst, WantedRows } from "../store/results/wanted-rows.ts";
import { openControlPlane, type SqlLocation } from "../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import type { Checks } from "../store/state/checks.ts";
import { openChecks } from "../store/state/open.ts";
import type { State } from "../store/state/state.ts";
import { openSteadyState } from "../store/state/steady-counters.ts";
import { type CheckerLocations, openCheckerLocations } from "./checker-locations.ts";
import { ensureFirst, type FirstStart } from "./first-start.ts";
import { claimFolder, joined, openSealingOf, startScheduling } from "./scheduling.ts";
import { sharedApiParts } from "./serving.ts";
import {
  type Closers,
  closing,
  lookAtKeyFile,
  openOwnEndpoints,
  processMetrics,
  requirePort,
  startedOr,
  startWhole,
  tellProtection,
} from "./shared.ts";

export interface ServiceOptions {
  readonly log: Logger;
  /** What the start is doing, for people. */
  readonly progress: (line: string) => void;
  /** Where its probers stand; only the general pool when absent. */
  readonly locations?: readonly string[];
  readonly isDemo?: boolean;
}

export interface Service extends FirstStart {
  /** Without /api/v1. */
  readonly url: string;
  /** Drains and stops everything, in reverse order. */
  close(): Promise<void>;
}

/**
 * @param config what checkSettings has found to be right
 * @throws an Error of one line that says what to do; nothing keeps running then
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  await tellProtection(config, options.log);
  lookAtKeyFile(config.sealingKeyFile, config, options.log);
  return startWhole(options.log, (closers) => start(config, options, closers));
}

async function start(config: Config, options: ServiceOptions, closers: Closers): Promise<Omit<Service, "close">> {
  const { log, locations = [ANY_LOCATION] } = options;
  const workers = checkThreads(config, availableParallelism());
  const port = await requirePort(config.host, config.port);
  const folder = claimFolder(config.dataDir, log, closers);
  const registry = processMetrics("up");
  const stores = await openStores(config, folder, options, closers);
  const { sealing, results, asksFirst, clickhouseUrl, embedded, controlPlane, state } = stores;
  const checkers = config.redisUrl === null ? null : { url: config.redisUrl };
  const places =
    checkers === null
      ? null
      : await openCheckerLocations(closers, {
          redis: checkers,
          controlPlane,
          sealing,
          ownLocations: locations,
          registry,
          log,
        });
  const checks = closing(closers, await openChecksOf(stores, places, locations));

  const own = await openOwnEndpoints(closers, log, { ...config, port }, [
    config.databaseUrl,
    config.redisUrl,
    clickhouseUrl,
  ]);
  const engine = engineOptionsOf(config, own);
  const attempts = closing(closers, new AttemptsThread({ engine, log }));
  const { scheduler, pool, delays, metrics } = await startScheduling(closers, {
    config,
    log,
    engine,
    attempts,
    controlPlane,
    sealing,
    base: config.baseUrl ?? `http://${hostInUrl(config.host)}:${port}`,
    workers,
    data: { ...stores.locations, locations, checkers, clickhouseUrl, asksFirst, spoolDir: folder.file("spool") },
    meanwhile: embedded === null ? undefined : startedOr(embedded.ready),
  });

  const api = await startApi({
    ...sharedApiParts({ ...config, port }, own, attempts, log, closers),
    controlPlane,
    state,
    checks,
    results,
    sealing,
    health: healthOf(controlPlane, scheduler, state, places),
    metrics: () => joined([registry.metrics(), scheduler.status()?.metrics ?? "", pool.metrics(), metrics()]),
    regions: async () => regionsOf(scheduler, places, locations),
    storeCondition: () => conditionOf(embedded, scheduler.status()),
    pressure: { nowMs: () => performance.now(), threadMs: keptCpuTime(), checks: delays },
  });
  closing(closers, api);
  giveWay(closers);
  const first = await ensureFirst(controlPlane, folder.file(OWNER_KEY_FILE), options.isDemo);
  return { url: config.baseUrl ?? api.url, ...first };
}

/** What starts later takes its priority from this thread, which has the API: probers and cores are started without it. */
function giveWay(closers: Closers): void {
  const giveWayNoMore = giveWayWhenBusy(undefined, onTicks);
  closers.push(async () => giveWayNoMore?.());
}

type Stores = Awaited<ReturnType<typeof openStores>>;

/** The servers that the settings name, and what is in the data folder for the others. */
async function openStores(config: Config, folder: DataFolder, { log, progress }: ServiceOptions, closers: Closers) {
  const sql: SqlLocation =
    config.databaseUrl === null ? { file: folder.file("control.sqlite") } : { url: config.databaseUrl };
  const controlPlane = closing(closers, await openControlPlane(sql, { role: "api" }));
  const sealingKeyFile = config.sealingKeyFile ?? folder.file("sealing.key");
  const keyFile = { keyFile: sealingKeyFile, createIfMissing: config.sealingKeyFile === null };
  const sealing = await openSealingOf(controlPlane, keyFile, log, closers);
  const notices = config.redisUrl === null ? { file: folder.file("state.sqlite") } : { url: config.redisUrl };
  const state = closing(closers, await openSteadyState(notices, { log, monotonicNowMs: () => performance.now() }));
  const embedded =
    config.clickhouseUrl === null ? closing(closers, await startEmbedded(folder, config, log, progress)) : null;
  const clickhouseUrl = config.clickhouseUrl ?? embedded?.url ?? "";
  const place = { url: clickhouseUrl, log };
  // Our own child may still be starting, and says itself when it cannot.
  const opened = closing(closers, embedded === null ? await openClickHouse(place) : new ClickHouseResults(place));
  // Without Redis no other process reads there.
  const asksFirst = embedded !== null && config.redisUrl === null;
  const wanted = new WantedRows(state.notices, () => performance.now());
  const results = asksFirst ? askingFirst(opened, wanted) : opened;
  const locations = { sql, notices, sealingKeyFile };
  return { locations, controlPlane, sealing, state, embedded, clickhouseUrl, results, asksFirst };
}

/** One-off checks: this process's probers take those of its locations, and the checkers of another location its own. */
function openChecksOf(
  { locations, sealing }: Pick<Stores, "locations" | "sealing">,
  places: CheckerLocations | null,
  ownLocations: readonly string[],
): Promise<Checks> {
  if (places === null) return openChecks(locations.notices, () => sealing);
  const { keys, onRefused } = places;
  const sealingOf = (location: string) => (ownLocations.includes(location) ? sealing : keys.sealingOf(location));
  return openChecks(locations.notices, sealingOf, keys.refresh, onRefused);
}

async function startEmbedded(
  folder: DataFolder,
  { isDebuggable }: Config,
  log: Logger,
  progress: (line: string) => void,
): Promise<EmbeddedClickHouse> {
  const dir = folder.file("clickhouse");
  if (!existsSync(dir)) progress("making the result store (a few seconds the first time) …");
  return startedOr(EmbeddedClickHouse.start({ dir, log, isDebuggable }));
}

/** The counters of limits and quotas may be in a Redis. */
function healthOf(
  controlPlane: Pick<ControlPlane, "ping">,
  scheduler: SchedulerHandle,
  state: Pick<State, "ping">,
  places: Pick<CheckerLocations, "hasIdle"> | null,
): ApiHealth {
  return {
    database: () => controlPlane.ping(),
    queue: async () => void (await Promise.all([scheduler.ping(), state.ping()])),
    warnings() {
      const idle = places?.hasIdle() === true ? (["checkers_idle"] as const) : [];
      return [...(scheduler.status()?.warnings ?? []), ...idle];
    },
  };
}

/** Where checks run: its own locations, and those of checkers elsewhere. */
function regionsOf(scheduler: SchedulerHandle, places: CheckerLocations | null, locations: readonly string[]) {
  const healthyCheckers = (scheduler.status()?.healthyProbers ?? 0) > 0 ? 1 : 0;
  const elsewhere = places?.regions().filter(({ code }) => !locations.includes(code)) ?? [];
  return [...locations.map((code) => ({ code, healthyCheckers })), ...elsewhere];
}

/** Why results are late or away, for the API's answers. */
function conditionOf(embedded: EmbeddedClickHouse | null, status: SchedulerStatus | undefined): string | null {
  const state = embedded?.state();
  if (state?.isDiskFull === true) return "The disk is full: results wait until there is room";
  if (state !== undefined && state.status !== "ready") return "The result store is being restarted: results wait";
  return status?.trouble ?? null;
}
