/**
 * Starts a core for a batch of configs and finds the config that the core rejects. When a batch does not start, the config that the core names
 * is removed; when it names none, halves of the batch are started until the bad config is alone.
 */

import type { OwnBoard } from "../transport/own-board.ts";
import { ALONE_LIMIT, halves } from "./batch.ts";
import { cores } from "./choice.ts";
import { reasonOf } from "./complaint.ts";
import type { CoreEntry, Engine } from "./core.ts";
import {
  type Bounds,
  boundsHere,
  type CoreProcess,
  CoreStartError,
  freePort,
  isRefusedBound,
  type LaunchOptions,
  launchCore,
} from "./core-process.ts";
import { judge } from "./finding.ts";
import type { Lane } from "./lane.ts";
import type { OutboundRefusal } from "./outbound-port.ts";
import { type CorePlaces, findCore, PROGRAMS } from "./program.ts";
import type { Reputation } from "./reputation.ts";
import { randomText, refuseAll, type Ticket } from "./ticket.ts";

/** The part of pino's logger that is used. */
export interface CoresLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface CoresOptions {
  readonly places: CorePlaces;
  readonly log: CoresLog;
  /** PEM of further roots (SONDE_EXTRA_CA); null: none. */
  readonly extraCaPem: string | null;
  /** How they may be held, the tightest first; absent: all that this machine has. */
  readonly bounds?: readonly Bounds[];
  /** Where the guard learns the local ports of the cores; absent: the guard does not learn them. */
  readonly ports?: Pick<OwnBoard, "openPort" | "closePort">;
}

/** A process that is ready for these. */
export interface ReadyBatch {
  readonly process: CoreProcess;
  readonly tickets: readonly Ticket[];
  /** Few enough that each has the machine for itself, and the core tells what it does. */
  readonly isTalkative: boolean;
}

/** Names taken out of one batch before it is halved. */
const NAMED_LIMIT = 20;
/** How many ports in a row another process may take before the core listens on one. */
const PORT_TRIES = 5;
/** A program that started within this time is assumed to start again, ms. */
const SOUND_FOR_MS = 5_000;
const DOOR_PASSWORD_BYTES = 12;

export class BatchStarter {
  readonly #options: CoresOptions;
  readonly #reputation: Reputation;
  readonly #onReady: (lane: Lane, ready: ReadyBatch) => void;
  /** When an engine's program was last seen to start without any config. */
  readonly #soundAtMs = new Map<Engine, number>();
  /** What is left to try, the tightest first. */
  #bounds: readonly Bounds[] = [];
  #started = 0;
  #isClosed = false;

  constructor(options: CoresOptions, reputation: Reputation, onReady: (lane: Lane, ready: ReadyBatch) => void) {
    this.#options = options;
    this.#reputation = reputation;
    this.#onReady = onReady;
    this.#bounds = options.bounds ?? boundsHere();
  }

  /** Processes so far. */
  get started(): number {
    return this.#started;
  }

  get #current(): Bounds {
    return this.#bounds[0] ?? "loose";
  }

  /** Starts no more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Everybody in the batch is in a process that is ready, or has an answer, afterwards. */
  async start(lane: Lane, batch: readonly Ticket[]): Promise<void> {
    try {
      await this.#start(lane, batch, { named: 0, ports: 0 });
    } catch (error) {
      // A flaw of ours must not leave askers without an answer.
      this.#options.log.warn({ err: error }, "cores: a batch could not be started");
      refuseAll(batch, { verdict: "internal-error", message: "The cores' supervisor failed" });
    }
  }

  /** From now on. */
  keepOut(ticket: Ticket, reason: string): void {
    const { config, engine } = ticket.request;
    this.#reputation.keepOut(ticket, reason);
    this.#options.log.warn(
      { core: engine, protocol: config.account.protocol, server: `${config.host}:${config.port}`, reason },
      "cores: a config is kept out of the cores from now on",
    );
  }

  async #start(lane: Lane, asked: readonly Ticket[], tries: Tries): Promise<void> {
    const batch = asked.filter(({ isGone }) => !isGone);
    if (batch.length === 0 || this.#isClosed) return;
    const { engine } = lane;
    const found = findCore(engine, this.#options.places);
    if (found === undefined) return refuseAll(batch, missing(engine));
    const isTalkative = batch.length <= ALONE_LIMIT;
    const entries = batch.map(({ tag, password, request }): CoreEntry => {
      return { tag, password, config: request.config, address: request.address };
    });
    const [port, doorPassword] = [await freePort(), randomText(DOOR_PASSWORD_BYTES)];
    const bounds = this.#current;
    const own = { port, doorPassword, bounds, extraCaPem: this.#options.extraCaPem };
    const process = this.#launch({ found, entries, isTalkative, ...own });
    this.#started += 1;
    try {
      await process.ready;
    } catch (error) {
      if (!(error instanceof CoreStartError)) throw error;
      return this.#failed(lane, { batch, entries, bounds }, error, tries);
    }
    lane.recovered();
    this.#soundAtMs.set(engine, performance.now());
    this.#onReady(lane, { process, tickets: batch, isTalkative });
  }

  async #failed(
    lane: Lane,
    { batch, entries, bounds }: Started,
    { kind, complaint }: CoreStartError,
    { named, ports }: Tries,
  ): Promise<void> {
    const { engine } = lane;
    if (isRefusedBound(complaint) && this.#bounds.length > 1) {
      const [refused = "loose", ...left] = this.#bounds;
      // Of several that were refused at once, the first loosens.
      if (refused === bounds) this.#bounds = left;
      const fields = { refused: bounds, bounds: this.#bounds[0], reason: complaint.trim() };
      this.#options.log.warn(fields, "cores: they cannot be held so here, and are held more loosely");
      return this.#start(lane, batch, { named, ports });
    }
    if (kind === "not-started") return this.#broken(lane, batch, complaint);
    if (judge(complaint)?.verdict === "internal-error") {
      if (ports < PORT_TRIES) return this.#start(lane, batch, { named, ports: ports + 1 });
      return this.#broken(lane, batch, "no local port is free");
    }
    const culprit = kind === "ended" && named < NAMED_LIMIT ? cores[engine].culprit(complaint, entries) : undefined;
    const bad = batch.find(({ tag }) => tag === culprit?.tag) ?? (batch.length === 1 ? batch[0] : undefined);
    if (bad !== undefined && culprit === undefined && !(await this.#isSound(engine))) {
      return this.#broken(lane, batch, reasonOf(complaint, bad.request.config));
    }
    if (bad !== undefined && kind === "hangs") {
      return refuseAll(batch, {
        verdict: "unfit",
        message: `${PROGRAMS[engine].file} did not get ready in time`,
      });
    }
    if (bad !== undefined) {
      const message = `${PROGRAMS[engine].file} refuses the config: ${reasonOf(complaint, bad.request.config)}`;
      this.keepOut(bad, message);
      refuseAll([bad], { verdict: "misconfigured", message });
      const others = batch.filter((ticket) => ticket !== bad);
      return this.#start(lane, others, { named: named + 1, ports });
    }
    for (const half of halves(batch)) await this.#start(lane, half, { named: 0, ports });
  }

  /** Whether the program starts at all: before a config is blamed that it did not name. */
  async #isSound(engine: Engine): Promise<boolean> {
    const seenAtMs = this.#soundAtMs.get(engine);
    if (seenAtMs !== undefined && performance.now() - seenAtMs < SOUND_FOR_MS) return true;
    const found = findCore(engine, this.#options.places);
    if (found === undefined) return false;
    const port = await freePort();
    const bounds = this.#current;
    const own = { port, doorPassword: "control", bounds, extraCaPem: null };
    const process = this.#launch({ found, entries: [], isTalkative: false, ...own });
    const isSound = await process.ready.then(
      () => true,
      () => false,
    );
    process.kill();
    await process.ended;
    if (isSound) this.#soundAtMs.set(engine, performance.now());
    return isSound;
  }

  /** Its port is ours for as long as it runs: no check may speak to it by way of the guard. */
  #launch(options: LaunchOptions): CoreProcess {
    const { ports } = this.#options;
    ports?.openPort(options.port);
    const process = launchCore(options);
    void process.ended.then(() => ports?.closePort(options.port));
    return process;
  }

  #broken(lane: Lane, batch: readonly Ticket[], why: string): void {
    const { file, setting } = PROGRAMS[lane.engine];
    lane.backOff();
    this.#options.log.warn({ core: lane.engine, reason: why }, "cores: the program does not work");
    refuseAll(batch, {
      verdict: "unsupported",
      message: `${file} does not work on this checker`,
      hint: `\`sonde cores verify\` says what is wrong with it (${setting})`,
    });
  }
}

interface Started {
  readonly batch: readonly Ticket[];
  readonly entries: readonly CoreEntry[];
  readonly bounds: Bounds;
}

interface Tries {
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
