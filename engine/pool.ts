/**
 * The threads of a checker: one piscina pool with one scheduler task and N prober tasks, all long-lived (design, section 3).
 * The only importer of piscina. Two of its settings would ruin this (reference 4.5): the default `atomics: "sync"` parks a thread
 * between tasks, and a task with a `signal` gets a thread to itself.
 *
 * A prober that is silent for two seconds is terminated; one that died, of that or by itself, is announced to the scheduler
 * (`prober-down`) and replaced (`prober-up`). The scheduler re-runs what it had (probers.ts).
 */
import { extname } from "node:path";
import { performance } from "node:perf_hooks";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import { loadLibc } from "../native/libc.ts";
import { OwnedDescriptors } from "../native/owned-descriptors.ts";
import { startSystemPingService } from "../native/system-ping.ts";
import { parseCanary } from "./canary.ts";
import type { FromPool } from "./check.ts";
import { coresMetrics } from "./cores/metrics.ts";
import { CoreSupervisor } from "./cores/supervisor.ts";
import type { EngineOptions } from "./options.ts";
import { LOOK_EVERY_MS, SilenceWatch } from "./silence.ts";
import { parseVerifyUrl } from "./verify/endpoint.ts";
import { Vitals } from "./vitals.ts";
import type { FromProberThread, ProberTask } from "./worker.ts";

/** The part of pino's logger that is used. */
export interface PoolLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the scheduler's task file gets: it exports `task(given: SchedulerTask): Promise<void>`, which ends when it was stopped. */
export interface SchedulerTask {
  /** Carries FromPool; for connectProbers(). */
  readonly control: MessagePort;
  readonly engine: EngineOptions;
  readonly data: unknown;
}

export interface PoolOptions {
  /** Prober threads. */
  readonly workers: number;
  readonly engine: EngineOptions;
  /** null: whoever starts the pool hands out the checks himself, over its `control` (direct.ts). */
  readonly scheduler: {
    readonly file: URL;
    /** Structured-cloneable; what it must transfer (ports) is listed in `transfer`. */
    readonly data: unknown;
    readonly transfer?: readonly MessagePort[];
  } | null;
  readonly log: PoolLog;
  /** The scheduler's thread has died, or no prober can be started: nothing will be checked any more. */
  readonly onFatal: (error: Error) => void;
  /** Task file of the probers; ours unless a test brings probes of its own. */
  readonly proberFile?: URL;
  /** Heap of each thread, MiB. */
  readonly heapMb?: number;
}

export interface Pool {
  /** Probers that are up. */
  readonly size: number;
  /** For connectProbers() where the pool has no scheduler of its own; null where it has. */
  readonly control: MessagePort | null;
  /** Of the proxy cores, in Prometheus' format; empty where there are none. */
  metrics(): Promise<string>;
  /** Settles when the scheduler's task has returned, as it does after it was told to stop; at once without one. */
  readonly schedulerEnded: Promise<void>;
  /** Ends every thread. Tell the scheduler to stop before: a check that is in flight now is lost. */
  close(): Promise<void>;
}

const HEAP_MB = 1_024;
/** A thread must have loaded the engine within this, ms. */
const START_WITHIN_MS = 30_000;
/** A terminated thread that has not ended by then hangs in native code, and cannot be ended. */
const END_WITHIN_MS = 5_000;
/** How long closing waits for tasks that are ending by themselves, ms. */
const CLOSE_WITHIN_MS = 5_000;
/** A prober that dies before it was ready, or this soon after, is replaced after a pause, ms. */
const SHORT_LIFE_MS = 1_000;
const RESTART_PAUSE_MS = 1_000;
/** So many probers in a row that never became ready: the next would not either. */
const FAILED_STARTS = 5;

interface ProberThread {
  readonly id: number;
  readonly vitals: Vitals;
  readonly descriptors: OwnedDescriptors;
  /** The scheduler's end; handed over when the thread is ready. */
  readonly schedulerPort: MessagePort;
  readonly startedAtMs: number;
  isReady: boolean;
  /** Why it was terminated; null while it lives or when it died by itself. */
  terminatedFor: string | null;
  settleReady: (error: Error | null) => void;
}

/** @returns when every prober is ready; rejects when one cannot start */
export async function startPool(options: PoolOptions): Promise<Pool> {
  // A setting that cannot be used is told here, not by a thread that dies of it.
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
  readonly #piscina: Piscina;
  readonly #control: MessagePort;
  readonly #probers = new Map<number, ProberThread>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #silence = new SilenceWatch(performance.now());
  readonly #watch: NodeJS.Timeout;
  /** Children are started by the main thread only; probers ask it for the system's ping where they have no socket for it. */
  readonly #systemPing = startSystemPingService();
  /** And for the proxy cores of share links; null where nobody said where they are. */
  readonly #cores: CoreSupervisor | null;
  #lastId = 0;
  #failedStarts = 0;
  #isClosing = false;
  #schedulerHasEnded = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { engine, log } = options;
    this.#cores =
      engine.cores === undefined
        ? null
        : new CoreSupervisor({ places: engine.cores, extraCaPem: engine.extraCaPem, log });
    this.#proberFile = (options.proberFile ?? new URL(`./worker${extname(import.meta.url)}`, import.meta.url)).href;
    const threads = options.workers + (options.scheduler === null ? 0 : 1);
    this.#piscina = new Piscina({
      minThreads: threads,
      // Not one more: piscina fills up to it whenever a task waits for a thread that is still starting.
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: "disabled",
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb ?? HEAP_MB },
    });
    this.#piscina.on("error", (error: Error) => options.log.error({ err: error }, "a thread without a task has died"));
    this.#piscina.on("message", (message: FromProberThread) => this.#hear(message));
    const { port1, port2 } = new MessageChannel();
    this.#control = port1;
    this.control = options.scheduler === null ? port2 : null;
    this.schedulerEnded =
      options.scheduler === null ? Promise.resolve() : this.#startScheduler(options.scheduler, port2);
    this.#schedulerHasEnded = options.scheduler === null;
    this.#watch = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  get size(): number {
    let ready = 0;
    for (const prober of this.#probers.values()) if (prober.isReady) ready++;
    return ready;
  }

  metrics(): Promise<string> {
    return coresMetrics(this.#cores?.stats);
  }

  async start(): Promise<void> {
    const starts = Array.from({ length: this.#options.workers }, () => this.#startProber());
    await Promise.all(starts);
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearInterval(this.#watch);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_WITHIN_MS);
    });
    // A scheduler that has ended has stopped its probers; one that still runs was not told to, and is not waited for.
    if (this.#schedulerHasEnded) await Promise.race([Promise.allSettled(this.#tasks), late]);
    clearTimeout(timer);
    this.#control.close();
    this.#systemPing.close();
    await this.#piscina.destroy();
    await this.#cores?.close();
  }

  async #startScheduler(scheduler: NonNullable<PoolOptions["scheduler"]>, control: MessagePort): Promise<void> {
    const { file, data, transfer = [] } = scheduler;
    const given: SchedulerTask = { control, engine: this.#options.engine, data };
    try {
      await this.#piscina.run(given, { filename: file.href, name: "task", transferList: [control, ...transfer] });
      this.#schedulerHasEnded = true;
    } catch (error) {
      if (this.#isClosing) return;
      this.#options.onFatal(new Error("the scheduler's thread has died", { cause: error }));
    }
  }

  /** @returns when it is ready; rejects when it died before */
  #startProber(): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    const { promise, settle } = settled();
    const prober: ProberThread = {
      id: ++this.#lastId,
      vitals: new Vitals(),
      descriptors: new OwnedDescriptors(),
      schedulerPort: port2,
      startedAtMs: performance.now(),
      isReady: false,
      terminatedFor: null,
      settleReady: settle,
    };
    this.#probers.set(prober.id, prober);
    const outbounds = this.#cores?.connect() ?? null;
    const given: ProberTask = {
      prober: prober.id,
      port: port1,
      outbounds,
      engine: this.#options.engine,
      vitals: prober.vitals.memory,
      descriptors: prober.descriptors.memory,
    };
    const task: Promise<void> = this.#piscina
      .run(given, {
        filename: this.#proberFile,
        name: "task",
        transferList: outbounds === null ? [port1] : [port1, outbounds],
      })
      .then(
        () => this.#end(prober, null),
        (error: unknown) => this.#end(prober, error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
    const late = setTimeout(() => prober.settleReady(new Error("a prober did not start in time")), START_WITHIN_MS);
    return promise.finally(() => clearTimeout(late));
  }

  #hear(message: FromProberThread): void {
    const prober = this.#probers.get(message.prober);
    if (prober === undefined) return;
    if (message.type === "prober-strays") {
      this.#options.log.warn(message, "a probe left rejections that nobody waited for");
      return;
    }
    prober.isReady = true;
    this.#failedStarts = 0;
    this.#silence.add(prober.id, prober.vitals.beats);
    this.#post({ type: "prober-up", prober: prober.id, port: prober.schedulerPort }, [prober.schedulerPort]);
    prober.settleReady(null);
  }

  #look(): void {
    const silent = this.#silence.look((id) => this.#probers.get(id)?.vitals.beats ?? 0, performance.now());
    for (const id of silent) {
      const prober = this.#probers.get(id);
      if (prober !== undefined) this.#terminate(prober);
    }
  }

  #terminate(prober: ProberThread): void {
    prober.terminatedFor = "silent for 2 s";
    this.#options.log.error(
      { prober: prober.id, suspect: prober.vitals.suspect },
      "a prober was silent for 2 s and is terminated",
    );
    const thread = this.#piscina.threads.find(({ threadId }) => threadId === prober.vitals.threadId);
    // Its task rejects when the thread has ended: #end() does the rest.
    thread
      ?.terminate()
      .catch((error: unknown) => this.#options.log.error({ err: error }, "a prober cannot be terminated"));
    setTimeout(() => {
      if (!this.#probers.has(prober.id)) return;
      // Hanging in native code: its thread is lost, its checks are not.
      this.#down(prober, "hangs in native code");
      if (this.size === 0) this.#options.onFatal(new Error("every prober hangs in native code"));
    }, END_WITHIN_MS).unref();
  }

  #end(prober: ProberThread, error: Error | null): void {
    const lifeMs = performance.now() - prober.startedAtMs;
    const libc = error === null ? null : loadLibc();
    if (libc !== null) prober.descriptors.closeAll(libc);
    const wasReady = prober.isReady;
    prober.settleReady(error ?? new Error("a prober ended before it was ready"));
    if (this.#probers.has(prober.id)) {
      if (error !== null || prober.terminatedFor !== null)
        this.#down(prober, prober.terminatedFor ?? error?.message ?? "");
      else this.#remove(prober);
    }
    if (this.#isClosing || error === null) return;
    if (!wasReady && ++this.#failedStarts >= FAILED_STARTS) {
      this.#options.onFatal(new Error("no prober can be started", { cause: error }));
      return;
    }
    setTimeout(() => this.#replace(), lifeMs < SHORT_LIFE_MS ? RESTART_PAUSE_MS : 0);
  }

  #replace(): void {
    if (this.#isClosing) return;
    this.#startProber().then(
      () => this.#options.log.info({ probers: this.size }, "a fresh prober stands in"),
      (error: unknown) => this.#options.log.error({ err: error }, "a fresh prober could not start"),
    );
  }

  /** It was told to stop, or is forgotten. */
  #remove(prober: ProberThread): void {
    this.#probers.delete(prober.id);
    this.#silence.remove(prober.id);
  }

  #down(prober: ProberThread, reason: string): void {
    this.#remove(prober);
    if (!prober.isReady || this.#isClosing) return;
    this.#options.log.error({ prober: prober.id, reason }, "a prober is down");
    this.#post({ type: "prober-down", prober: prober.id, reason, suspect: prober.vitals.suspect || null });
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
