/**
 * The scheduler's thread: opens its own stores, replays what a crash left behind, and runs the loop on the shards that it takes, until the
 * main thread stops it.
 */
import { join } from "node:path";
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import { type CanaryWatch, findCanaries, watchCanaries } from "../engine/canary.ts";
import type { ProberFitness } from "../engine/check.ts";
import { createFingerprint } from "../engine/fingerprint.ts";
import type { EngineOptions } from "../engine/options.ts";
import type { SchedulerTask } from "../engine/pool.ts";
import type { Probers } from "../engine/probers.ts";
import { createLog } from "../log.ts";
import { ANY_LOCATION } from "../model/monitor.ts";
import { openHashKey } from "../store/hash-key.ts";
import { openResultStore } from "../store/results/clickhouse.ts";
import { type Pump, startPump } from "../store/results/pump.ts";
import type { ResultStore } from "../store/results/result-store.ts";
import { openSpool, type Spool } from "../store/results/spool.ts";
import { openSealing, type Sealing } from "../store/sealing.ts";
import { openSetAside, type SetAside } from "../store/set-aside.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import { openControlPlane, type SqlPlace } from "../store/sql/open.ts";
import { type SchedulerReport, ShardsLost, type Warning } from "../store/sql/ports/shards.ts";
import { startSinkWriter } from "../store/sql/sink-writer.ts";
import type { CheckServer } from "../store/state/checks.ts";
import type { OpenNotices } from "../store/state/notices.ts";
import { type NoticesPlace, openCheckServer, openNotices } from "../store/state/open.ts";
import type { RedisPlace } from "../store/state/redis.ts";
import { createRefusals, type Refusals } from "../store/state/refusals.ts";
import { createInputReader } from "./check-inputs.ts";
import { SYSTEM_CLOCKS } from "./clock.ts";
import { createHoldings, FIRST_SHARD, type Holdings } from "./holdings.ts";
import { createLedger } from "./ledger.ts";
import { type Loop, type LoopOptions, startLoop } from "./loop.ts";
import { createMetrics, type SchedulerMetrics } from "./metrics.ts";
import { PASSING_ROOM } from "./passing-checks.ts";
import { type CheckerPlace, type OpenProbers, openProbers, type ProberEvents, type ThreadPlace } from "./probers.ts";
import { REFRESH_MS, SchedulerQuarantine } from "./quarantine.ts";
import { replay } from "./replay.ts";
import { createShardKeeper, SHARD_LEASE_MS, type ShardKeeper, takeOwn } from "./shard-keeper.ts";
import { startShardTurns } from "./shard-turns.ts";
import { createPartWriter } from "./sink-writer.ts";
import type { FromScheduler, ToScheduler } from "./status.ts";

/** What main.ts hands over; structured-cloneable but for the port, which is transferred. */
export interface SchedulerData {
  readonly port: MessagePort;
  /** When a scheduler without beats counts as dead, ms; absent: the default. */
  readonly shardLeaseMs?: number;
  /** Names this process in the rows. */
  readonly checker: string;
  /** The location of this process's probers. */
  readonly locations: readonly string[];
  /** Where separate checker processes are reached; null: this process's probers check. */
  readonly checkers: RedisPlace | null;
  readonly sql: SqlPlace;
  /** Passing checks are requested there too. */
  readonly notices: NoticesPlace;
  readonly sealingKeyFile: string;
  readonly clickhouseUrl: string;
  readonly spoolDir: string;
  readonly logLevel: string;
}

/** How often this thread reports to the main thread, ms. */
const STATUS_MS = 1_000;
/** How long a stop waits for checks that run; what has not ended by then is cancelled, and is due again after the next start. */
const DRAIN_MS = 3_000;
/** How long a stop waits for ClickHouse; rows that it did not take stay in the spool. */
const PUMP_DRAIN_MS = 2_000;
/** Old rows are thinned once a day, at this hour (UTC). */
const THINNING_HOUR = 3;

interface Stores {
  readonly controlPlane: ControlPlane;
  readonly results: ResultStore;
  readonly notices: OpenNotices;
  readonly spool: Spool;
  readonly setAside: SetAside;
}

/** What there is once checks run. */
interface Works {
  readonly loop: Loop;
  readonly holdings: Holdings;
  readonly pump: Pump;
  readonly keeper: ShardKeeper;
  readonly metrics: SchedulerMetrics;
  readonly refusals: Refusals;
  readonly fitness: ReadonlyMap<number, ProberFitness>;
  readonly quarantine: SchedulerQuarantine;
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
  const holdings = createHoldings((await stores.controlPlane.shards.view()).shards.length);
  const ledger = createLedger({ checker: given.checker, fenceOf: holdings.fenceOf });
  const metrics = createMetrics();
  const [fitness, refusals] = [new Map<number, ProberFitness>(), sayRefusals(log)];
  const pump = await openPump(stores, log);
  let loop: Loop | undefined;
  let watch: CanaryWatch | undefined;
  let keeper: ShardKeeper | undefined;
  let tell: () => Promise<void> = async () => undefined;
  const sealing = openSealing({ keyFile: given.sealingKeyFile, createIfMissing: false });
  const quarantine = await openQuarantine(stores, sealing, log);
  const { probers, hasChecker, areJudged } = await openGuarded(
    placeOf(given, control, stores, sealing),
    quarantine.keeper,
    {
      onOutcomes: (outcomes) => loop?.take(outcomes),
      onWithheld: (outcomes) => loop?.withhold(outcomes),
      onFitness: (prober, state) => fitness.set(prober, state),
      onChange: ({ type, detail }) => {
        if (type !== "up") log.warn({ detail }, `prober ${type}`);
        void tell();
      },
      onAvailability: () => loop?.reconsider(),
      onRefused: refusals.add,
      onTrouble: (error) => log.error({ err: error }, "reading locations and their keys failed and is tried again"),
    },
  );
  const { controlPlane, spool } = stores;
  const running = await startLoop({
    ...stores,
    holdings,
    own: await takeOwn(controlPlane.shards, spool.name, controlPlane.dialect === "sqlite"),
    replay: () => replayAll({ ...stores, holdings, ledger, pump, log }),
    onLost: (fences) => keeper?.lost(fences),
    ledger,
    pump,
    probers,
    clocks: SYSTEM_CLOCKS,
    readInput: createInputReader(sealing.open, (error) => metrics.sealedFault(error, log)),
    hasChecker,
    areJudged,
    log,
    onSuspicion: () => watch?.ask(),
    onOutcome: (taken, outcome) => metrics.count(taken.monitor.kind, outcome),
  });
  loop = running;
  const parts = { loop: running, holdings, pump, refusals };
  const kept = createKeeper(given, stores, { ...parts, log });
  keeper = kept;
  // The process that measures watches its own network.
  const canaries = areJudged ? [] : await findCanaries(engine);
  watch = watchCanaries({ canaries, engine, onReport: running.canary });
  const stopMoves = await keepShards(given, stores, kept, log);
  const works = { ...parts, keeper: kept, metrics, fitness, quarantine: quarantine.keeper };
  tell = () => report(given.port, stores, works, probers);
  const timers = [setInterval(() => void tell(), STATUS_MS), thinNightly(stores.results, holdings, log)];
  const checks = areJudged ? null : await servePassing(given, sealing, running);
  await tell();

  await stopOrder(given.port);
  await checks?.close();
  for (const timer of timers) clearInterval(timer);
  quarantine.close();
  watch.close();
  await stopMoves();
  await end(works, stores, probers, log);
  post(given.port, { type: "stopped" });
  given.port.close();
}

function placeOf(
  { checkers, locations }: SchedulerData,
  control: MessagePort,
  { controlPlane }: Stores,
  sealing: Sealing,
): ThreadPlace | CheckerPlace {
  if (checkers === null) return { control, locations };
  return { redis: checkers, locations: controlPlane.locations, sealing };
}

/** Probers that do not run quarantined configurations, and report new ones. */
async function openGuarded(
  place: ThreadPlace | CheckerPlace,
  keeper: SchedulerQuarantine,
  events: Omit<ProberEvents, "onHarm">,
): Promise<OpenProbers> {
  const open = await openProbers(place, { ...events, onHarm: (run, harm) => keeper.harmed(run, harm) });
  return { ...open, probers: keeper.guard(open.probers) };
}

/** Loads the quarantine before the first check, because a held configuration would bring a prober down again. */
async function openQuarantine(
  { controlPlane, notices }: Stores,
  sealing: Sealing,
  log: Logger,
): Promise<{ readonly keeper: SchedulerQuarantine; readonly close: () => void }> {
  const keeper = new SchedulerQuarantine({
    store: controlPlane.quarantine,
    fingerprint: createFingerprint(await openHashKey(controlPlane, sealing)),
    nowMs: SYSTEM_CLOCKS.wallNowMs,
    log,
    onStruck: () => notices.publish("quarantine"),
  });
  const look = (): void => {
    keeper
      .refresh()
      .catch((error: unknown) => log.error({ err: error }, "the quarantine cannot be read; what is known holds"));
  };
  await keeper.refresh();
  const timer = setInterval(look, REFRESH_MS);
  const unsubscribe = notices.subscribe("quarantine", look);
  return {
    keeper,
    close() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}

function sayRefusals(log: Logger): Refusals {
  return createRefusals({
    monotonicNowMs: SYSTEM_CLOCKS.monotonicNowMs,
    say: (location, count, reason) =>
      log.warn({ location, count, reason }, "what came from a location's checkers is refused: is its key stolen?"),
  });
}

/** Separate checker processes take passing checks themselves. */
function servePassing({ notices }: SchedulerData, sealing: Sealing, loop: Loop): Promise<CheckServer> {
  return openCheckServer(notices, sealing, { location: ANY_LOCATION, room: PASSING_ROOM, take: loop.check });
}

/** Waits for running checks, writes everything, and frees the shards. */
async function end(
  { loop, keeper, pump }: Works,
  stores: Stores,
  probers: Pick<Probers, "close">,
  log: Logger,
): Promise<void> {
  await loop.drain(DRAIN_MS);
  await probers.close();
  await loop.drain(0);
  // So the next scheduler need not wait until this one counts as dead.
  await keeper
    .leave()
    .catch((error: unknown) =>
      log.warn({ err: error }, "shards are not given back: others wait for the end of their lease"),
    );
  await pump.stop(PUMP_DRAIN_MS);
  await closeStores(stores);
}

async function openPump({ controlPlane, spool, results, setAside }: Stores, log: Logger): Promise<Pump> {
  const appliedSeq = await controlPlane.sink.appliedSeq(spool.name);
  const pump = startPump({ spool, results, log, setAside, appliedSeq });
  // Rows that the last process left go first.
  pump.wake(appliedSeq);
  return pump;
}

async function openStores(given: SchedulerData, log: Logger): Promise<Stores> {
  const controlPlane = await openSinkControlPlane(given.sql);
  const results = openResultStore({ url: given.clickhouseUrl, log });
  const notices = await openNotices(given.notices);
  const spool = await openSpool({ dir: given.spoolDir, log, afterSeq: controlPlane.sink.appliedSeq });
  const file = join(given.spoolDir, "set-aside.ndjson");
  const setAside = await openSetAside({ file, log, nowMs: SYSTEM_CLOCKS.wallNowMs });
  return { controlPlane, results, notices, spool, setAside };
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

/** Applies the rows that are on disk and not yet in SQL. */
async function replayAll({
  spool,
  controlPlane,
  holdings,
  ledger,
  pump,
  setAside,
  log,
}: Pick<LoopOptions, "spool" | "controlPlane" | "holdings" | "ledger" | "pump" | "setAside" | "log">): Promise<void> {
  const writer = createPartWriter({
    spool,
    store: controlPlane.sink,
    setAside,
    onSetAside: ledger.heal,
    onJobsEnded: () => {},
    onLost: (fences) => {
      throw new ShardsLost(fences.map(({ shard }) => shard));
    },
    // A store that is away ends the start, like everything else that is missing.
    persist: (_step, attempt) => attempt(),
    nowMs: SYSTEM_CLOCKS.wallNowMs,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  const { rows, refusedRows } = await replay(spool, controlPlane, holdings, ledger, writer);
  pump.wake(await controlPlane.sink.appliedSeq(spool.name));
  if (rows > 0) log.info({ rows }, "results that were on disk when the last run ended are applied");
  if (refusedRows > 0) log.warn({ refusedRows }, "results of shards that others have taken since are dropped");
}

function createKeeper(
  { checker, shardLeaseMs = SHARD_LEASE_MS }: SchedulerData,
  stores: Stores,
  works: Pick<Works, "loop" | "holdings" | "pump" | "refusals"> & { readonly log: Logger },
): ShardKeeper {
  const { loop, holdings, log } = works;
  const { controlPlane, notices, spool } = stores;
  return createShardKeeper({
    store: controlPlane.shards,
    holdings,
    id: spool.name,
    name: `${checker} ${process.pid}`,
    leaseMs: shardLeaseMs,
    monotonicNowMs: SYSTEM_CLOCKS.monotonicNowMs,
    log,
    report: () => reportOf(works, stores),
    load: loop.load,
    giveBack: loop.giveBack,
    lose: loop.lose,
    onFreed: () => notices.publish("shards"),
  });
}

/** A separate data folder has one owner: it needs no beats and shares with no process. @returns what stops it */
async function keepShards(
  { shardLeaseMs = SHARD_LEASE_MS }: SchedulerData,
  { controlPlane, notices }: Stores,
  keeper: ShardKeeper,
  log: Logger,
): Promise<() => Promise<void>> {
  if (controlPlane.dialect === "sqlite") return async () => undefined;
  return startShardTurns({ keeper, leaseMs: shardLeaseMs, notices, log });
}

/** For the other processes. */
type Reporting = Pick<Works, "loop" | "pump" | "refusals">;

function reportOf(works: Reporting, { spool, setAside }: Stores): SchedulerReport {
  const { loop, pump } = works;
  const { monitors, running, waiting, silentMonitors, skippedTurns, trouble } = loop.state();
  const spoolRows = spool.rows;
  return {
    monitors,
    running,
    waiting,
    silentMonitors,
    skippedTurns,
    spoolRows,
    trouble: trouble ?? pump.state.lastError,
    readsBoundRows: true,
    warnings: warningsOf(works.refusals, setAside),
  };
}

/** How long a row that was set aside is reported, ms: a day, so that an operator who looks once a day sees it. */
const SET_ASIDE_TOLD_MS = 24 * 3_600_000;

function warningsOf(refusals: Refusals, setAside: SetAside): readonly Warning[] {
  const atMs = setAside.lastAtMs;
  return [
    ...(refusals.troubled().length > 0 ? (["location_troubled"] as const) : []),
    ...(atMs !== null && Date.now() - atMs < SET_ASIDE_TOLD_MS ? (["rows_set_aside"] as const) : []),
  ];
}

/** For the main thread. */
async function report(
  port: MessagePort,
  stores: Stores,
  works: Works,
  probers: Pick<Probers, "size" | "overBudget">,
): Promise<void> {
  const { loop, holdings, keeper, metrics, refusals, fitness, quarantine } = works;
  const { controlPlane, spool, setAside } = stores;
  const state = loop.state();
  const openIncidents = await controlPlane.incidents.countOpen().catch(() => 0);
  const unfitProbers = [...fitness.values()].filter((one) => !one.fit).length;
  const shards = holdings.fences().map(({ shard }) => shard);
  const { taken: shardsTaken, givenBack: shardsGivenBack, lost: shardsLost } = keeper.moves;
  const moves = { shards: shards.length, shardsTaken, shardsGivenBack, shardsLost };
  const { sizeBytes: spoolBytes, rows: spoolRows, droppedRows } = spool;
  const gauges = {
    ...state,
    ...moves,
    ...{
      spoolBytes,
      spoolRows,
      droppedRows,
      unfitProbers,
      openIncidents,
      quarantined: quarantine.size,
      overBudget: probers.overBudget,
      setAsideRows: setAside.rows,
    },
  };
  const metricsText = await metrics.text(gauges, refusals);
  const own = { shards, healthyProbers: probers.size, spoolBytes, metrics: metricsText };
  post(port, { type: "status", status: { ...reportOf(works, stores), ...own } });
}

function thinNightly(results: ResultStore, holdings: Holdings, log: Logger): NodeJS.Timeout {
  const isThinner = (): boolean => holdings.fence(FIRST_SHARD) !== undefined;
  let thinnedOn = -1;
  return setInterval(() => {
    const now = new Date();
    if (now.getUTCHours() < THINNING_HOUR || now.getUTCDate() === thinnedOn || !isThinner()) return;
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
