/**
 * The thread of writer.ts: applies the sink's batches in the order they come, and moves SQLite's write-ahead log into the database
 * once a second. Both wait for the disk, for a second and more when it is busy; on this thread no request waits with them.
 */
import { parentPort, workerData } from "node:worker_threads";
import { isAboutValues, StoreError } from "../../errors.ts";
import { Sqlite } from "../../sqlite-library.ts";
import { ShardsLost } from "../coordination/shards-port.ts";
import { keepRoom } from "../db/kept-room.ts";
import { openSqlite } from "../db/sqlite.ts";
import { applyRows, type SinkRows } from "./sink.ts";

export interface ToSinkThread {
  readonly id: number;
  /** null: the thread ends when it has applied everything before. */
  readonly batch: SinkRows | null;
}
export interface FromSinkThread {
  readonly id: number;
  /** The failure; null when the batch is applied. */
  readonly failure: {
    readonly message: string;
    readonly isStoreFault: boolean;
    /** The store refused the content of the batch. */
    readonly isRefusal: boolean;
    /** Leases that other schedulers have taken. */
    readonly lostShards: readonly number[] | null;
  } | null;
}

/** How often, ms: a second's worth of live rows is a few MiB. */
const CHECKPOINT_EVERY_MS = 1_000;

const file = String(workerData);
// Results are replayed from the spool, so no commit waits for the disk.
const database = await openSqlite({ file, durable: false });
keepRoom(file);
const log = new Sqlite(file, { timeout: 0 });

const timer = setInterval(() => {
  try {
    // PASSIVE: waits for no reader or writer, and blocks none.
    log.pragma("wal_checkpoint(PASSIVE)");
  } catch {
    // Busy, or the disk is full: a writer meets the same fault and reports it; the next tick tries again.
  }
}, CHECKPOINT_EVERY_MS);

parentPort?.on("message", ({ id, batch }: ToSinkThread) => {
  // SQLite's writers of one file within a thread take turns, so batches are applied in order, and the end comes last.
  const done = batch === null ? end() : database.write((session) => applyRows(session, batch));
  void done.then(
    () => answer({ id, failure: null }),
    (error: unknown) => answer({ id, failure: failureOf(error) }),
  );
});

async function end(): Promise<void> {
  clearInterval(timer);
  await database.close();
  log.close();
}

function answer(message: FromSinkThread): void {
  parentPort?.postMessage(message);
}

function failureOf(error: unknown): FromSinkThread["failure"] {
  return {
    message: error instanceof Error ? error.message : String(error),
    isStoreFault: error instanceof StoreError,
    isRefusal: isAboutValues(error),
    lostShards: error instanceof ShardsLost ? error.shards : null,
  };
}
