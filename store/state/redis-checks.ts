/**
 * Passing checks over Redis: one stream per lane and location, whose consumers are the checkers; answers by pub/sub to the process that
 * asked. Both are sealed. Whoever deletes an entry has it: the checker that takes it, or the asker that withdraws it.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { MessageSealing } from "../sealing.ts";
import { ASK_AGAIN_MS } from "./accounts.ts";
import {
  type CheckAnswer,
  type CheckReply,
  type CheckServer,
  type CheckServerOptions,
  type Checks,
  createAsking,
  LANES,
  type Lane,
  LONGEST_MS,
  type PassingCheck,
  startWithinMs,
  TAKE_MS,
} from "./checks.ts";
import { connect, end, type Link, PREFIX, type RedisPlace } from "./redis.ts";
import { accountLeasesOver } from "./redis-accounts.ts";

export type CheckSealing = MessageSealing;

const GROUP = "checkers";
/** Entries of a stream: beyond it the oldest go, and end untaken. */
const MOST_WANTED = 1_000;
/** A stream that nobody reads or writes is forgotten after this, ms. */
const STREAM_KEPT_MS = 60_000;
/** One wait for the next entry, ms: below the link's own time-out. */
const BLOCK_MS = 1_000;
const RETRY_MS = 500;
const ENTRIES_PER_READ = 16;

function streamOf(lane: Lane, location: string): string {
  return `${PREFIX}checks:{${location}}:${lane}`;
}

function answersOf(asker: string): string {
  return `${PREFIX}check-answers:${asker}`;
}

/** Bound to the call, so that one answer cannot stand for another. */
const purposeOf = (what: "check" | "answer", id: string): string => `passing ${what} ${id}`;

/** What goes back over pub/sub; `sealed` is there with an answer. */
interface Word {
  readonly id: string;
  readonly sealed?: string;
}

/**
 * @param sealingOf what a location's checkers open; undefined: nobody is there
 * @param refreshKeys a checker has sealed with a key that is not known here (yet)
 */
export async function openRedisChecks(
  place: RedisPlace,
  sealingOf: (location: string) => CheckSealing | undefined,
  refreshKeys: () => Promise<void>,
): Promise<Checks> {
  const asker = randomUUID();
  const [posting, hearing] = await connectTwo(place);
  const asking = createAsking();
  const entries = new Map<string, { readonly stream: string; readonly entry: string }>();
  /** Where those that wait were sent, by id. */
  const locations = new Map<string, string>();

  /** @returns false when it cannot be opened */
  function opened(id: string, sealed: string): boolean {
    const sealing = sealingOf(locations.get(id) ?? "");
    if (sealing === undefined) return false;
    try {
      asking.settle(id, JSON.parse(sealing.open(purposeOf("answer", id), sealed)) as CheckReply);
      return true;
    } catch {
      return false;
    }
  }

  async function take(id: string, sealed: string): Promise<void> {
    if (!locations.has(id) || opened(id, sealed)) return;
    await refreshKeys().catch(() => {});
    // Sealed with a key that nobody gave us: whoever waits hears that it is lost.
    opened(id, sealed);
  }

  hearing.redis.on("message", (_channel: string, text: string) => {
    try {
      const { id, sealed } = JSON.parse(text) as Word;
      if (sealed === undefined) asking.taken(id);
      else void take(id, sealed);
    } catch {
      // Not ours: whoever waits hears that it is lost.
    }
  });
  await hearing.run((redis) => redis.subscribe(answersOf(asker)));
  const leases = accountLeasesOver(posting);
  let isClosed = false;

  async function askNow(
    lane: Lane,
    location: string,
    check: PassingCheck,
    sealing: CheckSealing,
  ): Promise<CheckAnswer> {
    const stream = streamOf(lane, location);
    const { id, answer } = asking.open(lane, (untaken) => {
      const entry = entries.get(untaken);
      if (entry !== undefined) posting.redis.xdel(entry.stream, entry.entry).catch(() => {});
    });
    locations.set(id, location);
    try {
      const body = sealing.seal(purposeOf("check", id), JSON.stringify(check));
      const entry = await posting.run((redis) => post(redis, stream, [id, asker, body]));
      entries.set(id, { stream, entry });
      return await answer;
    } finally {
      entries.delete(id);
      locations.delete(id);
      // Nobody waits any more when it could not be posted.
      asking.settle(id, { type: "lost" });
    }
  }

  /** No other process uses the account meanwhile. */
  async function askInTurn(
    identity: string,
    lane: Lane,
    timeoutMs: number,
    ask: () => Promise<CheckAnswer>,
  ): Promise<CheckAnswer> {
    const token = randomUUID();
    const endAtMs = performance.now() + startWithinMs(lane, timeoutMs);
    while (!(await leases.hold(identity, token, LONGEST_MS))) {
      if (isClosed) return { type: "lost" };
      if (performance.now() > endAtMs) return { type: "busy" };
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
    let answer: CheckAnswer | undefined;
    try {
      answer = await ask();
      return answer;
    } finally {
      // What was lost may still run: the lease outlives it.
      if (answer?.type !== "lost") await leases.release(identity, token);
    }
  }

  return {
    ask: async (lane, location, check) => {
      const sealing = sealingOf(location);
      if (sealing === undefined) return { type: "untaken" };
      const { identity, timeoutMs } = check;
      const ask = () => askNow(lane, location, check, sealing);
      return identity === null ? ask() : askInTurn(identity, lane, timeoutMs, ask);
    },
    async close() {
      isClosed = true;
      asking.close();
      await Promise.all([end(posting.redis), end(hearing.redis)]);
    },
  };
}

async function post(
  redis: Redis,
  stream: string,
  [id, asker, body]: readonly [string, string, string],
): Promise<string> {
  const fields = ["id", id, "asker", asker, "body", body];
  const entry = await redis.xadd(stream, "MAXLEN", "~", MOST_WANTED, "*", ...fields);
  await redis.pexpire(stream, STREAM_KEPT_MS);
  return entry ?? "";
}

export async function openRedisCheckServer(
  place: RedisPlace,
  sealing: CheckSealing,
  options: CheckServerOptions,
): Promise<CheckServer> {
  const answering = await connect(place.url);
  const stops = LANES.map((lane) => serveLane(lane, place, answering, sealing, options));
  return {
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      await end(answering.redis);
    },
  };
}

/** Reads one lane until it is stopped. A read waits in Redis, so it has a connection of its own. */
function serveLane(
  lane: Lane,
  place: RedisPlace,
  answering: Link,
  sealing: CheckSealing,
  { location, room, take }: CheckServerOptions,
): () => Promise<void> {
  const stream = streamOf(lane, location);
  const consumer = randomUUID();
  /** Who waits for what runs, by its id. */
  const running = new Map<string, string>();
  let isStopped = false;
  let wake: () => void = () => {};

  async function say(asker: string, word: Word): Promise<void> {
    await answering.redis.publish(answersOf(asker), JSON.stringify(word)).catch(() => {});
  }

  /** Once. */
  async function answer(id: string, reply: CheckReply): Promise<void> {
    const asker = running.get(id);
    if (asker === undefined) return;
    running.delete(id);
    await say(asker, { id, sealed: sealing.seal(purposeOf("answer", id), JSON.stringify(reply)) });
  }

  async function serve(reading: Link, { entry, id, asker, body }: Wanted): Promise<void> {
    // Withdrawn by whoever asked, or taken by another.
    if ((await reading.redis.xdel(stream, entry)) === 0) return;
    const check = JSON.parse(sealing.open(purposeOf("check", id), body)) as PassingCheck;
    running.set(id, asker);
    void say(asker, { id })
      .then(() => take(check, lane))
      .catch((): CheckReply => ({ type: "busy" }))
      .then((reply) => answer(id, reply))
      .finally(wake);
  }

  async function readOnce(reading: Link): Promise<void> {
    const free = room[lane] - running.size;
    if (free <= 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, BLOCK_MS);
      });
      return;
    }
    await reading.redis.pexpire(stream, STREAM_KEPT_MS);
    for (const wanted of await readWanted(reading.redis, stream, consumer, Math.min(free, ENTRIES_PER_READ), lane)) {
      await serve(reading, wanted).catch(() => {});
    }
  }

  async function loop(): Promise<void> {
    let reading: Link | undefined;
    while (!isStopped) {
      try {
        reading ??= await connect(place.url);
        await readOnce(reading);
      } catch (error) {
        const isMade =
          reading !== undefined && String(error).includes("NOGROUP") && (await makeGroup(reading.redis, stream));
        if (!isMade) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    if (reading !== undefined) await end(reading.redis);
  }

  const ended = loop();
  return async () => {
    isStopped = true;
    wake();
    await Promise.all([...running.keys()].map((id) => answer(id, { type: "busy" })));
    await ended;
  };
}

interface Wanted {
  readonly entry: string;
  readonly id: string;
  readonly asker: string;
  readonly body: string;
}

/** Entries that their askers still wait for; by Redis's own clock, because ours and theirs may differ. */
async function readWanted(
  redis: Redis,
  stream: string,
  consumer: string,
  count: number,
  lane: Lane,
): Promise<readonly Wanted[]> {
  const read = (await redis.xreadgroup(
    "GROUP",
    GROUP,
    consumer,
    "COUNT",
    count,
    "BLOCK",
    BLOCK_MS,
    // At most once: what is delivered is never delivered again.
    "NOACK",
    "STREAMS",
    stream,
    ">",
  )) as [stream: string, entries: [entry: string, fields: string[]][]][] | null;
  const entries = read?.[0]?.[1] ?? [];
  if (entries.length === 0) return [];
  const [seconds] = await redis.time();
  const oldestMs = Number(seconds) * 1_000 - TAKE_MS[lane];
  return entries.flatMap(([entry, fields]) => {
    const [, id = "", , asker = "", , body = ""] = fields;
    return Number(entry.split("-")[0]) < oldestMs ? [] : [{ entry, id, asker, body }];
  });
}

/** @returns false when another checker was faster, or Redis refuses: the next read tells */
async function makeGroup(redis: Redis, stream: string): Promise<boolean> {
  return redis.xgroup("CREATE", stream, GROUP, "0", "MKSTREAM").then(
    () => true,
    () => false,
  );
}

/** One that speaks, and one that hears: a connection that subscribes may do nothing else. */
async function connectTwo({ url }: RedisPlace): Promise<readonly [Link, Link]> {
  const first = await connect(url);
  const second = await connect(url).catch((error: unknown) => {
    first.redis.disconnect();
    throw error;
  });
  return [first, second];
}
