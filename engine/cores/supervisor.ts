/**
 * The managed cores of this process: collects the requests of probers, starts one core for many configs at once, and replaces cores that died.
 * It runs in the main thread, because a child with a parent-death signal dies with the thread that started it.
 *
 * What one request goes through, and which class does it:
 *
 *   prober thread                          main thread
 *   OutboundPort.open ──MessageBatcher──▶ CoreSupervisor.#enqueue: an OutboundRequest
 *                                            │ refused at once, when ConfigQuarantine has its config
 *                                            ▼
 *                                         BatchQueue: one for each engine and workspace; batch.ts decides when the next batch
 *                                            │        starts and which configs go into it
 *                                            ▼
 *                                         BatchStarter.start: CoreProcess; takes out the config that the core refuses
 *                                            │        (error-output.ts, by name or by halves), and blocks it in ConfigQuarantine
 *                                            ▼
 *                                         CoreSupervisor.#onBatchReady: RunningCore, with the batch's outbounds
 *   StartLimiter ◀────MessageBatcher──── "opened"
 *      │ a few checks at a time
 *      ▼
 *   check (engine/verify) ──TCP──▶ the core's local port
 *      │ "findings": what the core logged about this config (CoreLog, finding.ts)
 *      ▼
 *   OpenOutbound.close ─MessageBatcher─▶ CoreSupervisor.#close: RunningCore ends with its last outbound
 *
 * Configs of a core that died while it ran are started again, first in a small batch, then alone. A config whose core dies then too is refused
 * for good (ConfigQuarantine.recordCrash).
 */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { IdTable } from "../../model/id-table.ts";
import { onTicks } from "../../model/ticks.ts";
import { BATCH_LIMIT } from "./batch.ts";
import { BatchQueue } from "./batch-queue.ts";
import { BatchStarter, type CoresOptions, type ReadyBatch } from "./batch-start.ts";
import { ConfigQuarantine } from "./config-quarantine.ts";
import { MessageBatcher } from "./message-batcher.ts";
import type { OutboundSpec } from "./outbound.ts";
import type { FromSupervisor, OutboundRefusal, ToSupervisor } from "./outbound-port.ts";
import { OutboundRequest, type SupervisorClient } from "./outbound-request.ts";
import { PROGRAMS } from "./program.ts";
import { type CoreOutbound, RunningCore } from "./running-core.ts";

/** What the metrics tell. */
export interface CoreStats {
  readonly running: number;
  readonly started: number;
  readonly crashed: number;
  readonly quarantined: number;
  readonly waiting: number;
  readonly open: number;
  readonly residentBytes: number;
  readonly refused: number;
}

/** Processes at once, each of 30 to 150 MB. */
const PROCESS_LIMIT = 24;
/** Of them getting ready at once: each start takes a processor for 20 to 100 ms. */
const STARTING_LIMIT = Math.max(4, availableParallelism());
/** What waits for a core; beyond it the answer is that we are busy. */
const WAITING_LIMIT = 10_000;
/** A core that lived this long did not die of its start, ms. */
const STABLE_AFTER_MS = 5_000;
/** Between two looks at how much memory cores take, ms. */
const MEMORY_CHECK_INTERVAL_MS = 1_000;

const BUSY: OutboundRefusal = {
  verdict: "unfit",
  message: "This checker has too many share links waiting for its proxy cores",
};

export class CoreSupervisor {
  readonly #options: CoresOptions;
  /** By what shares a process; in the order in which they had their turn. */
  readonly #queues = new Map<string, BatchQueue>();
  readonly #running = new Set<RunningCore>();
  readonly #clients = new Set<SupervisorClient>();
  readonly #quarantine = new ConfigQuarantine();
  readonly #starter: BatchStarter;
  readonly #stopLooking: () => void;
  #starting = 0;
  #crashed = 0;
  #open = 0;
  #isClosed = false;

  constructor(options: CoresOptions) {
    this.#options = options;
    this.#starter = new BatchStarter(options, this.#quarantine, (queue, ready) => this.#onBatchReady(queue, ready));
    this.#stopLooking = onTicks(MEMORY_CHECK_INTERVAL_MS, () => this.#checkMemory());
  }

  get stats(): CoreStats {
    return {
      running: this.#running.size,
      started: this.#starter.started,
      crashed: this.#crashed,
      quarantined: this.#quarantine.quarantined,
      waiting: [...this.#queues.values()].reduce((sum, queue) => sum + queue.waiting, 0),
      open: this.#open,
      residentBytes: [...this.#running].reduce((sum, core) => sum + core.residentBytes, 0),
      refused: this.#starter.refused,
    };
  }

  /** Process ids of the running cores, for tests and for operators. */
  get pids(): readonly number[] {
    return [...this.#running].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** @returns what a thread gives to connectOutbounds(); when it closes it, or dies, all that it held is closed */
  connect(): MessagePort {
    const { port1: port, port2: theirs } = new MessageChannel();
    const client: SupervisorClient = {
      port,
      outgoing: new MessageBatcher<FromSupervisor>(port),
      requests: new IdTable(),
    };
    this.#clients.add(client);
    port.on("message", (messages: readonly ToSupervisor[]) => {
      for (const message of messages) this.#onMessage(client, message);
    });
    port.on("close", () => {
      this.#clients.delete(client);
      for (const request of client.requests.values()) this.#close(request);
    });
    port.unref();
    return theirs;
  }

  /** Kills what runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#starter.close();
    this.#stopLooking();
    for (const queue of this.#queues.values()) queue.clearTimer();
    for (const { port } of this.#clients) port.close();
    const all = [...this.#running];
    for (const core of all) core.end();
    await Promise.all(all.map((core) => core.ended));
  }

  #onMessage(client: SupervisorClient, message: ToSupervisor): void {
    if (message.type === "open") {
      this.#enqueue(client, message.id, JSON.parse(message.spec) as OutboundSpec);
      return;
    }
    const request = client.requests.get(message.id);
    if (message.type === "findings") {
      const findings = request?.core?.log.findingsOf(request.tag) ?? [];
      const hasDied = request?.core?.isDead ?? true;
      client.outgoing.post({ type: "findings", id: message.id, findings, hasDied });
      return;
    }
    if (request === undefined) return;
    client.requests.take(message.id);
    if (message.isUnresponsive) void request.core?.checkAlive();
    this.#close(request);
  }

  #enqueue(client: SupervisorClient, id: number, spec: OutboundSpec): void {
    const request = new OutboundRequest(client, id, spec, performance.now());
    const known = this.#quarantine.refusalOf(request);
    if (known !== undefined) {
      request.refuse({ verdict: "misconfigured", message: known });
      return;
    }
    request.crashes = this.#quarantine.crashesOf(request);
    // A suspect is only ever started with few.
    const queue = this.#queueOf(spec, spec.alone || request.crashes > 0);
    if (this.#isClosed || queue.waiting >= WAITING_LIMIT) {
      request.refuse(BUSY);
      return;
    }
    client.requests.set(id, request);
    queue.add(request);
    // The first starts the clock, a full batch need not wait for it.
    if (queue.waiting === 1 || queue.waiting >= BATCH_LIMIT) this.#startIfDue(queue);
  }

  #close(request: OutboundRequest): void {
    request.isClosed = true;
    const { core } = request;
    if (core === null) return;
    request.core = null;
    this.#open -= 1;
    this.#quarantine.forgetCrashes(request);
    core.close(request.tag);
    this.#startDueQueues();
  }

  #queueOf({ engine, workspace }: OutboundSpec, isAlone: boolean): BatchQueue {
    const name = `${engine} ${isAlone} ${workspace}`;
    const queue = this.#queues.get(name) ?? new BatchQueue(engine, name);
    this.#queues.set(name, queue);
    return queue;
  }

  #startDueQueues(): void {
    for (const queue of this.#queues.values()) {
      if (!this.#hasRoom) return;
      this.#startIfDue(queue);
    }
  }

  get #hasRoom(): boolean {
    return this.#starting < STARTING_LIMIT && this.#running.size + this.#starting < PROCESS_LIMIT;
  }

  #startIfDue(queue: BatchQueue): void {
    if (queue.isStarting || this.#isClosed || queue.waiting === 0) return;
    if (!this.#hasRoom) return;
    const inMs = queue.dueInMs(this.#open, performance.now());
    if (inMs > 0) queue.startIn(inMs, () => this.#startIfDue(queue));
    else void this.#startNext(queue);
  }

  async #startNext(queue: BatchQueue): Promise<void> {
    queue.clearTimer();
    const batch = queue.takeBatch();
    if (batch.length === 0) return;
    // The others have their turn before it comes again.
    this.#queues.delete(queue.name);
    this.#queues.set(queue.name, queue);
    queue.startBegan(performance.now());
    this.#starting += 1;
    await this.#starter.start(queue, batch);
    this.#starting -= 1;
    queue.startEnded(performance.now());
    this.#startDueQueues();
  }

  #onBatchReady(queue: BatchQueue, { process, requests, isVerbose }: ReadyBatch): void {
    const readyAtMs = performance.now();
    const core = new RunningCore(
      queue.engine,
      process,
      requests.map((request) => this.#outboundOf(request)),
      (ended, crashed, how) => this.#ended(queue, ended, crashed, how, performance.now() - readyAtMs),
    );
    this.#running.add(core);
    for (const request of requests) {
      if (request.isClosed) {
        core.close(request.tag);
        continue;
      }
      request.core = core;
      this.#open += 1;
      const { tag: user, password, id, client } = request;
      const startedMs = readyAtMs - request.requestedAtMs;
      const outbound = { port: process.port, user, password, startedMs, isCrowded: !isVerbose };
      client.outgoing.post({ type: "opened", id, outbound });
    }
  }

  #outboundOf(request: OutboundRequest): CoreOutbound {
    return {
      tag: request.tag,
      onCoreEnded: () => {
        if (request.core === null) return;
        request.core = null;
        this.#open -= 1;
        request.client.requests.take(request.id);
        request.client.outgoing.post({ type: "died", id: request.id });
        const { file } = PROGRAMS[request.spec.engine];
        if (this.#quarantine.recordCrash(request)) this.#starter.block(request, `${file} dies of the config`);
      },
    };
  }

  #ended(queue: BatchQueue, core: RunningCore, hasCrashed: boolean, how: string, livedMs: number): void {
    this.#running.delete(core);
    if (hasCrashed) {
      this.#crashed += 1;
      if (livedMs < STABLE_AFTER_MS) queue.backOff();
      this.#options.log.warn({ core: core.engine, how }, "cores: a core died; what was in it is opened again");
    }
    if (!this.#isClosed) this.#startDueQueues();
  }

  #checkMemory(): void {
    const nowMs = performance.now();
    for (const [name, queue] of this.#queues) if (queue.isIdle(nowMs)) this.#queues.delete(name);
    for (const core of this.#running) if (core.isOverMemory) core.kill();
  }
}
