/** Wiring of `sonde api`: the API over stores that several processes share. It runs no check and schedules nothing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import type { RegionState } from "../api/api.ts";
import { startApi } from "../api/start.ts";
import { type Config, OWNER_KEY_FILE } from "../config.ts";
import { ANY_LOCATION } from "../model/monitor.ts";
import { ClickHouseResults } from "../store/results/clickhouse.ts";
import { type LocationKeys, openLocationKeys } from "../store/sealing/location-keys.ts";
import { openFollowedSealing } from "../store/sealing/row-form.ts";
import { openControlPlane } from "../store/sql/control-plane/open.ts";
import { SchedulerWatch } from "../store/sql/coordination/scheduler-watch.ts";
import type { CheckerWatch } from "../store/state/checkers.ts";
import { openChecks, openState, watchCheckers } from "../store/state/open.ts";
import { createRefusals, type Refusals } from "../store/state/refusals.ts";
import { VERSION } from "../version.ts";
import { checkSettings } from "./check-settings.ts";
import { ensureFirst, type FirstStart } from "./first-start.ts";
import {
  type Closers,
  closing,
  lookAtKeyFile,
  openOwn,
  processMetrics,
  requirePort,
  requireServers,
  startWhole,
  type Whole,
} from "./shared.ts";

/** A proxy keeps its connections, and may be sending on one at any moment; idle for 10 s they end by themselves, ms. */
const LINGER_MS = 15_000;

export interface ApiRole extends FirstStart {
  /** Without /api/v1. */
  readonly url: string;
  /** Why uWebSockets.js was meant and is not used. */
  readonly httpRefused: string | null;
}

/** @throws an Error of one line that says what to do; nothing keeps running then */
export function startApiRole(config: Config, log: Logger): Promise<Whole<ApiRole>> {
  lookAtKeyFile(config.sealingKeyFile, config, log);
  return startWhole(log, (closers) => start(config, log, closers));
}

async function start(config: Config, log: Logger, closers: Closers): Promise<ApiRole> {
  const { databaseUrl, redisUrl, clickhouseUrl } = requireServers(config, "api");
  await checkSettings(config);
  // One that is given is not tried first: a proxy that looks for us to come back would be connected, and reset.
  const port = config.port === 0 ? await requirePort(config.host, 0) : config.port;
  const controlPlane = closing(closers, await openControlPlane({ url: databaseUrl }, { role: "api" }));
  // config.ts insists on it where there is a database URL.
  const keyFile = config.sealingKeyFile ?? join(config.dataDir, "sealing.key");
  const followed = await openFollowedSealing(controlPlane.meta, { keyFile, createIfMissing: false });
  const { sealing } = followed;
  closers.push(async () => followed.close());
  const redis = { url: redisUrl };
  const state = closing(closers, await openState(redis));
  const onError = (error: unknown): void =>
    log.error({ err: error }, "reading locations and their keys failed and is tried again");
  const keys = closing(closers, await openLocationKeys({ locations: controlPlane.locations, sealing, onError }));
  const registry = processMetrics();
  const refusals = countRefusals(registry, log);
  const checkers = closing(closers, await watchCheckers(redis, { locations: keys.codes, onRefused: refusals.add }));
  const schedulers = closing(
    closers,
    new SchedulerWatch({ shards: controlPlane.shards, monotonicNowMs: () => performance.now() }),
  );
  const checks = closing(closers, await openChecks(redis, keys.sealingOf, keys.refresh, refusals.add));
  const results = closing(closers, new ClickHouseResults({ url: clickhouseUrl, log }));

  const own = await openOwn(closers, log, { ...config, port }, [databaseUrl, redisUrl, clickhouseUrl]);
  const api = closing(
    closers,
    await startApi(
      {
        config: { ...config, port, ownEndpoints: own.entries, own: own.memory },
        controlPlane,
        state,
        checks,
        results,
        sealing,
        clock: { now: () => Date.now() },
        log,
        version: VERSION,
        health: {
          database: () => controlPlane.ping(),
          queue: async () => void (await Promise.all([state.ping(), schedulers.ping()])),
          warnings: () => schedulers.warnings(),
        },
        metrics: () => registry.metrics(),
        regions: async () => regionsOf(keys, checkers),
        storeCondition: () => schedulers.trouble(),
      },
      { lingerMs: LINGER_MS },
    ),
  );
  // Only the key of a first start is kept there.
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const first = await ensureFirst(controlPlane, join(config.dataDir, OWNER_KEY_FILE));
  return { url: config.baseUrl ?? api.url, httpRefused: api.refused, ...first };
}

/** What a location's checkers say to this process, and is refused. */
function countRefusals(registry: Registry, log: Logger): Refusals {
  const refusals = createRefusals({
    monotonicNowMs: () => performance.now(),
    say: (location, count, reason) =>
      log.warn({ location, count, reason }, "what came from a location's checkers is refused: is its key stolen?"),
  });
  new Gauge({
    name: "sonde_checkers_refused",
    help: "Answers and reports of a location's checkers that were refused since the start",
    labelNames: ["location"],
    registers: [registry],
    collect() {
      for (const [location, count] of refusals.counts) this.set({ location }, count);
    },
  });
  return refusals;
}

/** Every location that the operator made, and the general pool. */
function regionsOf(keys: LocationKeys, checkers: CheckerWatch): readonly RegionState[] {
  const healthy = checkers.healthy();
  return [...new Set([ANY_LOCATION, ...keys.codes()])].map((code) => ({
    code,
    healthyCheckers: healthy.filter(({ location }) => location === code).length,
  }));
}
