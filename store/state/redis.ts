/** State that many processes share: counters in Redis, one Lua script per operation that must be atomic; notices by pub/sub. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { StoreError } from "../errors.ts";
import type { Script } from "./lua/script.ts";
import { takeFrom } from "./lua/take-from.ts";
import { takeRequest } from "./lua/take-request.ts";
import { takeSliding } from "./lua/take-sliding.ts";
import { wrongKey } from "./lua/wrong-key.ts";
import { createListeners, createRowListeners, type OpenNotices } from "./notices.ts";
import { createRedisAnswers } from "./redis-answers.ts";
import { type EvictionsOptions, watchEvictions } from "./redis-evictions.ts";
import { PREFIX } from "./redis-prefix.ts";
import type { Counters, EndpointUsage, RequestWindow, State } from "./state.ts";
import { createUsageBuffer, type PendingUsage } from "./usage.ts";
import {
  DAY_MS,
  lastDays,
  limitsInOrder,
  mayTry,
  REQUEST_WINDOWS,
  requestWindows,
  USAGE_DAYS_KEPT,
  WRONG_KEY_ALLOWANCE,
  WRONG_KEY_REFILL_MS,
  windowOf,
} from "./windows.ts";

export interface RedisLocation {
  /** `redis://…` or `rediss://…`. */
  readonly url: string;
}

/** Of every process. In other names the part in braces keeps what belongs to a workspace on one node of a cluster. */
const NOTICES = `${PREFIX}notices`;
/** Followed by the number of the database: messages reach clients of all, and rows of another service must not be taken for ours. */
const ROWS = `${PREFIX}rows:`;
/** Written to see whether it can be. */
const PROBED = `${PREFIX}probed`;
const PROBED_MS = 60_000;
const WRITE_INTERVAL_MS = 1_000;
/** An API call waits no longer than this for a count. */
const COMMAND_TIMEOUT_MS = 2_000;
const RETRY_LONGEST_MS = 1_000;
/** How long a Redis that reads its data is waited for, and how often it is asked, ms. */
const LOADING_MS = 30_000;
const LOADING_LOOK_MS = 100;
/**
 * A connection that has not answered for this long is closed, ms: longer than any command may take. While a network is cut, TCP retransmits
 * at growing intervals, so an old connection would recover long after the network; a new one works at once.
 */
const SILENT_MS = 3_000;
/** How often an idle connection is tested, ms: one that only listens would not notice that it is dead. */
const PING_MS = 5_000;
/**
 * What a connection may receive between two answers that end, bytes. Ours get a few MB; one that gets more without an end of the answer is no Redis, or a broken
 * one, and would take all memory.
 */
const MOST_UNPROVEN_BYTES = 64 * 2 ** 20;
const TOO_MUCH = "more than was asked for";
/** Kept beyond its window, so that processes whose clocks differ count in one. */
export const WINDOW_MARGIN_MS = 60_000;

/**
 * All but the broadcasts.
 * @param onEvictions Redis may delete keys, or does
 */
export async function openRedis(
  { url }: RedisLocation,
  onEvictions: EvictionsOptions["onEvictions"],
): Promise<Omit<State, "broadcasts">> {
  const link = await connect(url);
  const notices = await openRedisNotices({ url }).catch((error: unknown) => {
    link.redis.disconnect();
    throw error;
  });
  const usage = createUsageBuffer();
  const write = async (): Promise<void> => {
    const counts = usage.take();
    if (counts.length === 0) return;
    await link
      .run((redis) => addUsage(redis, counts))
      .catch((error: unknown) => {
        usage.giveBack(counts);
        throw error;
      });
  };
  // What could not be written is written again a second later. ping() reports that Redis is away.
  const timer = setInterval(() => void write().catch(() => {}), WRITE_INTERVAL_MS).unref();
  const evictions = watchEvictions({ place: placeOf(url), run: link.run, onEvictions });
  return {
    counters: {
      ...createRequestCounters(link),
      ...createGates(link),
      ...createSliding(link),
      countEndpoint: usage.count,
      async endpointUsage(organizationId, days, nowMs) {
        await write();
        return link.run((redis) => readUsage(redis, organizationId, lastDays(days, nowMs)));
      },
    },
    notices,
    rows: notices.rows,
    answers: createRedisAnswers(link),
    // A write: one that is full, read-only or has a broken disk answers PING.
    async ping() {
      await link.run((redis) => redis.set(PROBED, "1", "PX", PROBED_MS));
      await evictions.refuse();
    },
    async close() {
      clearInterval(timer);
      evictions.stop();
      const written = write();
      await written.catch(() => {});
      await notices.close();
      await end(link.redis);
      await written;
    },
  };
}

export interface Link {
  readonly redis: Redis;
  /** Turns what Redis and the way to it throw into StoreErrors. */
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  call(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
  /** Allows so many bytes from now on, all answers together; a connection that receives more is closed and opened again. */
  allow(bytes: number): void;
  /** Whether the connection was closed for that reason; the next allow() resets it. */
  readonly isOverrun: boolean;
}

export async function connect(url: string): Promise<Link> {
  const place = placeOf(url);
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: COMMAND_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENT_MS,
    // While Redis is away a command fails at once; one whose answer was lost is not sent again, it may have counted.
    enableOfflineQueue: false,
    // The client would send INFO, which shows everything about the server and its clients: a checker's user may not.
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(times * 50, RETRY_LONGEST_MS),
    // It was the primary: a new connection finds the one that is it now.
    reconnectOnError: (error) => error.message.includes("READONLY"),
  });
  /** The reason behind the message "connection is closed". */
  let lastError: unknown;
  redis.on("error", (error: unknown) => {
    lastError = error;
  });
  const bound = boundBytes(redis);
  try {
    await redis.connect();
    await untilLoaded(redis);
  } catch (error) {
    redis.disconnect();
    throw fault(lastError ?? error, place);
  }
  const pinging = setInterval(() => {
    if (redis.status === "ready") redis.ping().then(bound.renew, () => {});
  }, PING_MS).unref();
  redis.once("end", () => clearInterval(pinging));
  const run: Link["run"] = async (work) => {
    try {
      const answer = await work(redis);
      // Answers come one after the other: none is under way without an end.
      bound.renew();
      return answer;
    } catch (error) {
      throw fault(redis.status === "ready" ? error : (lastError ?? error), place);
    }
  };
  return {
    redis,
    run,
    allow: bound.allow,
    get isOverrun() {
      return bound.isOverrun();
    },
    call: (script, keys, values) => run(() => evaluate(redis, script, [...keys, ...values])),
  };
}

async function evaluate(
  redis: Redis,
  { lua, sha1, keyCount }: Script,
  parameters: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha1, keyCount, ...parameters);
  } catch (error) {
    if (!String(error).includes("NOSCRIPT")) throw error;
    return redis.eval(lua, keyCount, ...parameters);
  }
}

/** Counts the bytes of every connection: nothing else bounds an answer, and an attacker may have written what it contains. */
function boundBytes(redis: Redis): { allow(bytes: number): void; renew(): void; isOverrun(): boolean } {
  let mostBytes = MOST_UNPROVEN_BYTES;
  let leftBytes = mostBytes;
  let isOverrun = false;
  /** The caller knows how much may come. */
  let isAllowed = false;
  redis.on("connect", () => {
    const { stream } = redis;
    // What closed the connection before says nothing about this one: it would be closed at its first byte.
    leftBytes = mostBytes;
    stream.on("data", (chunk: Buffer) => {
      leftBytes -= chunk.length;
      if (leftBytes >= 0) return;
      isOverrun = true;
      stream.destroy(new Error(TOO_MUCH));
    });
  });
  return {
    allow(bytes) {
      isAllowed = true;
      mostBytes = bytes;
      leftBytes = bytes;
      isOverrun = false;
    },
    renew() {
      if (!isAllowed) leftBytes = mostBytes;
    },
    isOverrun: () => isOverrun,
  };
}

/** A Redis that has just started refuses commands until it has read its data. @throws what it says when that takes too long */
async function untilLoaded(redis: Redis): Promise<void> {
  const endAtMs = performance.now() + LOADING_MS;
  for (;;) {
    try {
      await redis.ping();
      return;
    } catch (error) {
      if (!String(error).includes("LOADING") || performance.now() > endAtMs) throw error;
    }
    await pause(LOADING_LOOK_MS);
  }
}

export function requestsKey(organizationId: number, window: RequestWindow, index: number): string {
  return `${PREFIX}requests:{${organizationId}}:${window}:${index}`;
}

function createRequestCounters(link: Link): Pick<Counters, "takeRequest" | "usage"> {
  const keysOf = (organizationId: number, nowMs: number): readonly string[] =>
    requestWindows(nowMs).map(({ index }, at) => requestsKey(organizationId, REQUEST_WINDOWS[at] ?? "minute", index));
  return {
    async takeRequest(organizationId, limits, nowMs) {
      const ends = requestWindows(nowMs).map(({ endsAtMs }) => Math.ceil(endsAtMs - nowMs) + WINDOW_MARGIN_MS);
      const wanted = limitsInOrder(limits).map((limit) => limit ?? -1);
      const answer = await link.call(takeRequest, keysOf(organizationId, nowMs), [...wanted, ...ends]);
      const [refusedAt, usedInMinute] = answer as [number, number];
      return { refusedBy: refusedAt === 0 ? null : (REQUEST_WINDOWS[refusedAt - 1] ?? null), usedInMinute };
    },
    async usage(organizationId, nowMs) {
      const counts = await link.run((redis) => redis.mget(...keysOf(organizationId, nowMs)));
      const [minute = 0, day = 0, month = 0] = counts.map((text) => Number(text ?? 0));
      return { minute, day, month };
    },
  };
}

function createGates(link: Link): Pick<Counters, "mayTryKey" | "wrongKey" | "takeFrom"> {
  const keyOf = (address: string): string => `${PREFIX}wrong-keys:{${address}}`;
  return {
    async mayTryKey(address, nowMs) {
      const fullAt = await link.run((redis) => redis.get(keyOf(address)));
      return mayTry(fullAt === null ? nowMs : Number(fullAt), nowMs);
    },
    async wrongKey(address, nowMs) {
      const values = [nowMs, WRONG_KEY_REFILL_MS, WRONG_KEY_ALLOWANCE * WRONG_KEY_REFILL_MS];
      await link.call(wrongKey, [keyOf(address)], values);
    },
    async takeFrom(name, limit, windowMs, nowMs) {
      const { index, endsAtMs } = windowOf(windowMs, nowMs);
      const keepMs = Math.ceil(endsAtMs - nowMs) + WINDOW_MARGIN_MS;
      return (await link.call(takeFrom, [`${PREFIX}taken:{${name}}:${index}`], [limit, keepMs])) === 1;
    },
  };
}

/** A sorted set per name; a ticket is a member of it. */
function createSliding(link: Link): Pick<Counters, "takeSliding" | "heldSliding" | "giveBack"> {
  const keyOf = (name: string): string => `${PREFIX}sliding:{${name}}`;
  return {
    async takeSliding(name, limit, windowMs, nowMs) {
      const ticket = randomUUID();
      const answer = await link.call(takeSliding, [keyOf(name)], [limit, windowMs, nowMs, ticket]);
      const [taken, ...times] = answer as [number, ...string[]];
      return { ticket: taken === 1 ? ticket : null, heldAtMs: times.map(Number) };
    },
    async heldSliding(name, windowMs, nowMs) {
      const after = `(${nowMs - windowMs}`;
      const held = await link.run((redis) => redis.zrange(keyOf(name), after, "+inf", "BYSCORE", "WITHSCORES"));
      return held.filter((_, index) => index % 2 === 1).map(Number);
    },
    giveBack: (name, ticket) => link.run(async (redis) => void (await redis.zrem(keyOf(name), ticket))),
  };
}

/** A hash per workspace and day; fields `<key id> requests|errors <endpoint>`. */
export function usageKey(organizationId: number, day: string): string {
  return `${PREFIX}usage:{${organizationId}}:${day}`;
}

async function addUsage(redis: Redis, counts: readonly PendingUsage[]): Promise<void> {
  // Writes all or nothing. Counts that could not be written are put back and written again.
  const pipeline = redis.multi();
  for (const { organizationId, day, keyId, endpoint, requests, errors } of counts) {
    const key = usageKey(organizationId, day);
    pipeline.hincrby(key, `${keyId} requests ${endpoint}`, requests);
    if (errors > 0) pipeline.hincrby(key, `${keyId} errors ${endpoint}`, errors);
    pipeline.pexpire(key, (USAGE_DAYS_KEPT + 1) * DAY_MS);
  }
  for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
}

async function readUsage(
  redis: Redis,
  organizationId: number,
  days: readonly string[],
): Promise<readonly EndpointUsage[]> {
  const pipeline = redis.pipeline();
  for (const day of days) pipeline.hgetall(usageKey(organizationId, day));
  const answers = (await pipeline.exec()) ?? [];
  return answers.flatMap(([error, fields], at) => {
    if (error !== null) throw error;
    return toUsage(days[at] ?? "", fields as Readonly<Record<string, string>>);
  });
}

function toUsage(day: string, fields: Readonly<Record<string, string>>): readonly EndpointUsage[] {
  const found = new Map<string, { keyId: number; endpoint: string; requests: number; errors: number }>();
  for (const [field, count] of Object.entries(fields)) {
    const [, keyId, what, endpoint = ""] = /^(\d+) (requests|errors) (.*)$/s.exec(field) ?? [];
    if (keyId === undefined) continue;
    const name = `${keyId} ${endpoint}`;
    const entry = found.get(name) ?? { keyId: Number(keyId), endpoint, requests: 0, errors: 0 };
    entry[what === "errors" ? "errors" : "requests"] += Number(count);
    found.set(name, entry);
  }
  return [...found.values()].map((entry) => ({ day, ...entry }));
}

/** Two connections: one that subscribes may do nothing else. */
export async function openRedisNotices({ url }: RedisLocation): Promise<OpenNotices> {
  const publisher = await connect(url);
  const subscriber = await connect(url).catch((error: unknown) => {
    publisher.redis.disconnect();
    throw error;
  });
  const listeners = createListeners();
  const rowChannel = `${ROWS}${publisher.redis.options.db ?? 0}`;
  // Subscribed again by itself after a reconnect.
  await subscriber.run((redis) => redis.subscribe(NOTICES));
  let hearsRows = false;
  const hearRows = (): void => void subscriber.redis.subscribe(rowChannel).then(rows.lost, () => {});
  const rows = createRowListeners(() => {
    hearsRows = true;
    hearRows();
  });
  subscriber.redis.on("message", (channel: string, text: string) => {
    if (channel === rowChannel) rows.tell(text);
    else listeners.tell(text);
  });
  // What was published while the connection was away is gone.
  subscriber.redis.on("close", rows.lost);
  subscriber.redis.on("ready", () => {
    if (hearsRows) hearRows();
  });
  return {
    rows: {
      publish: (text) => void publisher.redis.publish(rowChannel, text).catch(() => {}),
      subscribe: rows.subscribe,
    },
    // A lost notice costs a second.
    publish: (topic) => void publisher.redis.publish(NOTICES, topic).catch(() => {}),
    subscribe: listeners.subscribe,
    async close() {
      await Promise.all([end(publisher.redis), end(subscriber.redis)]);
    },
  };
}

/** Sends QUIT only on a connection that is ready. */
export async function end(redis: Redis): Promise<void> {
  if (redis.status === "ready") await redis.quit().catch(() => {});
  redis.disconnect();
}

/** Error prefixes of Redis itself: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors */
const ADVICE: readonly (readonly [words: string, advice: string])[] = [
  ["WRONGPASS", "refuses the user or password of SONDE_REDIS_URL"],
  ["NOAUTH", "wants a password: put it into SONDE_REDIS_URL"],
  [
    "MOVED",
    "is a node of a cluster, which Sonde does not use: give it a Redis that stands alone, or a primary with replicas",
  ],
  [
    "unknown command",
    "lacks a command that Sonde needs: SONDE_REDIS_URL must name a Redis of version 7 or later, no Sentinel and no proxy",
  ],
  ["RESP type", "speaks no Redis protocol: does SONDE_REDIS_URL name a Redis?"],
  [TOO_MUCH, "sends more than it was asked for: does SONDE_REDIS_URL name a Redis?"],
  ["certificate", "shows a certificate that is not trusted: name its authority in NODE_EXTRA_CA_CERTS"],
  ["OOM", "is full: raise maxmemory"],
  ["READONLY", "is a read-only replica: SONDE_REDIS_URL must name the primary"],
  ["MISCONF", "cannot write to its disk"],
  ["LOADING", "is still loading its data"],
  ["ECONNREFUSED", "does not answer (connection refused)"],
  ["ENOTFOUND", "has no address: check the name in SONDE_REDIS_URL"],
  ["timed out", "did not answer in time"],
  ["ETIMEDOUT", "did not answer in time"],
  ["isn't writeable", "is not connected"],
  ["Connection is closed", "closed the connection"],
  ["max retries", "closed the connection"],
];

function fault(error: unknown, place: string): StoreError {
  if (error instanceof StoreError) return error;
  const source: unknown = error instanceof AggregateError && error.message === "" ? error.errors[0] : error;
  const words = String(source);
  const denied = /to run the '[\w|]+' command/.exec(words);
  if (words.includes("NOPERM") && denied !== null)
    return new StoreError(`Redis at ${place} does not allow the user of SONDE_REDIS_URL ${denied[0]}`, {
      cause: error,
      store: "redis",
    });
  const advice = ADVICE.find(([known]) => words.includes(known))?.[1] ?? `failed: ${words}`;
  return new StoreError(`Redis at ${place} ${advice}`, { cause: error, store: "redis" });
}

/** Host and port: never the password. */
function placeOf(url: string): string {
  const { host } = new URL(url);
  return host === "" ? "localhost" : host;
}
