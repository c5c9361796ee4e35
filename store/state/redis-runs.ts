/** A scheduler's side of runs over Redis: one stream of each checker to write to, one of outcomes from each location to read. */
import { connect, end, type Link, type RedisPlace } from "./redis.ts";
import { outcomesKey, outcomesPurpose, runsKey, runsPurpose } from "./redis-run-keys.ts";
import { MOST_WAITING, type RunSender, type RunSenderOptions, type SentOutcome } from "./runs.ts";

/** One wait for outcomes, ms: below the link's own time-out. */
const BLOCK_MS = 1_000;
const RETRY_MS = 250;
const ENTRIES_PER_READ = 512;

/** What XREAD answers. */
type Read = readonly (readonly [
  stream: string,
  entries: readonly (readonly [id: string, fields: readonly string[]])[],
])[];

export async function openRedisRunSender<Spec>(
  { url }: RedisPlace,
  options: RunSenderOptions,
): Promise<RunSender<Spec>> {
  const writing = await connect(url);
  const stopReading = readOutcomes(url, options);
  return {
    async send(checker, batch) {
      const sealing = options.sealingOf(checker.location);
      if (sealing === undefined) return "absent";
      const { redis } = writing;
      if (redis.status !== "ready") return "away";
      const body = sealing.seal(runsPurpose(checker), JSON.stringify(batch));
      try {
        // Only where the checker keeps its stream alive.
        const trim = ["NOMKSTREAM", "MAXLEN", "~", MOST_WAITING] as const;
        const fields = ["scheduler", options.scheduler, "body", body];
        const entry = await redis.xadd(runsKey(checker), ...trim, "*", ...fields);
        return entry === null ? "absent" : "sent";
      } catch (error) {
        // Refused for what it is, or for want of memory: it is not there. Anything else may have arrived.
        return /^ReplyError/.test(String(error)) ? "away" : "unknown";
      }
    },
    isThere: (checker) =>
      writing.redis.exists(runsKey(checker)).then(
        (count) => count > 0,
        () => true,
      ),
    async close() {
      await stopReading();
      await end(writing.redis);
    },
  };
}

/** Reads until it is stopped. A read waits in Redis, so it has a connection of its own. */
function readOutcomes(url: string, options: RunSenderOptions): () => Promise<void> {
  const { scheduler, locations, onCaughtUp } = options;
  /** The last entry that was read, by location. */
  const read = new Map<string, string>();
  /** Streams with what was read and is still there, by their keys. */
  const spent = new Map<string, string>();
  let isStopped = false;

  async function readOnce({ redis }: Link): Promise<void> {
    const from = locations();
    if (from.length === 0) return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    const keys = from.map((location) => outcomesKey(location, scheduler));
    const after = from.map((location) => read.get(location) ?? "0");
    const startedAtMs = performance.now();
    // What was read goes on the way: outcomes are applied once, and what is missed is run again.
    const commands = redis.pipeline();
    for (const [key, last] of spent) commands.xtrim(key, "MINID", last);
    spent.clear();
    commands.xread("COUNT", ENTRIES_PER_READ, "BLOCK", BLOCK_MS, "STREAMS", ...keys, ...after);
    const [error, answer] = (await commands.exec())?.at(-1) ?? [null, null];
    if (error !== null) throw error;
    const found = (answer ?? []) as Read;
    for (const [key, entries] of found) {
      const location = from[keys.indexOf(key)] ?? "";
      const last = entries.at(-1)?.[0];
      if (last === undefined) continue;
      read.set(location, last);
      spent.set(key, last);
      await take(location, entries);
    }
    const isFull = found.some(([, entries]) => entries.length === ENTRIES_PER_READ);
    if (!isFull) onCaughtUp(startedAtMs);
  }

  async function take(location: string, entries: Read[number][1]): Promise<void> {
    const left = entries.filter(([, fields]) => !opened(location, fields[1] ?? ""));
    if (left.length === 0) return;
    // A checker may know its location's new key before we do. What a third key has sealed is missed at its deadline.
    await options.refreshKeys().catch(() => {});
    for (const [, fields] of left) opened(location, fields[1] ?? "");
  }

  function opened(location: string, body: string): boolean {
    const sealing = options.sealingOf(location);
    if (sealing === undefined) return false;
    let outcomes: SentOutcome[];
    try {
      outcomes = JSON.parse(sealing.open(outcomesPurpose(location, scheduler), body)) as SentOutcome[];
    } catch {
      return false;
    }
    options.onOutcomes(location, outcomes);
    return true;
  }

  async function loop(): Promise<void> {
    let link: Link | undefined;
    while (!isStopped) {
      try {
        link ??= await connect(url);
        await readOnce(link);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    if (link !== undefined) await end(link.redis);
  }

  const ended = loop();
  return async () => {
    isStopped = true;
    await ended;
  };
}
