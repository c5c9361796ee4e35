// Threads are started in few places, each for a reason (docs/decisions/0008-threads.md).
import { isTest, sources, text } from "./sources.mjs";

const STARTERS = new Set([
  "api/texts/start.ts",
  "engine/pool/pool.ts",
  "native/sandbox/broker-service.ts",
  "scheduler/alerts/attempts/start.ts",
  "scheduler/subscriptions/start.ts",
  "store/sql/sink/writer.ts",
]);

export function strayThreads() {
  const paths = sources().filter((path) => path.endsWith(".ts") && !isTest(path) && !path.startsWith("bench/"));
  return strayThreadsIn(new Map(paths.map((path) => [path, text(path)])));
}

/** @param texts sources by path */
export function strayThreadsIn(texts) {
  return [...texts]
    .filter(([path, source]) => !STARTERS.has(path) && /\bnew (?:Worker|Piscina)\(/.test(source))
    .map(([path]) => `${path} starts a thread: see docs/decisions/0008-threads.md`);
}
