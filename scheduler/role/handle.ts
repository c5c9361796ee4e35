/** The main thread's handle of the scheduler's thread: its readiness, its status, and the stop. */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { FromScheduler, SchedulerStatus, ToScheduler } from "./status.ts";

/** It cannot start: one line for the operator. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export interface SchedulerHandle {
  /** Goes to the scheduler's thread. */
  readonly port: MessagePort;
  /** Resolves when checks run; rejects with a StartError. */
  readonly ready: Promise<void>;
  /** @returns undefined before it is ready */
  status(): SchedulerStatus | undefined;
  /** Its thread has died. @returns false when it was running, and no caller waits for its start any more */
  fail(error: Error): boolean;
  /** Rejects when it has not spoken for a while. */
  ping(): Promise<void>;
  /** Its thread could not be started: nothing will be heard of it. */
  abandon(): void;
  /** Resolves when everything is written down. */
  stop(): Promise<void>;
}

/** It speaks every second; silent for longer than this it counts as away, ms. */
const SILENT_MS = 5_000;
/** Longest wait for it to write everything down, ms. */
const STOP_MS = 15_000;

/** @param needsProbers whether it is ready only once a prober is up; false: checkers are processes of their own, and may come later */
export function holdScheduler(needsProbers: boolean): SchedulerHandle {
  const { port1: ours, port2: theirs } = new MessageChannel();
  let latest: SchedulerStatus | undefined;
  let heardAtMs = 0;
  let reject: (error: Error) => void = () => {};
  const stopped = new Promise<void>((resolve) => ours.once("close", resolve));
  const ready = new Promise<void>((resolve, rejectReady) => {
    reject = rejectReady;
    ours.on("message", (message: FromScheduler) => {
      if (message.type === "failed") reject(new StartError(message.message));
      if (message.type !== "status") return;
      latest = { ...message.status, metrics: message.metrics ?? latest?.metrics ?? "" };
      heardAtMs = performance.now();
      if (!needsProbers || latest.healthyProbers > 0) resolve();
    });
  });
  // A death may be reported before a caller waits.
  ready.catch(() => {});

  return {
    port: theirs,
    ready,
    status: () => latest,
    fail(error) {
      // A refusal to start says why over the port; it was sent before the thread died, and may arrive after.
      if (latest === undefined) setTimeout(() => reject(new StartError(error.message)), 100);
      return latest === undefined;
    },
    async ping() {
      if (performance.now() - heardAtMs > SILENT_MS) throw new Error("the scheduler does not answer");
    },
    abandon: () => ours.close(),
    async stop() {
      const order: ToScheduler = { type: "stop" };
      ours.postMessage(order);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, STOP_MS);
      });
      await Promise.race([stopped, late]);
      clearTimeout(timer);
      ours.close();
    },
  };
}
