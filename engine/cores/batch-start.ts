/**
 * Starts a core for a batch of configs and finds the config that the core rejects. When a batch does not start, the config that the core names
 * is removed; when it names none, halves of the batch are started until the bad config is alone.
 */

import type { Log } from "../../model/log.ts";
import type { Engine } from "../../model/subscription.ts";
import type { RefusedReach } from "../../native/sandbox/broker-service.ts";
import { freePort } from "../transport/free-port.ts";
import type { OwnBoard } from "../transport/own-board.ts";
import { ALONE_LIMIT, halves } from "./batch.ts";
import type { BatchQueue } from "./batch-queue.ts";
import { cores } from "./choice.ts";
import type { ConfigQuarantine } from "./config-quarantine.ts";
import { type CoreEntry, LOCAL_HOST } from "./core.ts";
import { boundsWith, brokerHere } from "./core-broker.ts";
import {
  type Bounds,
  type CoreProcess,
  CoreStartError,
  isRefusedBound,
  type LaunchOptions,
  launchCore,
} from "./core-process.ts";
import { reasonOf } from "./error-output.ts";
import { judge } from "./finding.ts";
import type { OutboundRefusal } from "./outbound-port.ts";
import { type OutboundRequest, randomText, refuseAll } from "./outbound-request.ts";
import { type CorePaths, findCore, PROGRAMS } from "./program.ts";
import { formatReach } from "./reach.ts";

export interface CoresOptions {
  readonly paths: CorePaths;
  readonly log: Pick<Log, "info" | "warn">;
  /** PEM of further roots (SONDE_EXTRA_CA); null: none. */
  readonly extraCaPem: string | null;
  /** How they may be held, the tightest first; absent: all that this machine has. */
  readonly bounds?: readonly Bounds[];
  /** Where the code of the broker's thread lies; absent: beside ours. */
  readonly brokerThread?: URL;
  /** Where the guard learns the local ports of the cores; absent: the guard does not learn them. */
  readonly ports?: Pick<OwnBoard, "openPort" | "closePort">;
}

/** A started process and the requests that it serves. */
export interface ReadyBatch {
  readonly process: CoreProcess;
  readonly requests: readonly OutboundRequest[];
  /** The batch is small, so the core logs each connection. */
  readonly isVerbose: boolean;
}

/** Configs that are taken out of one batch by the name that the core gives, before the batch is halved. */
const NAMED_LIMIT = 20;
/** How many ports in a row another process may take before the core listens on one. */
const PORT_TRIES = 5;
/** A program that started within this time is assumed to start again, ms. */
const PROVEN_FOR_MS = 5_000;
const IDENTITY_PASSWORD_BYTES = 12;

export class BatchStarter {
  readonly #options: CoresOptions;
  readonly #quarantine: ConfigQuarantine;
  readonly #onReady: (queue: BatchQueue, ready: ReadyBatch) => void;
  /** When an engine's program was last seen to start without any config. */
  readonly #provenAtMs = new Map<Engine, number>();
  /** The confinements that have not failed here, the tightest first; null: not looked at yet. */
  #bounds: readonly Bounds[] | null = null;
  #started = 0;
  #refused = 0;
  #isClosed = false;

  constructor(
    options: CoresOptions,
    quarantine: ConfigQuarantine,
    onReady: (queue: BatchQueue, ready: ReadyBatch) => void,
  ) {
    this.#options = options;
    this.#quarantine = quarantine;
    this.#onReady = onReady;
    this.#bounds = options.bounds ?? null;
  }

  /** Processes so far. */
  get started(): number {
    return this.#started;
  }

  /** Connections and datagrams to what none of a core's configs names, so far. */
  get refused(): number {
    return this.#refused;
  }

  /** How the next process is held. */
  async #hold(): Promise<Pick<LaunchOptions, "bounds" | "broker">> {
    if (this.#bounds?.[0]?.startsWith("brokered") === false) return { bounds: this.#bounds[0], broker: null };
    const broker = await brokerHere(this.#options.brokerThread);
    this.#bounds ??= boundsWith(broker);
    if (typeof broker !== "string") return { bounds: this.#bounds[0] ?? "loose", broker };
    const left = this.#bounds.filter((bounds) => !bounds.startsWith("brokered"));
    if (left.length < this.#bounds.length) {
      this.#options.log.warn({ reason: broker }, "cores: their broker is lost, and they may reach any address again");
    }
    this.#bounds = left;
    return { bounds: left[0] ?? "loose", broker: null };
  }

  /** Starts no more. */
  close(): void {
    this.#isClosed = true;
  }

  /** When it resolves, each request of the batch is in a ready process or was refused. */
  async start(queue: BatchQueue, batch: readonly OutboundRequest[]): Promise<void> {
    try {
      await this.#start(queue, batch, { named: 0, ports: 0 });
    } catch (error) {
      // A bug of ours must not leave a request without an answer.
      this.#options.log.warn({ err: error }, "cores: a batch could not be started");
      refuseAll(batch, { verdict: "internal-error", message: "The cores' supervisor failed" });
    }
  }

  /** Refuses this config from now on. */
  block(request: OutboundRequest, reason: string): void {
    const { config, engine } = request.spec;
    this.#quarantine.block(request, reason);
    this.#options.log.warn(
      { core: engine, protocol: config.account.protocol, server: `${config.host}:${config.port}`, reason },
      "cores: a config is kept out of the cores from now on",
    );
  }

  async #start(queue: BatchQueue, requests: readonly OutboundRequest[], attempts: StartAttempts): Promise<void> {
    const batch = requests.filter(({ isClosed }) => !isClosed);
    if (batch.length === 0 || this.#isClosed) return;
    const { engine } = queue;
    const found = findCore(engine, this.#options.paths);
    if (found === undefined) return refuseAll(batch, missing(engine));
    const isVerbose = batch.length <= ALONE_LIMIT;
    const entries = batch.map(({ tag, password, spec }): CoreEntry => {
      return { tag, password, config: spec.config, address: spec.address };
    });
    const [port, hold] = [await freePort(LOCAL_HOST), await this.#hold()];
    const { bounds } = hold;
    const identityPassword = randomText(IDENTITY_PASSWORD_BYTES);
    const shared = { port, identityPassword, ...hold, extraCaPem: this.#options.extraCaPem };
    const process = this.#launch({ found, entries, isVerbose, ...shared });
    this.#started += 1;
    try {
      await process.ready;
    } catch (error) {
      if (!(error instanceof CoreStartError)) throw error;
      return this.#failed(queue, { batch, entries, bounds }, error, attempts);
    }
    queue.recovered();
    this.#provenAtMs.set(engine, performance.now());
    this.#onReady(queue, { process, requests: batch, isVerbose });
  }

  async #failed(
    queue: BatchQueue,
    { batch, entries, bounds }: FailedBatch,
    { kind, errorOutput }: CoreStartError,
    { named, ports }: StartAttempts,
  ): Promise<void> {
    const { engine } = queue;
    if (isRefusedBound(errorOutput) && this.#bounds !== null && this.#bounds.length > 1) {
      const [refused = "loose", ...left] = this.#bounds;
      // Of several that were refused at once, the first loosens.
      if (refused === bounds) this.#bounds = left;
      const fields = { refused: bounds, bounds: this.#bounds[0], reason: errorOutput.trim() };
      this.#options.log.warn(fields, "cores: they cannot be held so here, and are held more loosely");
      return this.#start(queue, batch, { named, ports });
    }
    if (kind === "not-started") return this.#refuseAllAsUnsupported(queue, batch, errorOutput);
    if (judge(errorOutput)?.verdict === "internal-error") {
      if (ports < PORT_TRIES) return this.#start(queue, batch, { named, ports: ports + 1 });
      return this.#refuseAllAsUnsupported(queue, batch, "no local port is free");
    }
    const culprit = kind === "ended" && named < NAMED_LIMIT ? cores[engine].culprit(errorOutput, entries) : undefined;
    const bad = batch.find(({ tag }) => tag === culprit?.tag) ?? (batch.length === 1 ? batch[0] : undefined);
    if (bad !== undefined && culprit === undefined && !(await this.#programStarts(engine))) {
      return this.#refuseAllAsUnsupported(queue, batch, reasonOf(errorOutput, bad.spec.config));
    }
    if (bad !== undefined && kind === "hangs") {
      return refuseAll(batch, {
        verdict: "unfit",
        message: `${PROGRAMS[engine].file} did not get ready in time`,
      });
    }
    if (bad !== undefined) {
      const message = `${PROGRAMS[engine].file} refuses the config: ${reasonOf(errorOutput, bad.spec.config)}`;
      this.block(bad, message);
      refuseAll([bad], { verdict: "misconfigured", message });
      const others = batch.filter((request) => request !== bad);
      return this.#start(queue, others, { named: named + 1, ports });
    }
    for (const half of halves(batch)) await this.#start(queue, half, { named: 0, ports });
  }

  /** Whether the program starts without any config. Asked before a config is blamed that the core did not name. */
  async #programStarts(engine: Engine): Promise<boolean> {
    const seenAtMs = this.#provenAtMs.get(engine);
    if (seenAtMs !== undefined && performance.now() - seenAtMs < PROVEN_FOR_MS) return true;
    const found = findCore(engine, this.#options.paths);
    if (found === undefined) return false;
    const port = await freePort(LOCAL_HOST);
    const shared = { port, identityPassword: "control", ...(await this.#hold()), extraCaPem: null };
    const process = this.#launch({ found, entries: [], isVerbose: false, ...shared });
    const hasStarted = await process.ready.then(
      () => true,
      () => false,
    );
    process.kill();
    await process.ended;
    if (hasStarted) this.#provenAtMs.set(engine, performance.now());
    return hasStarted;
  }

  /** As long as the core runs, the address guard refuses its port to all checks. */
  #launch(options: Omit<LaunchOptions, "onRefused">): CoreProcess {
    const { ports } = this.#options;
    ports?.openPort(options.port);
    let isLogged = false;
    const onRefused = (refused: RefusedReach): void => {
      this.#refused += 1;
      // Once for each process: one that was taken over may try as often as it likes.
      if (isLogged) return;
      isLogged = true;
      const fields = { core: options.found.engine, pid: process.pid, ...formatReach(refused) };
      this.#options.log.warn(fields, "cores: a core was refused what none of its configs names");
    };
    const process = launchCore({ ...options, onRefused });
    void process.ended.then(() => ports?.closePort(options.port));
    return process;
  }

  #refuseAllAsUnsupported(queue: BatchQueue, batch: readonly OutboundRequest[], reason: string): void {
    const { file, setting } = PROGRAMS[queue.engine];
    queue.backOff();
    this.#options.log.warn({ core: queue.engine, reason: reason }, "cores: the program does not work");
    refuseAll(batch, {
      verdict: "unsupported",
      message: `${file} does not work on this checker`,
      hint: `\`sonde cores verify\` says what is wrong with it (${setting})`,
    });
  }
}

interface FailedBatch {
  readonly batch: readonly OutboundRequest[];
  readonly entries: readonly CoreEntry[];
  readonly bounds: Bounds;
}

interface StartAttempts {
  /** Configs that the core named one after the other. */
  readonly named: number;
  /** Ports that were taken. */
  readonly ports: number;
}

function missing(engine: Engine): OutboundRefusal {
  const { file, setting } = PROGRAMS[engine];
  return {
    verdict: "unsupported",
    message: `${file} is not installed on this checker: run \`sonde cores install\`, or set ${setting}`,
  };
}
