/**
 * The thread of writer.ts: applies the sink's batches in the order they come, and moves SQLite's write-ahead log into the database.
 * Both wait for the disk, for a second and more when it is busy; on this thread no request waits with them.
 */
import { parentPort, workerData } from "node:worker_threads";
import { isAboutValues, StoreError } from "../../errors.ts";
import { Sqlite } from "../../sqlite-library.ts";
import { ShardsLost } from "../coordination/shards-port.ts";
import { keepRoom } from "../db/kept-room.ts";
import { openSqlite, putLogOnDisk } from "../db/sqlite.ts";
import { applyRows, type SinkRows } from "./sink.ts";

export interface ToSinkThread {
  readonly id: number;
  /** "settle": what was applied is to survive a power cut. "end": the thread ends when it has applied everything before. */
  readonly work: SinkRows | "settle" | "end";
}
export interface FromSinkThread {
  readonly id: number;
  /** The failure; null when the work is done. */
  readonly failure: {
    readonly message: string;
    readonly isStoreFault: boolean;
    /** The store refused the content of the batch. */
    readonly isRefusal: boolean;
    /** Leases that other schedulers have taken. */
    readonly lostShards: readonly number[] | null;
  } | null;
}

/** How often the log is moved while much is written, ms: a second's worth of live rows is a few MiB. */
const CHECKPOINT_EVERY_MS = 1_000;
/** The same while little is. Each move waits for the disk twice, and an idle process wakes up for it. */
const CALM_CHECKPOINT_EVERY_MS = 5_000;
/** Pages of 4 KiB that were logged since the last move; fewer are little. Our choice: 1 MiB. */
const CALM_PAGES = 256;

const file = String(workerData);
// Results are replayed from the spool, so no commit waits for the disk: the spool keeps them until settle() has.
const database = await openSqlite({ file, durable: false });
keepRoom(file);
const log = new Sqlite(file, { timeout: 0 });
/** Pages in the log after the last move. */
let loggedPages = 0;

/** Moves the log, and plans the next move. */
function checkpoint(): void {
  let isCalm = true;
  try {
    // PASSIVE: waits for no reader or writer, and blocks none. It answers the pages that the log has.
    const [moved] = log.pragma("wal_checkpoint(PASSIVE)") as { readonly log: number }[];
    const pages = moved?.log ?? 0;
    // A log that was moved as a whole is written from its beginning again.
    isCalm = (pages >= loggedPages ? pages - loggedPages : pages) < CALM_PAGES;
    loggedPages = pages;
  } catch {
    // Busy, or the disk is full: a writer meets the same fault and reports it; the next move tries again.
  }
  timer = setTimeout(checkpoint, isCalm ? CALM_CHECKPOINT_EVERY_MS : CHECKPOINT_EVERY_MS);
}
let timer = setTimeout(checkpoint, CHECKPOINT_EVERY_MS);

parentPort?.on("message", ({ id, work }: ToSinkThread) => {
  void run(work).then(
    () => answer({ id, failure: null }),
    (error: unknown) => answer({ id, failure: failureOf(error) }),
  );
});

/** SQLite's writers of one file within a thread take turns, so batches are applied in order, and the end comes last. */
async function run(work: ToSinkThread["work"]): Promise<void> {
  if (work === "settle") await putLogOnDisk(file);
  else if (work === "end") await end();
  else await database.write((session) => applyRows(session, work));
}

async function end(): Promise<void> {
  clearTimeout(timer);
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
