/**
 * Starts the thread of syncs. Every process that schedules has one; a lease decides which of them works. The thread is started again when
 * it dies, and ended when a list takes too long to read. Such a list is not read for a while, so that it does not end the thread again and again.
 */
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { cpuMsOf } from "../../model/proc-stat.ts";
import { onTicks } from "../../model/ticks.ts";
import { type OneAtATime, oneAtATime } from "../one-at-a-time.ts";
import { SyncMetrics } from "./metrics.ts";
import { type ReadingSample, ReadingWatch } from "./reading-watch.ts";
import { type ListAddress, RestingLists } from "./resting-lists.ts";
import type { FromSyncThread, SyncThreadData, ToSyncThread } from "./thread.ts";
import { ThreadSigns } from "./thread-signs.ts";

/** Memory of the thread: some lists of the largest size, parsed and made ready for the store. */
const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };
/** How often the reading of a list is looked at, ms. */
const LOOK_MS = 250;
/** How often a process without the thread looks whether there is work for one, ms. */
const NEEDED_MS = 1_000;
/** Between an unexpected end of the thread and its next start, ms; doubled when it ends again soon. */
const RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 60_000;
/** How long a stop waits for requests under way; they are made again after the next start. */
const STOP_MS = 5_000;
/** Why a thread ended that the watch did not end: as a rule its heap was full. */
const MORE_THAN_THERE_IS = "memory or time than there is";

const NOTHING_YET = { success: 0, unchanged: 0, failed: 0, dropped: 0 };

export interface SyncsOptions extends Omit<SyncThreadData, "logLevel" | "resting" | "signs"> {
  readonly log: Logger;
  /** The thread's file; absent: thread.ts. */
  readonly threadFile?: URL;
  /** The thread starts when this first says yes, because it takes 20 MiB; absent: at once. */
  readonly isNeeded?: () => Promise<boolean>;
}

export interface RunningSyncs {
  /** Lines for Prometheus. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

interface Reading {
  readonly list: ListAddress;
  readonly watch: ReadingWatch;
  /** Why the thread was ended; null while it may go on. */
  endedFor: string | null;
}

export function startSyncs(options: SyncsOptions): RunningSyncs {
  return new SyncsThread(options);
}

class SyncsThread implements RunningSyncs {
  readonly #log: Logger;
  readonly #place: Omit<SyncsOptions, "log" | "threadFile" | "isNeeded">;
  readonly #threadFile: URL;
  readonly #metrics = new SyncMetrics();
  readonly #resting = new RestingLists();
  /** Since there is a thread to look at. */
  #looking: NodeJS.Timeout | undefined;
  readonly #needed: OneAtATime;
  /** Until there is a thread. */
  #stopAsking: (() => void) | undefined;
  #thread: Worker | undefined;
  #signs = new ThreadSigns();
  #isClosing = false;
  #restartMs = RESTART_MS;
  #restart: NodeJS.Timeout | undefined;
  #reading: Reading | null = null;
  #latest: Extract<FromSyncThread, { type: "counts" }> | undefined;
  #ended = 0;

  constructor({ log, threadFile, isNeeded = async () => true, ...place }: SyncsOptions) {
    this.#log = log;
    this.#threadFile = threadFile ?? new URL(`./thread${extname(import.meta.url)}`, import.meta.url);
    this.#place = place;
    this.#needed = oneAtATime(
      async () => {
        if (this.#stopAsking === undefined || !(await isNeeded()) || this.#isClosing) return;
        this.#stopAsking();
        this.#stopAsking = undefined;
        this.#start();
      },
      (error) => this.#log.error({ err: error }, "looking whether there are syncs failed and is tried again"),
    );
    this.#stopAsking = onTicks(NEEDED_MS, this.#needed.request);
    this.#needed.request();
  }

  metrics(): Promise<string> {
    const { counts, inFlight } = this.#latest ?? { counts: NOTHING_YET, inFlight: 0 };
    const restingLists = this.#resting.all(Date.now()).length;
    return this.#metrics.text({ counts, inFlight, threadEnds: this.#ended, restingLists });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#looking);
    clearTimeout(this.#restart);
    this.#stopAsking?.();
    await this.#needed.stop();
    const ending = this.#thread;
    if (ending === undefined) return;
    const ended = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
    ending.postMessage({ type: "stop" } satisfies ToSyncThread);
    const late = setTimeout(() => void ending.terminate(), STOP_MS);
    await ended;
    clearTimeout(late);
  }

  #start(): void {
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
    this.#signs = new ThreadSigns();
    const data: SyncThreadData = {
      ...this.#place,
      logLevel: this.#log.level,
      resting: this.#resting.all(Date.now()),
      signs: this.#signs.memory,
    };
    const started = new Worker(this.#threadFile, {
      workerData: data,
      resourceLimits: LIMITS,
    });
    const startedAtMs = performance.now();
    let reason: unknown;
    started.on("message", (message: FromSyncThread) => this.#hear(message));
    started.on("error", (error) => {
      reason = error;
    });
    started.once("exit", () => this.#exited(started, startedAtMs, reason));
    this.#thread = started;
  }

  #exited(thread: Worker, startedAtMs: number, reason: unknown): void {
    if (this.#thread === thread) this.#thread = undefined;
    const reading = this.#reading;
    this.#reading = null;
    if (this.#isClosing) return;
    if (reading !== null) {
      this.#ended++;
      this.#resting.add(reading.list, reading.endedFor ?? MORE_THAN_THERE_IS, Date.now());
    }
    // Ended by the watch: that list is not read again soon, so the others need not wait.
    if (reading?.endedFor != null || performance.now() - startedAtMs > LONGEST_RESTART_MS) this.#restartMs = RESTART_MS;
    const { workspaceId, subscriptionId } = reading?.list ?? {};
    this.#log.error(
      { err: reason, subscription: subscriptionId, workspace: workspaceId },
      "the thread of syncs has died and is started again",
    );
    this.#restart = setTimeout(() => this.#start(), this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, LONGEST_RESTART_MS);
  }

  #hear(message: FromSyncThread): void {
    if (message.type === "counts") this.#latest = message;
    if (message.type !== "reading") return;
    const { list } = message;
    this.#reading = list === null ? null : { list, watch: new ReadingWatch(this.#sample()), endedFor: null };
  }

  #look(): void {
    const reading = this.#reading;
    if (reading === null || reading.endedFor !== null) return;
    const tooMuch = reading.watch.look(this.#sample());
    if (tooMuch === undefined) return;
    reading.endedFor = tooMuch;
    const { subscriptionId, workspaceId } = reading.list;
    this.#log.error(
      { subscription: subscriptionId, workspace: workspaceId, tooMuch },
      "a list takes too much to read: the thread of syncs is ended",
    );
    void this.#thread?.terminate();
  }

  #sample(): ReadingSample {
    return { beats: this.#signs.beats, cpuMs: cpuMsOfThread(this.#signs.threadId), nowMs: performance.now() };
  }
}

/** @param id the kernel's */
function cpuMsOfThread(id: number): number | null {
  try {
    return cpuMsOf(readFileSync(`/proc/self/task/${id}/stat`, "latin1"));
  } catch {
    // It has just ended, or there is no /proc.
    return null;
  }
}
