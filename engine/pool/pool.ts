/**
 * The threads of a checker: one scheduler task and N prober tasks, all long-lived, each in a piscina pool of one thread. One pool per thread,
 * because a pool still counts a thread that cannot be ended: in a shared pool its replacement could not start.
 * The only importer of piscina. Two of its settings would break this: the default `atomics: "sync"` blocks a thread between tasks, and a
 * task with a `signal` gets a separate thread.
 *
 * A prober that is silent for two seconds is terminated. When a prober has ended, for that or another reason, the scheduler gets `prober-down`,
 * a new one starts (`prober-up`), and the scheduler re-runs the checks of the old one (probers.ts). A prober that hangs in native code cannot be
 * terminated: it is replaced, and its thread stays until the call returns; their number is bounded (hung-probers.ts).
 */

import { extname } from "node:path";
import { performance } from "node:perf_hooks";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Log } from "../../model/log.ts";
import { onTicks } from "../../model/ticks.ts";
import { loadLibc } from "../../native/libc.ts";
import { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { startSystemPingService } from "../../native/system-ping.ts";
import { atUsualPriority } from "../../native/thread-priority.ts";
import type { FromPool, ToPool } from "../contract/messages.ts";
import type { EngineOptions } from "../contract/options.ts";
import { coresMetrics } from "../cores/metrics.ts";
import { CoreSupervisor } from "../cores/supervisor.ts";
import { keyOpenerMetrics } from "../key-opener/metrics.ts";
import { KeyOpenerProcess } from "../key-opener/opener-process.ts";
import { ThreadHeartbeat } from "../prober/thread-heartbeat.ts";
import type { FromProberThread, ProberTask } from "../prober/worker.ts";
import { TextJudgeProcess } from "../text-judge/judge-process.ts";
import { OwnBoard } from "../transport/own-board.ts";
import { parseCanary } from "../trust/canary.ts";
import { parseVerifyUrl } from "../verify/endpoint.ts";
import { HungProbers, mostHungOf } from "./hung-probers.ts";
import { LOOK_EVERY_MS, SilenceWatch } from "./silence.ts";

/** What the scheduler's task file gets: it exports `task(options: SchedulerTask): Promise<void>`, which resolves after a stop. */
export interface SchedulerTask {
  /** Carries FromPool; for connectProbers(). */
  readonly control: MessagePort;
  readonly engine: EngineOptions;
  readonly data: unknown;
}

export interface PoolOptions {
  /** Prober threads. */
  readonly workers: number;
  /** They start when the scheduler asks for them (`want-probers`), and stay; absent: at once. */
  readonly standsBy?: boolean;
  readonly engine: EngineOptions;
  /** null: the code that starts the pool hands out the checks over its `control` (direct.ts). */
  readonly scheduler: {
    readonly file: URL;
    /** Structured-cloneable; what it must transfer (ports) is listed in `transfer`. */
    readonly data: unknown;
    readonly transfer?: readonly MessagePort[];
  } | null;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** The scheduler's thread has died, or no prober can be started: nothing will be checked any more. */
  readonly onFatal: (error: Error) => void;
  /** Task file of the probers; ours unless a test brings probes of its own. */
  readonly proberFile?: URL;
  /** Heap of each thread, MiB. */
  readonly heapMb?: number;
  /** Of it, where objects begin; YOUNG_HEAP_MB without it. */
  readonly youngHeapMb?: number;
}

export interface Pool {
  /** Probers that are up. */
  readonly size: number;
  /** For connectProbers() where the pool has no scheduler of its own; null where it has. */
  readonly control: MessagePort | null;
  /** Of the probers that hang, and of the proxy cores where there are some; in Prometheus' format. */
  metrics(): Promise<string>;
  /** What the operator should know of probers that hang in native code, a line each; empty when all is well. */
  troubles(): readonly string[];
  /** Settles when the scheduler's task has returned, as it does after it was told to stop; at once without one. */
  readonly schedulerEnded: Promise<void>;
  /** Ends every thread. Tell the scheduler to stop before: a check that is in flight now is lost. */
  close(): Promise<void>;
}

const HEAP_MB = 1_024;
/**
 * The part of each heap where objects begin, MiB; V8 uses two thirds of it. What a check makes is soon garbage, so a smaller one is collected more
 * often and costs the same in all; V8's own choice, 48, is kept by every thread that was once busy.
 */
const YOUNG_HEAP_MB = 12;
/** A thread must have loaded the engine within this, ms. */
const START_TIMEOUT_MS = 30_000;
/** A terminated thread that has not ended by then hangs in native code: JavaScript ends within milliseconds, a collection of garbage within one or two seconds. */
const END_TIMEOUT_MS = 3_000;
/** How long closing waits for tasks that are ending by themselves, ms. */
const CLOSE_TIMEOUT_MS = 5_000;
/** A prober that dies before it was ready, or this soon after, is replaced after a pause, ms. */
const SHORT_LIFE_MS = 1_000;
const RESTART_PAUSE_MS = 1_000;
/** So many probers in a row that never became ready: the next would not either. */
const FAILED_STARTS = 5;

interface ProberThread {
  readonly id: number;
  readonly piscina: Piscina;
  readonly heartbeat: ThreadHeartbeat;
  readonly descriptors: OwnedDescriptors;
  /** The scheduler's end; handed over when the thread is ready. */
  readonly schedulerPort: MessagePort;
  readonly startedAtMs: number;
  /** It is the one set aside for checks that hold the thread. */
  readonly isAside: boolean;
  isReady: boolean;
  /** Why it was terminated; null while it lives or when it died by itself. */
  terminatedFor: string | null;
  settleReady: (error: Error | null) => void;
}

/** @returns when every prober is ready; rejects when one cannot start */
export async function startPool(options: PoolOptions): Promise<Pool> {
  // An invalid setting throws here; otherwise a thread would die of it.
  options.engine.canaries?.forEach(parseCanary);
  options.engine.verifyUrls?.forEach(parseVerifyUrl);
  const pool = new ThreadPool(options);
  try {
    await pool.start();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}

class ThreadPool implements Pool {
  readonly control: MessagePort | null;
  readonly schedulerEnded: Promise<void>;
  readonly #options: PoolOptions;
  readonly #proberFile: string;
  readonly #control: MessagePort;
  /** Those that start, serve or are about to end. */
  readonly #probers = new Map<number, ProberThread>();
  readonly #hung: HungProbers;
  readonly #threads = new Set<Piscina>();
  readonly #hungThreads = new Set<Piscina>();
  /** Of probers that do not hang. */
  readonly #tasks = new Map<number, Promise<void>>();
  readonly #silence = new SilenceWatch(performance.now());
  /** Probers that were terminated and have not ended yet. */
  readonly #ending = new SilenceWatch(performance.now(), END_TIMEOUT_MS);
  readonly #stopWatching: () => void;
  /** Children are started by the main thread only; probers ask it for the system's ping where they have no socket for it. */
  readonly #systemPing = startSystemPingService();
  /** Starts the proxy cores of share links; null when no path to them is configured. */
  readonly #cores: CoreSupervisor | null;
  /** Starts the process that opens foreign keys, which may take long. */
  readonly #keys: KeyOpenerProcess;
  /** Starts the process that looks into answers with users' expressions. */
  readonly #texts: TextJudgeProcess;
  #lastId = 0;
  #failedStarts = 0;
  #wantsAside = false;
  #isAsleep: boolean;
  #isClosing = false;
  #schedulerHasEnded = false;

  constructor(options: PoolOptions) {
    const board = new OwnBoard(options.engine.ownBoard);
    this.#options = { ...options, engine: { ...options.engine, ownBoard: board.memory } };
    const { engine, log } = this.#options;
    this.#keys = new KeyOpenerProcess({ log });
    this.#texts = new TextJudgeProcess({ log });
    this.#cores =
      engine.cores === undefined
        ? null
        : new CoreSupervisor({ paths: engine.cores, extraCaPem: engine.extraCaPem, log, ports: board });
    this.#proberFile = (
      options.proberFile ?? new URL(`../prober/worker${extname(import.meta.url)}`, import.meta.url)
    ).href;
    this.#hung = new HungProbers(mostHungOf(options.workers));
    const { port1, port2 } = new MessageChannel();
    this.#control = port1;
    this.#isAsleep = options.standsBy ?? false;
    port1.on("message", (message: ToPool) => {
      if (message.type === "want-aside") this.#wantsAside = message.isWanted;
      else this.#isAsleep = false;
      this.#fill();
    });
    this.control = options.scheduler === null ? port2 : null;
    this.schedulerEnded =
      options.scheduler === null ? Promise.resolve() : this.#startScheduler(options.scheduler, port2);
    this.#schedulerHasEnded = options.scheduler === null;
    this.#stopWatching = onTicks(LOOK_EVERY_MS, () => this.#look());
  }

  get size(): number {
    let ready = 0;
    for (const prober of this.#serving(false)) if (prober.isReady) ready++;
    return ready;
  }

  async metrics(): Promise<string> {
    const keys = await keyOpenerMetrics(this.#keys.stats);
    return [await this.#hung.metrics(), await coresMetrics(this.#cores?.stats), keys].join("\n");
  }

  troubles(): readonly string[] {
    return this.#hung.troubles();
  }

  async start(): Promise<void> {
    if (this.#isAsleep) return;
    const starts = Array.from({ length: this.#options.workers }, () => this.#startProber(false));
    await Promise.all(starts);
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#stopWatching();
    // A scheduler that has ended has stopped its probers. One that still runs was not asked to stop, so its tasks are not awaited.
    if (this.#schedulerHasEnded) await within(Promise.allSettled(this.#tasks.values()), CLOSE_TIMEOUT_MS);
    this.#control.close();
    this.#systemPing.close();
    this.#keys.close();
    this.#texts.close();
    await this.#endThreads();
    await this.#cores?.close();
  }

  /** What hangs in native code is not waited for, and keeps neither the event loop nor the process. */
  async #endThreads(): Promise<void> {
    const workers = [...this.#threads, ...this.#hungThreads].flatMap(({ threads }) => threads);
    for (const thread of this.#hungThreads) void thread.destroy();
    const ending = Promise.all([...this.#threads].map((thread) => thread.destroy()));
    if ((await within(ending, CLOSE_TIMEOUT_MS)) && this.#hungThreads.size === 0) return;
    this.#hung.leave();
    // Piscina takes hold of a worker anew when its port has closed.
    setInterval(() => {
      for (const worker of workers) worker.unref();
    }, LOOK_EVERY_MS).unref();
  }

  /** A pool of one thread, which starts with the first task. */
  #openThread(): Piscina {
    const thread = new Piscina({
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: "disabled",
      recordTiming: false,
      resourceLimits: {
        maxOldGenerationSizeMb: this.#options.heapMb ?? HEAP_MB,
        maxYoungGenerationSizeMb: this.#options.youngHeapMb ?? YOUNG_HEAP_MB,
      },
    });
    thread.on("error", (error: Error) => this.#options.log.error({ err: error }, "a thread without a task has died"));
    thread.on("message", (message: FromProberThread) => this.#hear(message));
    this.#threads.add(thread);
    return thread;
  }

  async #startScheduler(scheduler: NonNullable<PoolOptions["scheduler"]>, control: MessagePort): Promise<void> {
    const { file, data, transfer = [] } = scheduler;
    const taskData: SchedulerTask = { control, engine: this.#options.engine, data };
    try {
      await this.#openThread().run(taskData, {
        filename: file.href,
        name: "task",
        transferList: [control, ...transfer],
      });
      this.#schedulerHasEnded = true;
    } catch (error) {
      if (this.#isClosing) return;
      this.#options.onFatal(new Error("the scheduler's thread has died", { cause: error }));
    }
  }

  /** @returns when it is ready; rejects when it died before */
  #startProber(isAside: boolean): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    const { promise, settle } = settled();
    const prober: ProberThread = {
      id: ++this.#lastId,
      piscina: this.#openThread(),
      heartbeat: new ThreadHeartbeat(),
      descriptors: new OwnedDescriptors(),
      schedulerPort: port2,
      startedAtMs: performance.now(),
      isAside,
      isReady: false,
      terminatedFor: null,
      settleReady: settle,
    };
    this.#probers.set(prober.id, prober);
    const outbounds = this.#cores?.connect() ?? null;
    const keys = this.#keys.connect();
    const texts = this.#texts.connect();
    const taskData: ProberTask = {
      prober: prober.id,
      port: port1,
      outbounds,
      keys,
      texts,
      engine: this.#options.engine,
      heartbeat: prober.heartbeat.memory,
      descriptors: prober.descriptors.memory,
      isAside,
    };
    const transferList = [port1, keys, texts, ...(outbounds === null ? [] : [outbounds])];
    // The thread starts with its first task.
    const running = atUsualPriority(() =>
      prober.piscina.run(taskData, { filename: this.#proberFile, name: "task", transferList }),
    );
    const task: Promise<void> = running
      .then(
        () => this.#end(prober, null),
        (error: unknown) => this.#end(prober, error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => this.#tasks.delete(prober.id));
    this.#tasks.set(prober.id, task);
    const late = setTimeout(() => prober.settleReady(new Error("a prober did not start in time")), START_TIMEOUT_MS);
    return promise.finally(() => clearTimeout(late));
  }

  #hear(message: FromProberThread): void {
    const prober = this.#probers.get(message.prober);
    if (prober === undefined) return;
    if (message.type === "prober-strays") {
      this.#options.log.warn(
        message,
        "promises were rejected without a handler: a check was over, or code cannot be loaded",
      );
      return;
    }
    prober.isReady = true;
    this.#failedStarts = 0;
    this.#silence.add(prober.id, prober.heartbeat.beats);
    const { id, isAside, schedulerPort: port } = prober;
    this.#post({ type: "prober-up", prober: id, port, isAside }, [port]);
    prober.settleReady(null);
  }

  #look(): void {
    const nowMs = performance.now();
    for (const id of this.#silence.look((each) => this.#probers.get(each)?.heartbeat.beats ?? 0, nowMs)) {
      const prober = this.#probers.get(id);
      if (prober !== undefined) this.#terminate(prober);
    }
    for (const id of this.#ending.look(() => 0, nowMs)) {
      const prober = this.#probers.get(id);
      if (prober !== undefined) this.#leaveHanging(prober);
    }
  }

  #terminate(prober: ProberThread): void {
    prober.terminatedFor = "silent for 2 s";
    this.#options.log.error(
      { prober: prober.id, suspect: prober.heartbeat.suspect },
      "a prober was silent for 2 s and is terminated",
    );
    this.#post({ type: "prober-silent", prober: prober.id });
    // Its task rejects when the thread has ended: #end() does the rest.
    prober.piscina.threads[0]
      ?.terminate()
      .catch((error: unknown) => this.#options.log.error({ err: error }, "a prober cannot be terminated"));
    this.#ending.add(prober.id, 0);
    this.#fill();
  }

  /** The thread is blocked until the native call returns, but its checks are freed now. */
  #leaveHanging(prober: ProberThread): void {
    const suspect = prober.heartbeat.suspect || null;
    this.#hung.add(prober.id, suspect, Date.now());
    // Closing waits neither for its task nor for its thread.
    this.#tasks.delete(prober.id);
    this.#threads.delete(prober.piscina);
    this.#hungThreads.add(prober.piscina);
    this.#options.log.error(
      { prober: prober.id, suspect, hung: this.#hung.size, mostHung: this.#hung.most },
      "a prober hangs in native code; another stands in, and it ends when the call returns",
    );
    this.#down(prober, "hangs in native code", true);
    this.#post({ type: "hung-probers", isFull: this.#hung.isFull });
    this.#fill();
  }

  #end(prober: ProberThread, error: Error | null): void {
    const lifeMs = performance.now() - prober.startedAtMs;
    const libc = error === null ? null : loadLibc();
    if (libc !== null) prober.descriptors.closeAll(libc);
    this.#threads.delete(prober.piscina);
    void prober.piscina.destroy();
    const wasReady = prober.isReady;
    prober.settleReady(error ?? new Error("a prober ended before it was ready"));
    if (this.#probers.has(prober.id)) {
      if (error !== null || prober.terminatedFor !== null)
        this.#down(prober, prober.terminatedFor ?? error?.message ?? "", false);
      else this.#remove(prober);
    } else this.#freeHung(prober);
    if (this.#isClosing || (error === null && !this.#wantsAside)) return;
    if (error !== null && !wasReady && ++this.#failedStarts >= FAILED_STARTS) {
      this.#options.onFatal(new Error("no prober can be started", { cause: error }));
      return;
    }
    setTimeout(() => this.#fill(), lifeMs < SHORT_LIFE_MS ? RESTART_PAUSE_MS : 0);
  }

  #freeHung(prober: ProberThread): void {
    if (this.#isClosing) return;
    this.#hungThreads.delete(prober.piscina);
    const hungMs = this.#hung.remove(prober.id, Date.now());
    if (hungMs === undefined) return;
    this.#options.log.warn({ prober: prober.id, hungMs }, "a prober that hung in native code has ended");
    this.#post({ type: "hung-probers", isFull: this.#hung.isFull });
  }

  /** Starts missing probers, within the bound that includes hanging threads. */
  #fill(): void {
    const wanted = { ordinary: this.#isAsleep ? 0 : this.#options.workers, aside: this.#wantsAside ? 1 : 0 };
    for (let missing = wanted.ordinary - this.#serving(false).length; missing > 0; missing--) this.#standIn(false);
    if (wanted.aside > this.#serving(true).length) this.#standIn(true);
  }

  #standIn(isAside: boolean): void {
    const most = this.#options.workers + this.#hung.most + 1;
    if (this.#isClosing || this.#probers.size + this.#hung.size >= most) return;
    this.#startProber(isAside).then(
      () => this.#options.log.info({ probers: this.size, isAside }, "a fresh prober stands in"),
      (error: unknown) => this.#options.log.error({ err: error }, "a fresh prober could not start"),
    );
  }

  /** Probers that are not being terminated. */
  #serving(isAside: boolean): readonly ProberThread[] {
    return [...this.#probers.values()].filter((one) => one.terminatedFor === null && one.isAside === isAside);
  }

  /** Removes a prober that was told to stop, or that was given up. */
  #remove(prober: ProberThread): void {
    this.#probers.delete(prober.id);
    this.#silence.remove(prober.id);
    this.#ending.remove(prober.id);
  }

  #down(prober: ProberThread, reason: string, hangs: boolean): void {
    this.#remove(prober);
    if (!prober.isReady || this.#isClosing) return;
    this.#options.log.error({ prober: prober.id, reason }, "a prober is down");
    this.#post({
      type: "prober-down",
      prober: prober.id,
      reason,
      hangs,
      suspect: prober.heartbeat.suspect || null,
      suspectConfig: prober.heartbeat.suspectConfig || null,
    });
  }

  #post(message: FromPool, transfer: readonly MessagePort[] = []): void {
    this.#control.postMessage(message, [...transfer]);
  }
}

function settled(): { promise: Promise<void>; settle: (error: Error | null) => void } {
  let settle: (error: Error | null) => void = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === null ? resolve() : reject(error));
  });
  return { promise, settle };
}

/** @returns false when the time was over first */
async function within(ending: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const inTime = await Promise.race([ending.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
