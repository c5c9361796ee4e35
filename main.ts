/**
 * Wiring only: settings → stores → engine → scheduler → API. Starts in that order, stops in reverse. The one file that may import from
 * every folder.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, hostname } from "node:os";
import { extname } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { newKeyText } from "./api/key-text.ts";
import { startApi } from "./api/start.ts";
import { type Config, engineOptionsOf, OWNER_KEY_FILE } from "./config.ts";
import { type Pool, startPool } from "./engine/pool.ts";
import { ownEndpoints } from "./own-endpoints.ts";
import type { FromScheduler, SchedulerStatus, ToScheduler } from "./scheduler/status.ts";
import type { SchedulerData } from "./scheduler/worker.ts";
import { claimDataFolder, type DataFolder } from "./store/data-folder.ts";
import { openResultStore } from "./store/results/clickhouse.ts";
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from "./store/results/embedded/child.ts";
import { openCheckedSealing } from "./store/sealing.ts";
import type { ControlPlane } from "./store/sql/control-plane.ts";
import { openControlPlane, type SqlPlace } from "./store/sql/open.ts";
import { openState } from "./store/state/open.ts";
import { VERSION } from "./version.ts";

export interface ServiceOptions {
  readonly log: Logger;
  /** What the start is doing, for people. */
  readonly progress: (line: string) => void;
}

export interface Service {
  /** Without /api/v1. */
  readonly url: string;
  /** Of a first start; shown once. */
  readonly firstKey: string | null;
  readonly ownerKey: string | null;
  readonly keyFile: string;
  readonly projectId: number | null;
  /** Drains and stops everything, in reverse order. */
  close(): Promise<void>;
}

/** The one shard of a process that is everything (design 6: shards come with roles apart). */
const SHARD = 0;

/** @throws an Error of one line that says what to do; nothing keeps running then */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return { ...(await start(config, options, closers)), close: closeAll };
  } catch (error) {
    await closeAll().catch((failure: unknown) =>
      options.log.error({ err: failure }, "stopping after a failed start failed too"),
    );
    throw error;
  }
}

async function start(
  config: Config,
  { log, progress }: ServiceOptions,
  closers: (() => Promise<void>)[],
): Promise<Omit<Service, "close">> {
  const folder = claimDataFolder(config.dataDir);
  closers.push(async () => folder.release());

  const sql: SqlPlace =
    config.databaseUrl === null ? { file: folder.file("control.sqlite") } : { url: config.databaseUrl };
  const controlPlane = await openControlPlane(sql, { role: "api" });
  closers.push(() => controlPlane.close());
  const sealing = await openCheckedSealing(controlPlane.meta, {
    keyFile: config.sealingKeyFile ?? folder.file("sealing.key"),
    createIfMissing: config.sealingKeyFile === null,
  });
  const first = await firstStart(controlPlane, folder);

  const statePlace = config.redisUrl === null ? { file: folder.file("state.sqlite") } : { url: config.redisUrl };
  const state = await openState(statePlace);
  closers.push(() => state.close());

  const embedded = config.clickhouseUrl === null ? await startEmbedded(folder, log, progress) : null;
  if (embedded !== null) closers.push(() => embedded.close());
  const clickhouseUrl = config.clickhouseUrl ?? embedded?.url ?? "";
  const results = openResultStore({ url: clickhouseUrl, log });
  closers.push(() => results.close());

  const scheduler = startScheduler();
  const own = await ownEndpoints(config, [config.databaseUrl, config.redisUrl, clickhouseUrl]);
  const pool = await openPool(config, log, scheduler, own, {
    shard: SHARD,
    checker: hostname(),
    sql,
    notices: statePlace,
    clickhouseUrl,
    spoolDir: folder.file("spool"),
    logLevel: log.level,
  });
  closers.push(
    () => pool.close(),
    () => scheduler.stop(),
  );
  await scheduler.ready;

  const registry = processMetrics();
  const api = await startApi({
    config: { ...config, ownEndpoints: own },
    controlPlane,
    state,
    results,
    sealing,
    clock: { now: () => Date.now() },
    log,
    version: VERSION,
    health: { database: () => controlPlane.ping(), queue: () => scheduler.ping() },
    metrics: async () => `${await registry.metrics()}\n${scheduler.status()?.metrics ?? ""}`,
    regions: async () => [{ code: "any", healthyCheckers: (scheduler.status()?.healthyProbers ?? 0) > 0 ? 1 : 0 }],
    storeCondition: () => conditionOf(embedded, scheduler.status()),
  });
  closers.push(() => api.close());
  return { url: config.baseUrl ?? api.url, ...first };
}

interface FirstStart {
  readonly firstKey: string | null;
  readonly ownerKey: string | null;
  readonly keyFile: string;
  readonly projectId: number | null;
}

/** Owner, workspace on the Business plan, project and key of an empty control plane (design 9). */
async function firstStart(controlPlane: ControlPlane, folder: DataFolder): Promise<FirstStart> {
  const keyFile = folder.file(OWNER_KEY_FILE);
  if (!(await controlPlane.accounts.isEmpty()))
    return { firstKey: null, ownerKey: readKey(keyFile), keyFile, projectId: null };
  const nowMs = Date.now();
  const { userId, organizationId, projectId } = await controlPlane.accounts.createFirst({
    email: "owner@localhost",
    userName: "Owner",
    workspaceName: "Workspace",
    plan: "business",
    projectName: "Project",
    nowMs,
  });
  const key = newKeyText();
  const record = await controlPlane.keys.create({
    name: "First key",
    kind: "workspace",
    userId,
    organizationId,
    expiresAtMs: null,
    nowMs,
    secretHash: key.secretHash,
  });
  const text = key.text(record.id);
  writeFileSync(keyFile, `${text}\n`, { mode: 0o600 });
  return { firstKey: text, ownerKey: text, keyFile, projectId };
}

function readKey(keyFile: string): string | null {
  return existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : null;
}

async function startEmbedded(
  folder: DataFolder,
  log: Logger,
  progress: (line: string) => void,
): Promise<EmbeddedClickHouse> {
  const dir = folder.file("clickhouse");
  if (!existsSync(dir)) progress("making the result store (a few seconds the first time) …");
  return startEmbeddedClickHouse({ dir, log });
}

interface SchedulerHandle {
  /** Goes to the scheduler's thread. */
  readonly port: MessagePort;
  readonly ready: Promise<void>;
  /** Its thread has died: a start that waits for it fails. False when it was running already. */
  fail(error: Error): boolean;
  status(): SchedulerStatus | undefined;
  /** Rejects when the scheduler's thread has not spoken for a while. */
  ping(): Promise<void>;
  stop(): Promise<void>;
}

/** The scheduler speaks every second; silent for longer than this it counts as away, ms. */
const SCHEDULER_SILENT_MS = 5_000;
/** Longest wait for the scheduler to write everything down, ms. */
const SCHEDULER_STOP_MS = 15_000;

function startScheduler(): SchedulerHandle {
  const { port1, port2 } = new MessageChannel();
  let latest: SchedulerStatus | undefined;
  let heardAtMs = 0;
  const stopped = new Promise<void>((resolve) => port1.once("close", resolve));
  let rejectReady: (error: Error) => void = () => {};
  const ready = new Promise<void>((resolve, reject) => {
    rejectReady = reject;
    port1.on("message", (message: FromScheduler) => {
      if (message.type !== "status") return;
      latest = message.status;
      heardAtMs = performance.now();
      resolve();
    });
  });
  // The pool may report a death before anybody waits.
  ready.catch(() => {});
  return {
    port: port2,
    ready,
    fail(error) {
      rejectReady(error);
      return latest === undefined;
    },
    status: () => latest,
    async ping() {
      if (performance.now() - heardAtMs > SCHEDULER_SILENT_MS) throw new Error("the scheduler does not answer");
    },
    async stop() {
      const order: ToScheduler = { type: "stop" };
      port1.postMessage(order);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, SCHEDULER_STOP_MS);
      });
      await Promise.race([stopped, late]);
      clearTimeout(timer);
      port1.close();
    },
  };
}

function openPool(
  config: Config,
  log: Logger,
  scheduler: SchedulerHandle,
  own: readonly string[],
  rest: Omit<SchedulerData, "port">,
): Promise<Pool> {
  const data: SchedulerData = { port: scheduler.port, ...rest };
  return startPool({
    workers: config.workers ?? Math.max(1, availableParallelism() - 1),
    engine: engineOptionsOf(config, own),
    scheduler: {
      file: new URL(`./scheduler/worker${extname(import.meta.url)}`, import.meta.url),
      data,
      transfer: [scheduler.port],
    },
    log,
    onFatal(error) {
      // Errors of a start carry the line for the operator in their cause.
      if (scheduler.fail(error.cause instanceof Error ? error.cause : error)) return;
      log.fatal(
        { err: error },
        "nothing can be checked any more: ending, so that whoever supervises us starts us again",
      );
      process.exit(1);
    },
  });
}

function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Why results are late or away, for the API's answers. */
function conditionOf(embedded: EmbeddedClickHouse | null, status: SchedulerStatus | undefined): string | null {
  const state = embedded?.state();
  if (state?.isDiskFull === true) return "The disk is full: results wait until there is room";
  if (state !== undefined && state.status !== "ready") return "The result store is being restarted: results wait";
  return status?.trouble ?? null;
}
