/** The scheduler's thread: opens its own stores, replays what a death left behind, and runs the loop until the main thread says stop. */
import { join } from "node:path";
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import { type CanaryWatch, findCanaries, watchCanaries } from "../engine/canary.ts";
import type { ProberFitness } from "../engine/check.ts";
import type { EngineOptions } from "../engine/options.ts";
import type { SchedulerTask } from "../engine/pool.ts";
import { connectProbers } from "../engine/probers.ts";
import { createLog } from "../log.ts";
import { ANY_LOCATION } from "../model/monitor.ts";
import { openResultStore } from "../store/results/clickhouse.ts";
import { type Pump, startPump } from "../store/results/pump.ts";
import type { ResultStore } from "../store/results/result-store.ts";
import { openSpool, type Spool } from "../store/results/spool.ts";
import { openSealing, SEALED_FOR } from "../store/sealing.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import { openControlPlane, type SqlPlace } from "../store/sql/open.ts";
import { startSinkWriter } from "../store/sql/sink-writer.ts";
import type { OpenNotices } from "../store/state/notices.ts";
import { type NoticesPlace, openCheckServer, openNotices } from "../store/state/open.ts";
import { createInputReader } from "./check-inputs.ts";
import { SYSTEM_CLOCKS } from "./clock.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type Loop, startLoop } from "./loop.ts";
import { createMetrics, type SchedulerMetrics } from "./metrics.ts";
import { PASSING_ROOM } from "./passing-checks.ts";
import { replay } from "./replay.ts";
import type { FromScheduler, SchedulerStatus, ToScheduler } from "./status.ts";

/** What main.ts hands over; structured-cloneable but for the port, which is transferred. */
export interface SchedulerData {
  readonly port: MessagePort;
  readonly shard: number;
  /** Names this process in the rows. */
  readonly checker: string;
  /** Where the probers of this process stand. */
  readonly locations: readonly string[];
  readonly sql: SqlPlace;
  /** Also where passing checks are asked for. */
  readonly notices: NoticesPlace;
  readonly sealingKeyFile: string;
  readonly clickhouseUrl: string;
  readonly spoolDir: string;
  readonly logLevel: string;
}

/** How often the main thread hears of us, ms. */
const STATUS_MS = 1_000;
/** How long a stop waits for checks that run; what has not ended by then is cancelled, and is due again after the next start. */
const DRAIN_MS = 3_000;
/** How long a stop waits for ClickHouse; what it did not take stays in the spool. */
const PUMP_DRAIN_MS = 2_000;
/** Yesterday's rows may go once a day, at this hour (UTC). */
const THINNING_HOUR = 3;

interface Stores {
  readonly controlPlane: ControlPlane;
  readonly results: ResultStore;
  readonly notices: OpenNotices;
  readonly spool: Spool;
}

/** Called by engine/pool.ts. Resolves after a stop. */
export async function task({ control, engine, data }: SchedulerTask): Promise<void> {
  const given = data as SchedulerData;
  try {
    await serve(given, control, engine);
  } catch (error) {
    post(given.port, { type: "failed", message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

async function serve(given: SchedulerData, control: MessagePort, engine: EngineOptions): Promise<void> {
  const log = createLog(given.logLevel, "scheduler");
  const stores = await openStores(given, log);
  const ledger = await rememberAll(given, stores, log);
  const metrics = createMetrics();
  const fitness = new Map<number, ProberFitness>();
  const pump = await openPump(given, stores, log);
  let loop: Loop | undefined;
  let watch: CanaryWatch | undefined;
  let tell: () => Promise<void> = async () => undefined;
  const probers = connectProbers(control, {
    onOutcomes: (outcomes) => loop?.take(outcomes),
    onFitness: (prober, state) => fitness.set(prober, state),
    onChange: ({ type, detail }) => {
      if (type !== "up") log.warn({ detail }, `prober ${type}`);
      void tell();
    },
  });
  const sealing = openSealing({ keyFile: given.sealingKeyFile, createIfMissing: false });
  const running = await startLoop({
    shard: given.shard,
    controlPlane: stores.controlPlane,
    ledger,
    spool: stores.spool,
    pump,
    notices: stores.notices,
    probers,
    clocks: SYSTEM_CLOCKS,
    readInput: createInputReader((sealed) => sealing.open(SEALED_FOR.tunnel, sealed)),
    hasChecker: (location) => given.locations.includes(location),
    log,
    onSuspicion: () => watch?.ask(),
    onOutcome: (taken, outcome) => metrics.count(taken.monitor.kind, outcome),
  });
  loop = running;
  watch = watchCanaries({ canaries: await findCanaries(engine), engine, onReport: (said) => running.canary(said) });
  tell = () => report(given.port, running, stores, pump, metrics, probers.size, fitness);
  const timers = [setInterval(() => void tell(), STATUS_MS), thinNightly(stores.results, log)];
  const checks = await openCheckServer(given.notices, sealing, {
    location: ANY_LOCATION,
    room: PASSING_ROOM,
    take: running.check,
  });
  await tell();

  await stopOrder(given.port);
  await checks.close();
  for (const timer of timers) clearInterval(timer);
  watch.close();
  await running.drain(DRAIN_MS);
  await probers.close();
  await running.drain(0);
  await pump.stop(PUMP_DRAIN_MS);
  await closeStores(stores);
  post(given.port, { type: "stopped" });
  given.port.close();
}

async function openPump(
  { spoolDir, shard }: SchedulerData,
  { controlPlane, spool, results }: Stores,
  log: Logger,
): Promise<Pump> {
  const appliedSeq = await controlPlane.sink.appliedSeq(shard);
  const pump = startPump({ spool, results, log, rejectedFile: join(spoolDir, "rejected.ndjson"), appliedSeq });
  // What the last run left behind goes first.
  pump.wake(appliedSeq);
  return pump;
}

async function openStores(given: SchedulerData, log: Logger): Promise<Stores> {
  const controlPlane = await openSinkControlPlane(given.sql);
  const results = openResultStore({ url: given.clickhouseUrl, log });
  const notices = await openNotices(given.notices);
  const afterSeq = await controlPlane.sink.appliedSeq(given.shard);
  const spool = await openSpool({ dir: given.spoolDir, log, afterSeq });
  return { controlPlane, results, notices, spool };
}

/** On SQLite the sink's transactions leave this thread. */
async function openSinkControlPlane(sql: SqlPlace): Promise<ControlPlane> {
  const controlPlane = await openControlPlane(sql, { role: "sink" });
  if ("url" in sql) return controlPlane;
  const writer = startSinkWriter(sql.file);
  return {
    ...controlPlane,
    sink: { ...controlPlane.sink, apply: writer.apply },
    async close() {
      await writer.close();
      await controlPlane.close();
    },
  };
}

async function closeStores({ controlPlane, results, notices, spool }: Stores): Promise<void> {
  await spool.close();
  await results.close();
  await notices.close();
  await controlPlane.close();
}

/** Every active monitor's memory, moved forward by what was on disk but not yet applied. */
async function rememberAll(given: SchedulerData, { controlPlane, spool }: Stores, log: Logger): Promise<Ledger> {
  const openIncidents = await controlPlane.sink.openIncidents();
  const toldExpiries = await controlPlane.sink.toldExpiries();
  const ledger = createLedger({ shard: given.shard, checker: given.checker, openIncidents, toldExpiries });
  for (const { monitor, live } of (await controlPlane.monitors.changedSince(-1)).changed) ledger.set(monitor, live);
  const rows = await replay(given.shard, spool, controlPlane, ledger);
  if (rows > 0) log.info({ rows }, "results that were on disk when the last run ended are applied");
  return ledger;
}

async function report(
  port: MessagePort,
  loop: Loop,
  { controlPlane, spool }: Stores,
  pump: Pump,
  metrics: SchedulerMetrics,
  probers: number,
  fitness: ReadonlyMap<number, ProberFitness>,
): Promise<void> {
  const state = loop.state();
  const openIncidents = await controlPlane.incidents.countOpen().catch(() => 0);
  const unfitProbers = [...fitness.values()].filter((one) => !one.fit).length;
  const { sizeBytes: spoolBytes, rows: spoolRows, droppedRows } = spool;
  const status: SchedulerStatus = {
    isReady: true,
    monitors: state.monitors,
    running: state.running,
    waiting: state.waiting,
    skippedTurns: state.skippedTurns,
    silentMonitors: state.silentMonitors,
    healthyProbers: probers,
    spoolBytes,
    spoolRows,
    trouble: state.trouble ?? pump.state.lastError,
    metrics: await metrics.text({ ...state, spoolBytes, spoolRows, droppedRows, unfitProbers, openIncidents }),
  };
  post(port, { type: "status", status });
}

function thinNightly(results: ResultStore, log: Logger): NodeJS.Timeout {
  let thinnedOn = -1;
  return setInterval(() => {
    const now = new Date();
    if (now.getUTCHours() < THINNING_HOUR || now.getUTCDate() === thinnedOn) return;
    thinnedOn = now.getUTCDate();
    results
      .thin()
      .catch((error: unknown) => log.error({ err: error }, "thinning failed; tomorrow's will do its work too"));
  }, 60_000);
}

function stopOrder(port: MessagePort): Promise<void> {
  return new Promise((resolve) => {
    port.on("message", (message: ToScheduler) => {
      if (message.type === "stop") resolve();
    });
  });
}

function post(port: MessagePort, message: FromScheduler): void {
  port.postMessage(message);
}
