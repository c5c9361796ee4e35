/** What the two roles that schedule share: the data folder, the sealing, the scheduler with its probers, the webhooks' sender and the syncs. */

import { hostname } from "node:os";
import { extname } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { EngineOptions } from "../engine/contract/options.ts";
import { type Pool, startPool } from "../engine/pool/pool.ts";
import { capsOf } from "../model/caps.ts";
import type { Attempts } from "../scheduler/alerts/attempts/attempts.ts";
import { CheckDelays } from "../scheduler/judge/check-delays.ts";
import { holdScheduler, type SchedulerHandle } from "../scheduler/role/handle.ts";
import type { SchedulerData } from "../scheduler/role/runtime.ts";
import type { SharedTime } from "../scheduler/shared-time.ts";
import { startSyncs } from "../scheduler/subscriptions/start.ts";
import { startSender } from "../scheduler/webhooks/start.ts";
import { claimDataFolder, type DataFolder, warnOfPermissions } from "../store/data-folder.ts";
import type { Sealing } from "../store/sealed-text.ts";
import { openFollowedSealing, sealRowsLater, sealRowsNow } from "../store/sealing/row-form.ts";
import type { SealingOptions } from "../store/sealing/sealing.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import { VERSION } from "../version.ts";
import { channelSender } from "./channels.ts";
import { type Closers, closing } from "./shared.ts";

/** Ours until the end; says what of it was open to other users. @throws StoreError */
export function claimFolder(path: string, log: Logger, closers: Closers): DataFolder {
  const folder = claimDataFolder(path);
  closers.push(async () => folder.release());
  warnOfPermissions(folder, log.warn.bind(log));
  return folder;
}

/**
 * The sealing of a process that schedules. What a version before left in clear is sealed at once in a data folder, which is ours alone, and
 * beside other processes when they allow it.
 * @throws what openFollowedSealing throws
 */
export async function openSealingOf(
  controlPlane: ControlPlane,
  options: SealingOptions,
  log: Logger,
  closers: Closers,
): Promise<Sealing> {
  const followed = await openFollowedSealing(controlPlane.meta, options);
  closers.push(async () => followed.close());
  if (controlPlane.dialect === "sqlite") await sealRowsNow(controlPlane, followed, log);
  else {
    const rows = sealRowsLater(controlPlane, followed.sealing, log);
    closers.push(() => rows.close());
  }
  return followed.sealing;
}

/** What schedules: the scheduler's thread with its prober threads, the webhooks' sender, and the thread of syncs. */
export interface SchedulingParts {
  readonly scheduler: SchedulerHandle;
  readonly pool: Pool;
  /** How many checks began, and how many late. */
  readonly delays: CheckDelays;
  /** Of the sender and the syncs, Prometheus text. */
  readonly metrics: () => Promise<string>;
}

export interface SchedulingOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly engine: EngineOptions;
  /** Of webhooks and channels. */
  readonly attempts: Attempts;
  readonly controlPlane: Pick<ControlPlane, "syncs">;
  readonly sealing: Sealing;
  /** Where messages lead to, without a trailing slash; null: not known, and they have no links. */
  readonly base: string | null;
  /** Prober threads in this process; 0: checkers run the checks. */
  readonly workers: number;
  readonly data: Omit<SchedulerData, "port" | "checker" | "logLevel" | "caps" | "delays" | "standsIn">;
  /** The threads stand by until Redis is away. */
  readonly standsIn?: boolean;
  /** Absent: the machine's clock is the only one. */
  readonly time?: SharedTime;
  /** Resolves when the parts that start meanwhile are ready. */
  readonly meanwhile?: Promise<void> | undefined;
}

/** Starts them in their order; they are closed in the reverse one. @throws what their starts throw */
export async function startScheduling(closers: Closers, options: SchedulingOptions): Promise<SchedulingParts> {
  const {
    config,
    log,
    engine,
    attempts,
    controlPlane,
    sealing,
    base,
    workers,
    data,
    meanwhile,
    time,
    standsIn = false,
  } = options;
  const delays = new CheckDelays();
  const scheduler = holdScheduler(workers > 0 && !standsIn);
  const pool = await openSchedulerPool(workers, engine, log, scheduler, {
    ...data,
    checker: hostname(),
    logLevel: log.level,
    caps: capsOf(config.caps),
    delays: delays.memory,
    time: time?.memory,
    standsIn: standsIn && workers > 0,
  }).catch((error: unknown) => {
    scheduler.abandon();
    throw error;
  });
  closers.push(
    () => pool.close(),
    () => scheduler.stop(),
  );
  await Promise.all([scheduler.ready, meanwhile]);
  const { sql, notices, sealingKeyFile } = data;
  const sender = closing(
    closers,
    startSender({
      sql,
      sealing,
      attempts,
      log,
      version: VERSION,
      send: channelSender(attempts, config.mail),
      base,
      clocks: time,
    }),
  );
  const isNeeded = () => controlPlane.syncs.isNeeded();
  const syncs = closing(
    closers,
    startSyncs({ sql, notices, sealingKeyFile, engine, plans: config.plans, log, isNeeded, time: time?.memory }),
  );
  return { scheduler, pool, delays, metrics: () => joined([sender.metrics(), syncs.metrics()]) };
}

/** The scheduler's thread, and prober threads beside it. */
function openSchedulerPool(
  workers: number,
  engine: EngineOptions,
  log: Logger,
  scheduler: SchedulerHandle,
  rest: Omit<SchedulerData, "port">,
): Promise<Pool> {
  const data: SchedulerData = { port: scheduler.port, ...rest };
  return startPool({
    workers,
    standsBy: data.standsIn,
    engine,
    scheduler: {
      file: new URL(`../scheduler/role/worker${extname(import.meta.url)}`, import.meta.url),
      data,
      transfer: [scheduler.port],
    },
    log,
    onFatal(error) {
      if (scheduler.fail(error.cause instanceof Error ? error.cause : error)) return;
      log.fatal({ err: error }, "nothing can be checked any more: ending, so that the supervisor starts us again");
      process.exit(1);
    },
  });
}

/** Prometheus text of several registries. */
export async function joined(texts: readonly (string | Promise<string>)[]): Promise<string> {
  return (await Promise.all(texts)).join("\n");
}
