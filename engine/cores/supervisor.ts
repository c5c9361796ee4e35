/**
 * The managed cores of this process: collects the requests of probers, starts one core for many configs at once (batch-start.ts), and
 * replaces cores that died. It runs in the main thread, because a child with a parent-death signal dies with the thread that started it.
 *
 * Configs of a core that died while it ran are started again, first in a small batch, then alone. A config whose core dies then too is refused
 * for good.
 */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { BATCH_LIMIT } from "./batch.ts";
import { BatchStarter, type CoresOptions, type ReadyBatch } from "./batch-start.ts";
import { Lane } from "./lane.ts";
import { Mailbox } from "./mailbox.ts";
import type { OutboundRequest } from "./outbound.ts";
import type { FromSupervisor, OutboundRefusal, ToSupervisor } from "./outbound-port.ts";
import { PROGRAMS } from "./program.ts";
import { Reputation } from "./reputation.ts";
import { type Resident, RunningCore } from "./running-core.ts";
import { type Asker, Ticket } from "./ticket.ts";

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
/** Of them getting ready at once: each start takes a processor for 20 to 100 ms. */
const STARTING_LIMIT = Math.max(4, availableParallelism());
/** What waits for a core; beyond it the answer is that we are busy. */
const WAITING_LIMIT = 10_000;
/** A core that lived this long did not die of its start, ms. */
const LONG_LIFE_MS = 5_000;
/** Between two looks at how much memory cores take, ms. */
const WEIGH_EVERY_MS = 1_000;

const BUSY: OutboundRefusal = {
  verdict: "unfit",
  message: "This checker has too many share links waiting for its proxy cores",
};

export class CoreSupervisor {
  readonly #options: CoresOptions;
  /** By what shares a process; in the order in which they had their turn. */
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<RunningCore>();
  readonly #askers = new Set<Asker>();
  readonly #reputation = new Reputation();
  readonly #starter: BatchStarter;
  readonly #weigher: NodeJS.Timeout;
  #starting = 0;
  #crashed = 0;
  #open = 0;
  #isClosed = false;

  constructor(options: CoresOptions) {
    this.#options = options;
    this.#starter = new BatchStarter(options, this.#reputation, (lane, ready) => this.#takeIn(lane, ready));
    this.#weigher = setInterval(() => this.#weigh(), WEIGH_EVERY_MS);
    this.#weigher.unref();
  }

  get stats(): CoreStats {
    return {
      running: this.#running.size,
      started: this.#starter.started,
      crashed: this.#crashed,
      quarantined: this.#reputation.quarantined,
      waiting: [...this.#lanes.values()].reduce((sum, lane) => sum + lane.waiting, 0),
      open: this.#open,
      residentBytes: [...this.#running].reduce((sum, core) => sum + core.residentBytes, 0),
    };
  }

  /** Process ids of the running cores, for tests and for operators. */
  get pids(): readonly number[] {
    return [...this.#running].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** @returns what a thread gives to connectOutbounds(); when it closes it, or dies, all that it held is closed */
  connect(): MessagePort {
    const { port1: port, port2: theirs } = new MessageChannel();
    const asker: Asker = { port, mailbox: new Mailbox<FromSupervisor>(port), tickets: new Map() };
    this.#askers.add(asker);
    port.on("message", (words: readonly ToSupervisor[]) => {
      for (const word of words) this.#hear(asker, word);
    });
    port.on("close", () => {
      this.#askers.delete(asker);
      for (const ticket of asker.tickets.values()) this.#close(ticket);
    });
    port.unref();
    return theirs;
  }

  /** Kills what runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#starter.close();
    clearInterval(this.#weigher);
    for (const lane of this.#lanes.values()) lane.rest();
    for (const { port } of this.#askers) port.close();
    const all = [...this.#running];
    for (const core of all) core.end();
    await Promise.all(all.map((core) => core.ended));
  }

  #hear(asker: Asker, word: ToSupervisor): void {
    if (word.type === "open") {
      this.#ask(asker, word.id, word.request);
      return;
    }
    const ticket = asker.tickets.get(word.id);
    if (word.type === "findings") {
      const findings = ticket?.core?.log.findingsOf(ticket.tag) ?? [];
      const hasDied = ticket?.core?.isDead ?? true;
      asker.mailbox.post({ type: "findings", id: word.id, findings, hasDied });
      return;
    }
    if (ticket === undefined) return;
    asker.tickets.delete(word.id);
    if (word.isMute) void ticket.core?.suspect();
    this.#close(ticket);
  }

  #ask(asker: Asker, id: number, request: OutboundRequest): void {
    const ticket = new Ticket(asker, id, request, performance.now());
    const known = this.#reputation.refusalOf(ticket);
    if (known !== undefined) {
      ticket.refuse({ verdict: "misconfigured", message: known });
      return;
    }
    ticket.deaths = this.#reputation.deathsOf(ticket);
    // A suspect is only ever started with few.
    const lane = this.#laneOf(request, request.alone || ticket.deaths > 0);
    if (this.#isClosed || lane.waiting >= WAITING_LIMIT) {
      ticket.refuse(BUSY);
      return;
    }
    asker.tickets.set(id, ticket);
    lane.add(ticket);
    // The first starts the clock, a full batch need not wait for it.
    if (lane.waiting === 1 || lane.waiting >= BATCH_LIMIT) this.#consider(lane);
  }

  #close(ticket: Ticket): void {
    ticket.isGone = true;
    const { core } = ticket;
    if (core === null) return;
    ticket.core = null;
    this.#open -= 1;
    this.#reputation.survived(ticket);
    core.close(ticket.tag);
    this.#considerAll();
  }

  #laneOf({ engine, workspace }: OutboundRequest, isAlone: boolean): Lane {
    const name = `${engine} ${isAlone} ${workspace}`;
    const lane = this.#lanes.get(name) ?? new Lane(engine, name);
    this.#lanes.set(name, lane);
    return lane;
  }

  #considerAll(): void {
    for (const lane of this.#lanes.values()) {
      if (!this.#hasRoom) return;
      this.#consider(lane);
    }
  }

  get #hasRoom(): boolean {
    return this.#starting < STARTING_LIMIT && this.#running.size + this.#starting < PROCESS_LIMIT;
  }

  #consider(lane: Lane): void {
    if (lane.isStarting || this.#isClosed || lane.waiting === 0) return;
    if (!this.#hasRoom) return;
    const inMs = lane.dueInMs(this.#open, performance.now());
    if (inMs > 0) lane.later(inMs, () => this.#consider(lane));
    else void this.#startNext(lane);
  }

  async #startNext(lane: Lane): Promise<void> {
    lane.rest();
    const batch = lane.takeBatch();
    if (batch.length === 0) return;
    // The others have their turn before it comes again.
    this.#lanes.delete(lane.name);
    this.#lanes.set(lane.name, lane);
    lane.startBegan(performance.now());
    this.#starting += 1;
    await this.#starter.start(lane, batch);
    this.#starting -= 1;
    lane.startEnded(performance.now());
    this.#considerAll();
  }

  #takeIn(lane: Lane, { process, tickets, isTalkative }: ReadyBatch): void {
    const readyAtMs = performance.now();
    const core = new RunningCore(
      lane.engine,
      process,
      tickets.map((ticket) => this.#residentOf(ticket)),
      (ended, crashed, how) => this.#ended(lane, ended, crashed, how, performance.now() - readyAtMs),
    );
    this.#running.add(core);
    for (const ticket of tickets) {
      if (ticket.isGone) {
        core.close(ticket.tag);
        continue;
      }
      ticket.core = core;
      this.#open += 1;
      const { tag: user, password, id, asker } = ticket;
      const startedMs = readyAtMs - ticket.askedAtMs;
      const outbound = { port: process.port, user, password, startedMs, isCrowded: !isTalkative };
      asker.mailbox.post({ type: "opened", id, outbound });
    }
  }

  #residentOf(ticket: Ticket): Resident {
    return {
      tag: ticket.tag,
      died: () => {
        if (ticket.core === null) return;
        ticket.core = null;
        this.#open -= 1;
        ticket.asker.tickets.delete(ticket.id);
        ticket.asker.mailbox.post({ type: "died", id: ticket.id });
        const { file } = PROGRAMS[ticket.request.engine];
        if (this.#reputation.died(ticket)) this.#starter.keepOut(ticket, `${file} dies of the config`);
      },
    };
  }

  #ended(lane: Lane, core: RunningCore, hasCrashed: boolean, how: string, livedMs: number): void {
    this.#running.delete(core);
    if (hasCrashed) {
      this.#crashed += 1;
      if (livedMs < LONG_LIFE_MS) lane.backOff();
      this.#options.log.warn({ core: core.engine, how }, "cores: a core died; what was in it is opened again");
    }
    if (!this.#isClosed) this.#considerAll();
  }

  #weigh(): void {
    const nowMs = performance.now();
    for (const [name, lane] of this.#lanes) if (lane.isIdle(nowMs)) this.#lanes.delete(name);
    for (const core of this.#running) if (core.isTooHeavy) core.kill();
  }
}
