/**
 * Passing checks over Redis: one stream per lane and location, which all of its checkers read; answers by pub/sub to the process that
 * asked. Both are sealed. The process that deletes an entry owns it: the checker that takes it, or the asker that withdraws it. There are
 * no consumer groups, because a user who may create groups can fill Redis with their names, which nothing counts.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { MessageSealing } from "../sealing.ts";
import { ASK_AGAIN_MS } from "./accounts.ts";
import {
  type Asking,
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
import { MOST_ENTRY_CHARACTERS, parsePassingCheck, parseReply, wordsOf } from "./message-readers.ts";
import { connect, end, type Link, PREFIX, type RedisPlace } from "./redis.ts";
import { accountLeasesOver } from "./redis-accounts.ts";
import { checksKey } from "./redis-run-keys.ts";

export type CheckSealing = MessageSealing;

/** Entries of a stream: beyond it the oldest go, and end untaken. */
const MOST_WANTED = 1_000;
/** A stream without reads and writes is forgotten after this, ms. */
const STREAM_KEPT_MS = 60_000;
/** One wait for the next entry, ms: below the link's own time-out. */
const BLOCK_MS = 1_000;
const RETRY_MS = 500;
const ENTRIES_PER_READ = 16;
/** Between two messages, bytes: one of the longest. */
const MOST_HEARD_BYTES = 4 * MOST_ENTRY_CHARACTERS;
/** Keys are not read anew more often than this, ms. */
const REFRESH_EVERY_MS = 1_000;

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
 * @param sealingOf what a location's checkers open; undefined: the location has none
 * @param refreshKeys a checker has sealed with a key that is not known here (yet)
 * @param onRefused so many messages from a location were no valid answer
 */
export async function openRedisChecks(
  place: RedisPlace,
  sealingOf: (location: string) => CheckSealing | undefined,
  refreshKeys: () => Promise<void>,
  onRefused: (location: string, count: number, reason: string) => void,
): Promise<Checks> {
  const asker = randomUUID();
  const [posting, hearing] = await connectTwo(place);
  const asking = createAsking();
  const entries = new Map<string, { readonly stream: string; readonly entry: string }>();
  /** Where those that wait were sent, by id. */
  const locations = new Map<string, string>();

  const hear = createHearing({ asking, locationOf: (id) => locations.get(id), sealingOf, refreshKeys, onRefused });
  hearing.redis.on("message", (_channel: string, text: string) => {
    hearing.allow(MOST_HEARD_BYTES);
    hear(text);
  });
  hearing.allow(MOST_HEARD_BYTES);
  await hearing.run((redis) => redis.subscribe(answersOf(asker)));
  const leases = accountLeasesOver(posting);
  let isClosed = false;

  async function askNow(
    lane: Lane,
    location: string,
    check: PassingCheck,
    sealing: CheckSealing,
  ): Promise<CheckAnswer> {
    const stream = checksKey(location, lane);
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
      // Ends the wait when the check could not be posted.
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

interface HearingOptions {
  readonly asking: Asking;
  /** Where a call that is waited for was sent. */
  readonly locationOf: (id: string) => string | undefined;
  readonly sealingOf: (location: string) => CheckSealing | undefined;
  readonly refreshKeys: () => Promise<void>;
  readonly onRefused: (location: string, count: number, reason: string) => void;
}

/** @returns the handler of messages that are published to us; any process may have published them */
function createHearing({
  asking,
  locationOf,
  sealingOf,
  refreshKeys,
  onRefused,
}: HearingOptions): (text: string) => void {
  let refreshedAtMs = Number.NEGATIVE_INFINITY;

  /** @returns false when it cannot be opened */
  function opened(id: string, location: string, sealed: string): boolean {
    let text: string;
    try {
      const sealing = sealingOf(location);
      if (sealing === undefined) return false;
      text = sealing.open(purposeOf("answer", id), sealed);
    } catch {
      return false;
    }
    try {
      asking.settle(id, parseReply(text));
    } catch (error) {
      // The caller is told that it is lost, unless a valid answer comes.
      onRefused(location, 1, `an answer: ${wordsOf(error)}`);
    }
    return true;
  }

  async function take(id: string, sealed: string): Promise<void> {
    const location = locationOf(id);
    if (location === undefined || opened(id, location, sealed)) return;
    const nowMs = performance.now();
    if (nowMs - refreshedAtMs >= REFRESH_EVERY_MS) {
      refreshedAtMs = nowMs;
      await refreshKeys().catch(() => {});
      if (opened(id, location, sealed)) return;
    }
    // Sealed with a key that we do not have: the caller is told that it is lost.
    onRefused(location, 1, "an answer that was not sealed with its key");
  }

  return (text) => {
    if (text.length > MOST_ENTRY_CHARACTERS) return;
    try {
      const { id, sealed } = JSON.parse(text) as Partial<Word>;
      if (typeof id !== "string") return;
      if (sealed === undefined) asking.taken(id);
      else if (typeof sealed === "string") void take(id, sealed);
    } catch {
      // Not a message of ours: the caller is told that it is lost.
    }
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
  const stream = checksKey(location, lane);
  let lastRead = "0";
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
    // The asker has withdrawn it, or another checker has taken it.
    if ((await reading.redis.xdel(stream, entry)) === 0) return;
    const check = parsePassingCheck(sealing.open(purposeOf("check", id), body));
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
    const read = await readWanted(reading.redis, stream, lastRead, Math.min(free, ENTRIES_PER_READ), lane);
    lastRead = read.last;
    for (const wanted of read.wanted) await serve(reading, wanted).catch(() => {});
  }

  async function loop(): Promise<void> {
    let reading: Link | undefined;
    while (!isStopped) {
      try {
        reading ??= await connect(place.url);
        await readOnce(reading);
      } catch {
        // A Redis that comes back may count anew; what is too old is passed over.
        lastRead = "0";
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
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
  after: string,
  count: number,
  lane: Lane,
): Promise<{ readonly wanted: readonly Wanted[]; readonly last: string }> {
  const read = (await redis.xread("COUNT", count, "BLOCK", BLOCK_MS, "STREAMS", stream, after)) as
    | [stream: string, entries: [entry: string, fields: string[]][]][]
    | null;
  const entries = read?.[0]?.[1] ?? [];
  const last = entries.at(-1)?.[0];
  if (last === undefined) return { wanted: [], last: after };
  const [seconds] = await redis.time();
  const oldestMs = Number(seconds) * 1_000 - TAKE_MS[lane];
  const wanted = entries.flatMap(([entry, fields]) => {
    const [, id = "", , asker = "", , body = ""] = fields;
    return Number(entry.split("-")[0]) < oldestMs ? [] : [{ entry, id, asker, body }];
  });
  return { wanted, last };
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
