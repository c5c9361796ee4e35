/**
 * The sink's transactions on a thread of their own, for SQLite: its writes are synchronous and wait for as long as the disk is busy, and the
 * thread of the timing wheel must not wait (measured: ticks 1 to 4 s late beside a process that writes a lot). PostgreSQL needs none.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { StoreError } from "../../errors.ts";
import { ShardsLost } from "../coordination/shards-port.ts";
import type { SinkStore } from "./port.ts";
import { toRows } from "./sink.ts";
import type { FromSinkThread, ToSinkThread } from "./thread.ts";

/** Heap of the thread: a batch of some thousand rows, and SQLite's statements. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

export interface SinkWriter {
  readonly apply: SinkStore["apply"];
  readonly settle: SinkStore["settle"];
  /** Resolves when everything before is applied and the thread has ended. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** @param file the database, whose schema is up to date */
export function startSinkWriter(file: string): SinkWriter {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let lastId = 0;

  /** The batches of a thread that died are rejected, and the sink tries them again. The next batch starts a new thread. */
  function start(): Worker {
    const started = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: file,
      resourceLimits: LIMITS,
    });
    let reason = "the thread of the sink has ended";
    started.on("message", settle);
    started.once("error", (error) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    started.once("exit", () => {
      if (thread === started) thread = null;
      for (const { reject } of waiting.values()) reject(new StoreError(reason));
      waiting.clear();
    });
    thread = started;
    return started;
  }

  function settle({ id, failure }: FromSinkThread): void {
    const one = waiting.get(id);
    waiting.delete(id);
    if (failure === null) one?.resolve();
    else one?.reject(errorOf(failure));
  }

  function ask(work: ToSinkThread["work"]): Promise<void> {
    const to = thread ?? start();
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      to.postMessage({ id, work } satisfies ToSinkThread);
    });
  }

  return {
    apply: (batch) => ask(toRows(batch)),
    settle: () => ask("settle"),
    async close() {
      const ending = thread;
      if (ending === null) return;
      const ended = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
      await ask("end");
      await ending.terminate();
      await ended;
    },
  };
}

function errorOf({ message, isStoreFault, isRefusal, lostShards }: NonNullable<FromSinkThread["failure"]>): Error {
  if (lostShards !== null) return new ShardsLost(lostShards);
  if (isRefusal) return new StoreError(message, { kind: "refused" });
  return isStoreFault ? new StoreError(message) : new Error(message);
}
