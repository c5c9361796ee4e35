/** Wiring of `sonde api`: the API over stores that several processes share. It runs no check and schedules nothing. */
import { join } from "node:path";
import type { Logger } from "pino";
import { startApi } from "../api/start.ts";
import { type Config, engineOptionsOf, OWNER_KEY_FILE } from "../config.ts";
import { keptCpuTime } from "../native/cpu-time.ts";
import { AttemptsThread } from "../scheduler/alerts/attempts/start.ts";
import { makeDataFolder } from "../store/data-folder.ts";
import { openClickHouse } from "../store/results/clickhouse.ts";
import { openFollowedSealing } from "../store/sealing/row-form.ts";
import { openControlPlane } from "../store/sql/control-plane/open.ts";
import { SchedulerWatch } from "../store/sql/coordination/scheduler-watch.ts";
import { openChecks } from "../store/state/open.ts";
import { openSteadyState } from "../store/state/steady-counters.ts";
import { checkSettings } from "./check-settings.ts";
import { openCheckerLocations } from "./checker-locations.ts";
import { watchClocks } from "./common-clock.ts";
import { ensureFirst, type FirstStart } from "./first-start.ts";
import { sharedApiParts } from "./serving.ts";
import {
  type Closers,
  closing,
  lookAtKeyFile,
  openOwnEndpoints,
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
}

/** @throws an Error of one line that says what to do; nothing keeps running then */
export function startApiRole(config: Config, log: Logger): Promise<Whole<ApiRole>> {
  lookAtKeyFile(config.sealingKeyFile, config, log);
  return startWhole(log, (closers) => start(config, log, closers));
}

async function start(config: Config, log: Logger, closers: Closers): Promise<ApiRole> {
  const { databaseUrl, redisUrl, clickhouseUrl } = requireServers(config, "api");
  await checkSettings(config);
  // Only the key of a first start is kept there.
  makeDataFolder(config.dataDir);
  // One that is given is not tried first: a proxy that looks for us to come back would be connected, and reset.
  const port = config.port === 0 ? await requirePort(config.host, 0) : config.port;
  const controlPlane = closing(closers, await openControlPlane({ url: databaseUrl }, { role: "api" }));
  // config.ts insists on it where there is a database URL.
  const keyFile = config.sealingKeyFile ?? join(config.dataDir, "sealing.key");
  const followed = await openFollowedSealing(controlPlane.meta, { keyFile, createIfMissing: false });
  const { sealing } = followed;
  closers.push(async () => followed.close());
  const redis = { url: redisUrl };
  const state = closing(closers, await openSteadyState(redis, { log, monotonicNowMs: () => performance.now() }));
  const registry = processMetrics("api");
  const clock = await watchClocks(closers, { sql: controlPlane, redis, registry, log });
  const { redisAheadMs } = clock.time;
  const parts = { redis, controlPlane, sealing, ownLocations: [], registry, log, redisAheadMs };
  const { keys, onRefused, regions } = await openCheckerLocations(closers, parts);
  const schedulers = closing(
    closers,
    new SchedulerWatch({ shards: controlPlane.shards, monotonicNowMs: () => performance.now() }),
  );
  const checks = closing(closers, await openChecks(redis, keys.sealingOf, keys.refresh, onRefused));
  const results = closing(closers, await openClickHouse({ url: clickhouseUrl, log }));

  const own = await openOwnEndpoints(closers, log, { ...config, port }, [databaseUrl, redisUrl, clickhouseUrl]);
  const attempts = closing(closers, new AttemptsThread({ engine: engineOptionsOf({ ...config, port }, own), log }));
  const api = closing(
    closers,
    await startApi(
      {
        ...sharedApiParts({ ...config, port }, own, attempts, log, closers),
        clock: { now: clock.time.wallNowMs },
        controlPlane,
        state,
        checks,
        results,
        sealing,
        health: {
          database: () => controlPlane.ping(),
          queue: async () => void (await Promise.all([state.ping(), schedulers.ping()])),
          warnings: () => [...new Set([...schedulers.warnings(), ...clock.warnings()])],
        },
        metrics: () => registry.metrics(),
        regions: async () => regions(),
        storeCondition: () => schedulers.trouble(),
        // No check of this process can be late, so no read is refused; lists are kept for a second while reads are many.
        pressure: { nowMs: () => performance.now(), threadMs: keptCpuTime(), checks: { begun: 0, late: 0 } },
      },
      { lingerMs: LINGER_MS },
    ),
  );
  const first = await ensureFirst(controlPlane, join(config.dataDir, OWNER_KEY_FILE));
  return { url: config.baseUrl ?? api.url, ...first };
}
