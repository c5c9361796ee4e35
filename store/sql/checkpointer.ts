/**
 * Checkpoints of SQLite's write-ahead log on a thread of their own: they wait for the disk, for a second and more when it is busy, and
 * the thread that turns the wheel must not (measured: ticks 0.9 s late beside a test that writes a lot).
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** MiB; it holds one connection and nothing else. */
const HEAP_MB = 16;

/** @param file the database, open elsewhere · @returns what ends the thread, and resolves when it has */
export function startCheckpointer(file: string): () => Promise<void> {
  const thread = new Worker(new URL(`./checkpointer-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 4 },
  });
  const ended = new Promise<void>((resolve) => {
    thread.once("exit", () => resolve());
    // Without it the writers checkpoint by themselves, late but safely.
    thread.once("error", () => resolve());
  });
  thread.unref();
  return async () => {
    thread.ref();
    thread.postMessage("stop");
    await ended;
  };
}
