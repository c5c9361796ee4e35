/**
 * Everything that runs in the scheduler's thread. open() opens what needs a wait, the constructor connects the parts, start() replays what a
 * crash left behind and begins to check, stop() writes everything down. Nothing reports or is called back before all parts are there.
 */
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import { accountName, createFingerprint, type Fingerprint } from "../../engine/contract/fingerprint.ts";
import type { ProberFitness } from "../../engine/contract/messages.ts";
import type { EngineOptions } from "../../engine/contract/options.ts";
import { type Canary, findCanaries } from "../../engine/trust/canary.ts";
import type { Caps } from "../../model/caps.ts";
import { ANY_LOCATION } from "../../model/monitor.ts";
import { SHARD_LEASE_MS } from "../../model/shards.ts";
import { onTicks } from "../../model/ticks.ts";
import type { Pump } from "../../store/results/pump.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { openHashKey } from "../../store/sealing/hash-key.ts";
import { openSealing } from "../../store/sealing/sealing.ts";
import type { SqlLocation } from "../../store/sql/control-plane/open.ts";
import { ShardsLost } from "../../store/sql/coordination/shards-port.ts";
import { type NoticesLocation, openCheckServer } from "../../store/state/open.ts";
import type { RedisLocation } from "../../store/state/redis.ts";
import { createRefusals, type Refusals } from "../../store/state/refusals.ts";
import { type Clocks, SYSTEM_CLOCKS } from "../clock.ts";
import { CheckDelays } from "../judge/check-delays.ts";
import { MonitorStates } from "../judge/states.ts";
import { createMetrics } from "../metrics.ts";
import { createInputReader } from "../plan/check-inputs.ts";
import { ProberRelay } from "../remote/prober-relay.ts";
import { type OpenProbers, openProbers, type ProberTargets, type StandInParts } from "../remote/probers.ts";
import { ONE_OFF_LIMITS } from "../run/one-off.ts";
import { REFRESH_MS, SchedulerQuarantine } from "../run/quarantine.ts";
import { ShardKeeper, takeOwn } from "../shards/keeper.ts";
import { OwnedShards } from "../shards/owned-shards.ts";
import { startShardTurns } from "../shards/shard-turns.ts";
import { SharedTime } from "../shared-time.ts";
import { replay } from "../sink/replay.ts";
import { StorePartWriter } from "../sink/writer.ts";
import { Tenure } from "../tenure.ts";
import { Loop, type LoopOptions } from "./loop.ts";
import { type ReportedParts, reportOf, type StatusParts, statusOf } from "./report.ts";
import type { FromScheduler } from "./status.ts";
import { closeStores, openPump, openStores, type Stores } from "./stores.ts";
import { thinDaily } from "./thinning.ts";

/** What roles/up.ts hands over; structured-cloneable but for the port, which is transferred. */
export interface SchedulerData {
  readonly port: MessagePort;
  /** Names this process in the rows. */
  readonly checker: string;
  /** Where this process's prober threads stand; empty: it has none. */
  readonly locations: readonly string[];
  /** Where the checkers of other locations are reached; null: there are none. */
  readonly checkers: RedisLocation | null;
  /** Its prober threads stand by: while Redis is away they run the checks of the general pool. */
  readonly standsIn: boolean;
  readonly sql: SqlLocation;
  /** One-off checks are requested there too. */
  readonly notices: NoticesLocation;
  readonly sealingKeyFile: string;
  readonly clickhouseUrl: string;
  /** All who read there are in this process, and ask first (store/results/wanted-rows.ts). */
  readonly asksFirst: boolean;
  readonly spoolDir: string;
  /** Checks in flight at the same time. */
  readonly caps: Caps;
  /** Of CheckDelays. */
  readonly delays: SharedArrayBuffer;
  readonly logLevel: string;
  /** Of SharedTime; absent: the machine's clock is the only one. */
  readonly time?: SharedArrayBuffer | undefined;
}

/** How often this thread reports to the main thread, ms. */
const STATUS_MS = 1_000;
/** How long a stop waits for checks that run; what has not ended by then is cancelled, and is due again after the next start. */
const DRAIN_MS = 3_000;
/** How long a stop waits for ClickHouse; rows that it did not take stay in the spool. */
const PUMP_DRAIN_MS = 2_000;

export interface RuntimeOptions {
  readonly settings: SchedulerData;
  /** Carries the prober threads. */
  readonly control: MessagePort;
  readonly engine: EngineOptions;
  readonly log: Logger;
}

/** What was opened with a wait. */
interface OpenParts {
  readonly stores: Stores;
  readonly shardCount: number;
  readonly tenure: Tenure;
  readonly sealing: Sealing;
  readonly fingerprint: Fingerprint;
  readonly pump: Pump;
  readonly quarantine: OpenQuarantine;
  readonly reports: ProberRelay;
  readonly open: OpenProbers;
  /** null: this process measures nothing itself. */
  readonly canaries: readonly Canary[] | null;
  readonly time: SharedTime;
}

export class SchedulerRuntime {
  readonly #options: RuntimeOptions;
  readonly #opened: OpenParts;
  readonly #states: MonitorStates;
  readonly #parts: StatusParts;
  /** Of this process's probers. */
  readonly #fitness = new Map<number, ProberFitness>();
  #isStarted = false;
  /** The text that the main thread has. */
  #reportedMetrics = "";
  /** In the order of a stop. */
  readonly #stops: (() => void | Promise<void>)[] = [];

  /** @throws StoreError when a store cannot be used; CanaryError for a canary that is none */
  static async open(options: RuntimeOptions): Promise<SchedulerRuntime> {
    const { settings, control, engine, log } = options;
    const time = new SharedTime(settings.time);
    const stores = await openStores(settings, log);
    const shardCount = (await stores.controlPlane.shards.view()).shards.length;
    const pump = await openPump(stores, settings.asksFirst, log);
    const sealing = openSealing({ keyFile: settings.sealingKeyFile, createIfMissing: false });
    const fingerprint = createFingerprint(await openHashKey(stores.controlPlane, sealing));
    const quarantine = await openQuarantine(stores, fingerprint, time, log);
    const reports = new ProberRelay();
    const tenure = openTenure(stores);
    const found = settings.locations.length > 0 || settings.standsIn ? await findCanaries(engine) : [];
    const standIn = settings.standsIn ? { control, engine, canaries: found, log } : null;
    const open = await openProbers({ ...placesOf(settings, control, stores, sealing, standIn), tenure, time }, reports);
    const canaries = open.ownLocations.length === 0 ? null : found;
    return new SchedulerRuntime(options, {
      stores,
      shardCount,
      tenure,
      sealing,
      fingerprint,
      pump,
      quarantine,
      reports,
      open,
      canaries,
      time,
    });
  }

  private constructor(options: RuntimeOptions, opened: OpenParts) {
    this.#options = options;
    this.#opened = opened;
    const { settings, engine, log } = options;
    const { stores, pump, quarantine, open, canaries } = opened;
    const metrics = createMetrics();
    // They do not run quarantined configurations.
    const probers = quarantine.keeper.guard(open.probers);
    const ownedShards = new OwnedShards(opened.shardCount);
    const states = new MonitorStates({ checker: settings.checker, ownedShards });
    this.#states = states;
    const loop = new Loop({
      ...stores,
      ownedShards,
      onLost: (leases) => this.#parts.keeper.lost(leases),
      onSetBack: () => this.#parts.keeper.setBack(),
      states,
      pump,
      probers,
      clocks: opened.time,
      caps: settings.caps,
      tenure: opened.tenure,
      readInput: createInputReader(
        opened.sealing.open,
        (protocol, identity) => accountName(opened.fingerprint, protocol, identity),
        (error) => metrics.sealedFault(error, log),
      ),
      hasChecker: open.hasChecker,
      ownNetwork: canaries === null ? null : { engine, canaries, locations: open.ownLocations },
      log,
      delays: new CheckDelays(settings.delays),
      onOutcome: ({ monitor }, outcome) => metrics.count(monitor.kind, outcome),
    });
    const refusals = sayRefusals(log);
    const reported: ReportedParts = { stores, loop, pump, refusals, time: opened.time };
    this.#parts = {
      ...reported,
      ownedShards,
      keeper: openKeeper(settings, reported, ownedShards, opened.tenure, log),
      metrics,
      fitness: this.#fitness,
      quarantine: quarantine.keeper,
      probers,
    };
  }

  /** Resolves when checks run. */
  async start(): Promise<void> {
    const { stores, loop, keeper, ownedShards } = this.#parts;
    const { log, settings } = this.#options;
    const { controlPlane, results, spool } = stores;
    this.#listen();
    const own = await takeOwn(stores.shards, spool.name, controlPlane.dialect === "sqlite");
    await loop.start(own, () => this.#replay());
    this.#isStarted = true;
    const stopMoves = await keepShards(stores, keeper, log);
    const thinning = { results, meta: controlPlane.meta, ownedShards, nowMs: this.#opened.time.wallNowMs };
    const stopRegular = [onTicks(STATUS_MS, () => void this.#report()), thinDaily(thinning, log)];
    const { sealing, open, quarantine } = this.#opened;
    // Separate checker processes take one-off checks of their locations themselves.
    const oneOff = open.ownLocations.includes(ANY_LOCATION)
      ? await openCheckServer(settings.notices, sealing, {
          location: ANY_LOCATION,
          room: ONE_OFF_LIMITS,
          take: loop.check,
        })
      : null;
    this.#stops.push(
      () => oneOff?.close(),
      () => {
        for (const stop of stopRegular) stop();
      },
      quarantine.close,
      () => loop.close(),
      stopMoves,
    );
    await this.#report();
  }

  /** Waits for running checks, writes everything, and frees the shards. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
    const { stores, loop, keeper, pump } = this.#parts;
    await loop.drain(DRAIN_MS);
    await this.#parts.probers.close();
    await loop.drain(0);
    // So the next scheduler need not wait until this one counts as dead.
    await keeper
      .leave()
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error }, "shards are not given back: others wait for the end of their lease"),
      );
    await pump.stop(PUMP_DRAIN_MS);
    await closeStores(stores);
  }

  #listen(): void {
    const { loop, refusals } = this.#parts;
    const { log } = this.#options;
    this.#opened.reports.listen({
      onOutcomes: (outcomes) => loop.take(outcomes),
      onPending: (outcomes) => loop.takePending(outcomes),
      onHarm: (run, harm) => this.#parts.quarantine.harmed(run, harm),
      onFitness: (prober, fitness) => this.#fitness.set(prober, fitness),
      onChange: ({ type, detail }) => {
        if (type !== "up") log.warn({ detail }, `prober ${type}`);
        void this.#report();
      },
      onAvailability: () => loop.reconsider(),
      onRefused: refusals.add,
      onTrouble: (error) => log.error({ err: error }, "reading locations and their keys failed and is tried again"),
    });
  }

  /** Sends a report to the main thread. The first report means that the scheduler is ready. */
  async #report(): Promise<void> {
    if (!this.#isStarted) return;
    const { metrics, ...status } = await statusOf(this.#parts);
    const isKnown = metrics === this.#reportedMetrics;
    this.#reportedMetrics = metrics;
    const message: FromScheduler = { type: "status", status, metrics: isKnown ? null : metrics };
    this.#options.settings.port.postMessage(message);
  }

  #replay(): Promise<void> {
    const { stores, pump, ownedShards } = this.#parts;
    return replayAll({ ...stores, ownedShards, states: this.#states, pump, log: this.#options.log });
  }
}

/** A separate data folder has one owner, whose shards no other process can take. */
function openTenure({ controlPlane }: Stores): Tenure {
  return new Tenure(controlPlane.dialect === "sqlite" ? null : SHARD_LEASE_MS, SYSTEM_CLOCKS);
}

function placesOf(
  { checkers, locations }: SchedulerData,
  control: MessagePort,
  { controlPlane }: Stores,
  sealing: Sealing,
  standIn: StandInParts | null,
): Omit<ProberTargets, "tenure" | "time"> {
  return {
    threads: locations.length === 0 ? null : { control, locations },
    checkers: checkers === null ? null : { redis: checkers, locations: controlPlane.locations, sealing, standIn },
  };
}

interface OpenQuarantine {
  readonly keeper: SchedulerQuarantine;
  readonly close: () => void;
}

/** Loads the quarantine before the first check, because a held configuration would bring a prober down again. */
async function openQuarantine(
  { controlPlane, notices }: Stores,
  fingerprint: Fingerprint,
  { wallNowMs: nowMs }: Clocks,
  log: Logger,
): Promise<OpenQuarantine> {
  const keeper = new SchedulerQuarantine({
    store: controlPlane.quarantine,
    fingerprint,
    nowMs,
    log,
    onStruck: () => notices.publish("quarantine"),
  });
  const look = (): void => {
    keeper
      .refresh()
      .catch((error: unknown) => log.error({ err: error }, "the quarantine cannot be read; what is known holds"));
  };
  await keeper.refresh();
  const stopLooking = onTicks(REFRESH_MS, look);
  const unsubscribe = notices.subscribe("quarantine", look);
  return {
    keeper,
    close() {
      stopLooking();
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

/** Applies the rows that are on disk and not yet in SQL. */
async function replayAll({
  spool,
  controlPlane,
  ownedShards,
  states,
  pump,
  setAside,
  log,
}: Pick<
  LoopOptions,
  "spool" | "controlPlane" | "ownedShards" | "states" | "pump" | "setAside" | "log"
>): Promise<void> {
  const writer = new StorePartWriter({
    spool,
    store: controlPlane.sink,
    setAside,
    states,
    steps: {
      // Tries each step once: a store that is away ends the start.
      run: (_step, attempt) => attempt(),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      nowMs: SYSTEM_CLOCKS.wallNowMs,
    },
    events: {
      onTestsEnded() {},
      onLost(leases) {
        throw new ShardsLost(leases.map(({ shard }) => shard));
      },
    },
  });
  const { rows, refusedRows } = await replay(spool, controlPlane, ownedShards, states, writer);
  pump.wake(await controlPlane.sink.appliedSeq(spool.name));
  if (rows > 0) log.info({ rows }, "results that were on disk when the last run ended are applied");
  if (refusedRows > 0) log.warn({ refusedRows }, "results of shards that others have taken since are dropped");
}

function openKeeper(
  { checker }: SchedulerData,
  reported: ReportedParts,
  ownedShards: OwnedShards,
  tenure: Tenure,
  log: Logger,
): ShardKeeper {
  const { loop, stores } = reported;
  const { shards, notices, spool } = stores;
  return new ShardKeeper({
    store: shards,
    ownedShards,
    tenure,
    self: { id: spool.name, name: `${checker} ${process.pid}`, report: () => reportOf(reported) },
    work: loop,
    leaseMs: SHARD_LEASE_MS,
    monotonicNowMs: SYSTEM_CLOCKS.monotonicNowMs,
    log,
    onMoved: () => notices.publish("shards"),
  });
}

/** A separate data folder has one owner: it needs no beats and shares with no process. @returns what stops it */
async function keepShards(
  { controlPlane, notices }: Stores,
  keeper: ShardKeeper,
  log: Logger,
): Promise<() => Promise<void>> {
  if (controlPlane.dialect === "sqlite") return async () => undefined;
  return startShardTurns({ keeper, leaseMs: SHARD_LEASE_MS, notices, log });
}
