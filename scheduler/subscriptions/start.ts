/**
 * Syncs at work, on a thread of their own in every process that schedules; a lease lets one of them do it. The thread is started again when
 * it dies, and a list that took it along is held against its subscription, so that it does not do so for ever.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { FromSyncThread, SyncThreadData, ToSyncThread } from "./thread.ts";

/** Of the thread: some lists of the largest size, read and made ready. */
const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };
/** A list that is read for longer than this without a pause will not come to an end, ms. */
const LONGEST_READ_MS = 30_000;
const LOOK_MS = 1_000;
/** Between a death and the next start, ms; doubled each time it dies young. */
const RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 60_000;
/** How long a stop waits for requests under way; they are made again after the next start. */
const STOP_MS = 5_000;

export interface SyncsPlace extends Omit<SyncThreadData, "logLevel" | "suspects"> {
  readonly log: Logger;
}

export interface RunningSyncs {
  /** Lines for Prometheus. */
  metrics(): string;
  close(): Promise<void>;
}

export function startSyncs({ log, ...place }: SyncsPlace): RunningSyncs {
  let thread: Worker | undefined;
  let isClosing = false;
  let restartMs = RESTART_MS;
  let timer: NodeJS.Timeout | undefined;
  let reading: { readonly subscriptionId: number; readonly sinceMs: number } | null = null;
  let latest: Extract<FromSyncThread, { type: "counts" }> | undefined;
  const suspects = new Set<number>();
  const nowMs = (): number => performance.now();

  function start(): void {
    const data: SyncThreadData = { ...place, logLevel: log.level, suspects: [...suspects] };
    suspects.clear();
    const started = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      resourceLimits: LIMITS,
    });
    const startedAtMs = nowMs();
    let reason: unknown;
    started.on("message", hear);
    started.on("error", (error) => {
      reason = error;
    });
    started.once("exit", () => {
      if (thread === started) thread = undefined;
      if (reading !== null) suspects.add(reading.subscriptionId);
      reading = null;
      if (isClosing) return;
      if (nowMs() - startedAtMs > LONGEST_RESTART_MS) restartMs = RESTART_MS;
      log.error({ err: reason, suspects: [...suspects] }, "the thread of syncs has died and is started again");
      timer = setTimeout(start, restartMs);
      restartMs = Math.min(restartMs * 2, LONGEST_RESTART_MS);
    });
    thread = started;
  }

  function hear(message: FromSyncThread): void {
    if (message.type === "counts") latest = message;
    if (message.type !== "reading") return;
    reading = message.subscriptionId === null ? null : { subscriptionId: message.subscriptionId, sinceMs: nowMs() };
  }

  const watch = setInterval(() => {
    if (reading === null || nowMs() - reading.sinceMs < LONGEST_READ_MS) return;
    log.error({ subscription: reading.subscriptionId }, "a list is read without end: the thread of syncs is ended");
    void thread?.terminate();
  }, LOOK_MS);
  start();

  return {
    metrics: () => metricsOf(latest),
    async close() {
      isClosing = true;
      clearInterval(watch);
      clearTimeout(timer);
      const ending = thread;
      if (ending === undefined) return;
      const ended = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
      ending.postMessage({ type: "stop" } satisfies ToSyncThread);
      const late = setTimeout(() => void ending.terminate(), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

function metricsOf(latest: Extract<FromSyncThread, { type: "counts" }> | undefined): string {
  const counts = Object.entries(latest?.counts ?? { success: 0, unchanged: 0, failed: 0, dropped: 0 });
  return [
    "# HELP sonde_syncs_total Syncs of subscriptions, by what came of them",
    "# TYPE sonde_syncs_total counter",
    ...counts.map(([outcome, count]) => `sonde_syncs_total{outcome="${outcome}"} ${count}`),
    "# HELP sonde_syncs_in_flight Providers that are being asked",
    "# TYPE sonde_syncs_in_flight gauge",
    `sonde_syncs_in_flight ${latest?.inFlight ?? 0}`,
    "",
  ].join("\n");
}
