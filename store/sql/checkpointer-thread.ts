/** The thread of checkpointer.ts: moves the write-ahead log into the database, again and again, until it is told to stop. */
import { parentPort, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";

/** How often, ms: a second's worth of live rows is a few MiB. */
const EVERY_MS = 1_000;

const handle = new Sqlite(String(workerData), { timeout: 0 });

const timer = setInterval(() => {
  try {
    // Passive: waits for nobody and holds nobody up.
    handle.pragma("wal_checkpoint(PASSIVE)");
  } catch {
    // Busy, or the disk is full: the writers say so where somebody hears it; the next turn tries again.
  }
}, EVERY_MS);

parentPort?.once("message", () => {
  clearInterval(timer);
  handle.close();
  parentPort?.close();
});
