/**
 * The managed cores of this process: collects what probers ask for, starts a core for many configs at once, finds the one it stumbles over, and
 * replaces what dies. Lives in the main thread, because a child with a parent-death signal dies with the thread that started it.
 *
 * A batch that does not start loses the config that the core names; when it names none, halves are started until the bad one is alone. What was
 * in a core that died while it ran comes back in small company first, then alone, and is kept out for good when it dies there too.
 */
import { createHash, randomBytes } from "node:crypto";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { ALONE_LIMIT, BATCH_LIMIT, halves, startsInMs, takeBatch, type Waiting } from "./batch.ts";
import { cores } from "./choice.ts";
import { reasonOf } from "./complaint.ts";
import type { CoreEntry, Engine } from "./core.ts";
import { type Bounds, CoreStartError, freePort, isRefusedBound, launchCore, tightest } from "./core-process.ts";
import { judge } from "./finding.ts";
import type { OutboundRequest } from "./outbound.ts";
import type { FromSupervisor, OutboundRefusal, ToSupervisor } from "./outbound-port.ts";
import { type CorePlaces, findCore, PROGRAMS } from "./program.ts";
import { type Resident, RunningCore } from "./running-core.ts";

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
}

/** What the metrics tell. */
export interface CoreStats {
  readonly running: number;
  readonly started: number;
  readonly crashed: number;
  readonly quarantined: number;
  readonly waiting: number;
  readonly open: number;
  readonly residentBytes: number;
}

/** Processes at once, each of 30 to 150 MB. */
const PROCESS_LIMIT = 24;
/** What waits for a core; beyond it the answer is that we are busy. */
const WAITING_LIMIT = 10_000;
/** Names taken out of one batch before it is halved. */
const NAMED_LIMIT = 20;
/** Ports that somebody else took before the core did, in a row. */
const PORT_TRIES = 5;
/** After processes that died or would not start for no config's fault, ms: doubled each time. */
const FIRST_BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 10_000;
/** A core that lived this long was not one of those, ms. */
const LONG_LIFE_MS = 5_000;
/** Configs that are remembered as bad, or as having been in a core that died. */
const REMEMBERED = 10_000;
/** Between two looks at how much memory cores take, ms. */
const WEIGH_EVERY_MS = 1_000;

interface Ticket extends Waiting {
  readonly id: number;
  readonly port: MessagePort;
  readonly askedAtMs: number;
  readonly key: string;
  isGone: boolean;
  core: RunningCore | null;
  tag: string;
}

interface Lane {
  readonly engine: Engine;
  waiting: Ticket[];
  isStarting: boolean;
  lastStartAtMs: number;
  lastStartMs: number;
  backOffMs: number;
  timer: NodeJS.Timeout | undefined;
}

export class CoreSupervisor {
  readonly #options: CoresOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<RunningCore>();
  /** By port, then by the asker's number. */
  readonly #tickets = new Map<MessagePort, Map<number, Ticket>>();
  readonly #quarantine = new Map<string, string>();
  readonly #deaths = new Map<string, number>();
  /** When an engine's program was last seen to start without any config. */
  readonly #soundAtMs = new Map<Engine, number>();
  readonly #weigher: NodeJS.Timeout;
  #bounds: Bounds = tightest();
  #starting = 0;
  #started = 0;
  #crashed = 0;
  #open = 0;
  #isClosed = false;

  constructor(options: CoresOptions) {
    this.#options = options;
    this.#weigher = setInterval(() => this.#weigh(), WEIGH_EVERY_MS);
    this.#weigher.unref();
  }

  get stats(): CoreStats {
    const waiting = [...this.#lanes.values()].reduce((sum, lane) => sum + lane.waiting.length, 0);
    const residentBytes = [...this.#running].reduce((sum, core) => sum + core.residentBytes, 0);
    return {
      running: this.#running.size,
      started: this.#started,
      crashed: this.#crashed,
      quarantined: this.#quarantine.size,
      waiting,
      open: this.#open,
      residentBytes,
    };
  }

  /** Process ids of what runs, for tests and for whoever looks at the machine. */
  get pids(): readonly number[] {
    return [...this.#running].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** @returns what a thread gives to connectOutbounds(); when it closes it, or dies, all that it held is closed */
  connect(): MessagePort {
    const { port1: port, port2: theirs } = new MessageChannel();
    const tickets = new Map<number, Ticket>();
    this.#tickets.set(port, tickets);
    port.on("message", (message: ToSupervisor) => this.#hear(port, tickets, message));
    port.on("close", () => {
      this.#tickets.delete(port);
      for (const ticket of tickets.values()) this.#close(ticket);
    });
    port.unref();
    return theirs;
  }

  /** Kills what runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#weigher);
    for (const lane of this.#lanes.values()) clearTimeout(lane.timer);
    for (const port of this.#tickets.keys()) port.close();
    const all = [...this.#running];
    for (const core of all) core.end();
    await Promise.all(all.map((core) => core.ended));
  }

  #hear(port: MessagePort, tickets: Map<number, Ticket>, message: ToSupervisor): void {
    if (message.type === "open") {
      this.#ask(port, tickets, message.id, message.request);
      return;
    }
    const ticket = tickets.get(message.id);
    if (message.type === "findings") {
      const findings = ticket?.core?.log.findingsOf(ticket.tag) ?? [];
      const hasDied = ticket?.core?.isDead ?? true;
      post(port, { type: "findings", id: message.id, findings, hasDied });
      return;
    }
    if (ticket === undefined) return;
    tickets.delete(message.id);
    if (message.isMute) void ticket.core?.suspect();
    this.#close(ticket);
  }

  #ask(port: MessagePort, tickets: Map<number, Ticket>, id: number, request: OutboundRequest): void {
    const key = keyOf(request);
    const deaths = this.#deaths.get(key) ?? 0;
    const ticket: Ticket = {
      id,
      port,
      request,
      key,
      deaths,
      askedAtMs: performance.now(),
      isGone: false,
      core: null,
      tag: `n_${randomBytes(8).toString("hex")}`,
    };
    const known = this.#quarantine.get(key);
    if (known !== undefined) {
      refuse(ticket, { verdict: "misconfigured", message: known });
      return;
    }
    // A suspect is only ever started with few.
    const lane = this.#laneOf(request.engine, request.alone || deaths > 0);
    if (this.#isClosed || lane.waiting.length >= WAITING_LIMIT) {
      refuse(ticket, BUSY);
      return;
    }
    tickets.set(id, ticket);
    lane.waiting.push(ticket);
    // The first starts the clock, a full batch need not wait for it.
    if (lane.waiting.length === 1 || lane.waiting.length >= BATCH_LIMIT) this.#consider(lane);
  }

  #close(ticket: Ticket): void {
    ticket.isGone = true;
    const { core } = ticket;
    if (core === null) return;
    ticket.core = null;
    this.#open -= 1;
    this.#deaths.delete(ticket.key);
    core.close(ticket.tag);
    this.#considerAll();
  }

  #laneOf(engine: Engine, isAlone: boolean): Lane {
    const name = `${engine} ${isAlone}`;
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = {
      engine,
      waiting: [],
      isStarting: false,
      lastStartAtMs: Number.NEGATIVE_INFINITY,
      lastStartMs: 0,
      backOffMs: 0,
      timer: undefined,
    };
    this.#lanes.set(name, lane);
    return lane;
  }

  #considerAll(): void {
    for (const lane of this.#lanes.values()) this.#consider(lane);
  }

  #consider(lane: Lane): void {
    if (lane.isStarting || this.#isClosed || lane.waiting.length === 0) return;
    if (this.#running.size + this.#starting >= PROCESS_LIMIT) return;
    clearTimeout(lane.timer);
    const nowMs = performance.now();
    const inMs = startsInMs({
      waiting: lane.waiting.length,
      oldestMs: nowMs - (lane.waiting[0]?.askedAtMs ?? nowMs),
      open: this.#open,
      sinceLastStartMs: nowMs - lane.lastStartAtMs,
      lastStartMs: lane.lastStartMs,
      backOffMs: lane.backOffMs,
    });
    if (inMs > 0) lane.timer = setTimeout(() => this.#consider(lane), inMs);
    else void this.#startNext(lane);
  }

  async #startNext(lane: Lane): Promise<void> {
    const { batch, rest } = takeBatch(lane.waiting.filter(({ isGone }) => !isGone));
    lane.waiting = rest;
    if (batch.length === 0) return;
    lane.isStarting = true;
    this.#starting += 1;
    lane.lastStartAtMs = performance.now();
    try {
      await this.#start(lane, batch, { named: 0, ports: 0 });
    } catch (error) {
      // A flaw of ours must not leave askers without an answer.
      this.#options.log.warn({ err: error }, "cores: a batch could not be started");
      this.#refuseAll(batch, { verdict: "internal-error", message: "The cores' supervisor failed" });
    }
    lane.lastStartMs = performance.now() - lane.lastStartAtMs;
    this.#starting -= 1;
    lane.isStarting = false;
    this.#considerAll();
  }

  /** Everybody in the batch has an outbound or an answer afterwards. */
  async #start(lane: Lane, asked: readonly Ticket[], tries: Tries): Promise<void> {
    const batch = asked.filter(({ isGone }) => !isGone);
    if (batch.length === 0 || this.#isClosed) return;
    const { engine } = lane;
    const found = findCore(engine, this.#options.places);
    if (found === undefined) return this.#refuseAll(batch, missing(engine));
    const isTalkative = batch.length <= ALONE_LIMIT;
    const entries = batch.map(({ tag, request }): CoreEntry => {
      return { tag, config: request.config, address: request.address, password: randomBytes(12).toString("hex") };
    });
    const [port, doorPassword] = [await freePort(), randomBytes(12).toString("hex")];
    const own = { port, doorPassword, bounds: this.#bounds, extraCaPem: this.#options.extraCaPem };
    const process = launchCore({ found, entries, isTalkative, ...own });
    this.#started += 1;
    try {
      await process.ready;
    } catch (error) {
      if (!(error instanceof CoreStartError)) throw error;
      return this.#failedToStart(lane, batch, entries, error, tries);
    }
    lane.backOffMs = 0;
    this.#soundAtMs.set(engine, performance.now());
    const readyAtMs = performance.now();
    const core = new RunningCore(
      engine,
      process,
      batch.map((ticket) => this.#residentOf(ticket)),
      (ended, crashed, how) => this.#ended(lane, ended, crashed, how, performance.now() - readyAtMs),
    );
    this.#running.add(core);
    const isCrowded = !isTalkative;
    for (const [index, ticket] of batch.entries()) {
      if (ticket.isGone) {
        core.close(ticket.tag);
        continue;
      }
      ticket.core = core;
      this.#open += 1;
      const startedMs = readyAtMs - ticket.askedAtMs;
      const outbound = { port, user: ticket.tag, password: entries[index]?.password ?? "", startedMs, isCrowded };
      post(ticket.port, { type: "opened", id: ticket.id, outbound });
    }
  }

  async #failedToStart(
    lane: Lane,
    batch: readonly Ticket[],
    entries: readonly CoreEntry[],
    { kind, complaint }: CoreStartError,
    { named, ports }: Tries,
  ): Promise<void> {
    const { engine } = lane;
    if (isRefusedBound(complaint) && this.#bounds !== "loose") {
      this.#bounds = this.#bounds === "own-user" ? "bound" : "loose";
      this.#options.log.warn({ bounds: this.#bounds }, "cores: setpriv cannot take their rights here");
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
      return this.#refuseAll(batch, {
        verdict: "unfit",
        message: `${PROGRAMS[engine].file} did not get ready in time`,
      });
    }
    if (bad !== undefined) {
      const message = `${PROGRAMS[engine].file} refuses the config: ${reasonOf(complaint, bad.request.config)}`;
      this.#keepOut(bad, message);
      this.#refuseAll([bad], { verdict: "misconfigured", message });
      const others = batch.filter((ticket) => ticket !== bad);
      return this.#start(lane, others, { named: named + 1, ports });
    }
    for (const half of halves(batch)) await this.#start(lane, half, { named: 0, ports });
  }

  /** Whether the program starts at all: before a config is blamed that it did not name. */
  async #isSound(engine: Engine): Promise<boolean> {
    const seenAtMs = this.#soundAtMs.get(engine);
    if (seenAtMs !== undefined && performance.now() - seenAtMs < LONG_LIFE_MS) return true;
    const found = findCore(engine, this.#options.places);
    if (found === undefined) return false;
    const port = await freePort();
    const bounds = this.#bounds;
    const own = { port, doorPassword: "control", bounds, extraCaPem: null };
    const process = launchCore({ found, entries: [], isTalkative: false, ...own });
    const isSound = await process.ready.then(
      () => true,
      () => false,
    );
    process.kill();
    await process.ended;
    if (isSound) this.#soundAtMs.set(engine, performance.now());
    return isSound;
  }

  #broken(lane: Lane, batch: readonly Ticket[], why: string): void {
    const { file, setting } = PROGRAMS[lane.engine];
    lane.backOffMs = nextBackOff(lane.backOffMs);
    this.#options.log.warn({ core: lane.engine, reason: why }, "cores: the program does not work");
    this.#refuseAll(batch, {
      verdict: "unsupported",
      message: `${file} does not work on this checker`,
      hint: `\`sonde cores verify\` says what is wrong with it (${setting})`,
    });
  }

  #refuseAll(batch: readonly Ticket[], refusal: OutboundRefusal): void {
    for (const ticket of batch) {
      if (ticket.isGone || ticket.core !== null) continue;
      ticket.isGone = true;
      this.#tickets.get(ticket.port)?.delete(ticket.id);
      refuse(ticket, refusal);
    }
  }

  #keepOut(ticket: Ticket, reason: string): void {
    const { account, host, port } = ticket.request.config;
    remember(this.#quarantine, ticket.key, reason);
    this.#options.log.warn(
      { core: ticket.request.engine, protocol: account.protocol, server: `${host}:${port}`, reason },
      "cores: a config is kept out of the cores from now on",
    );
  }

  #residentOf(ticket: Ticket): Resident {
    return {
      tag: ticket.tag,
      died: () => {
        if (ticket.core === null) return;
        ticket.core = null;
        this.#open -= 1;
        this.#tickets.get(ticket.port)?.delete(ticket.id);
        post(ticket.port, { type: "died", id: ticket.id });
        if (ticket.deaths >= 2) this.#keepOut(ticket, `${PROGRAMS[ticket.request.engine].file} dies of the config`);
        else remember(this.#deaths, ticket.key, ticket.deaths + 1);
      },
    };
  }

  #ended(lane: Lane, core: RunningCore, hasCrashed: boolean, how: string, livedMs: number): void {
    this.#running.delete(core);
    if (hasCrashed) {
      this.#crashed += 1;
      if (livedMs < LONG_LIFE_MS) lane.backOffMs = nextBackOff(lane.backOffMs);
      this.#options.log.warn({ core: core.engine, how }, "cores: a core died; what was in it is opened again");
    }
    if (!this.#isClosed) this.#considerAll();
  }

  #weigh(): void {
    for (const core of this.#running) if (core.isTooHeavy) core.kill();
  }
}

interface Tries {
  /** Configs that the core named one after the other. */
  readonly named: number;
  /** Ports that were taken. */
  readonly ports: number;
}

const BUSY: OutboundRefusal = {
  verdict: "unfit",
  message: "This checker has too many share links waiting for its proxy cores",
};

function missing(engine: Engine): OutboundRefusal {
  const { file, setting } = PROGRAMS[engine];
  return {
    verdict: "unsupported",
    message: `${file} is not installed on this checker: run \`sonde cores install\`, or set ${setting}`,
  };
}

function nextBackOff(nowMs: number): number {
  return Math.min(LONGEST_BACK_OFF_MS, nowMs === 0 ? FIRST_BACK_OFF_MS : nowMs * 2);
}

function remember<Value>(among: Map<string, Value>, key: string, value: Value): void {
  among.delete(key);
  among.set(key, value);
  const [oldest] = among.keys();
  if (among.size > REMEMBERED && oldest !== undefined) among.delete(oldest);
}

function keyOf({ engine, address, config }: OutboundRequest): string {
  return createHash("sha256")
    .update(`${engine}\0${address}\0${JSON.stringify(config)}`)
    .digest("base64");
}

function refuse({ port, id }: Ticket, refusal: OutboundRefusal): void {
  post(port, { type: "refused", id, refusal });
}

function post(port: MessagePort, message: FromSupervisor): void {
  port.postMessage(message);
}
