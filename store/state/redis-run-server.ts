/** A checker's side of runs over Redis: keeps its stream and its report alive, takes what is sent, and answers. */
import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { storableText } from "../../model/plain-values.ts";
import { type CheckerReport, REPORT_EVERY_MS } from "./checkers.ts";
import { createClockWatch } from "./clock-watch.ts";
import { MOST_ENTRY_CHARACTERS, MOST_REASON, MOST_REASONS, OUTCOMES_PER_ENTRY, parseBatch } from "./message-readers.ts";
import { connect, end, type Link, type RedisLocation } from "./redis.ts";
import { readClock } from "./redis-checkers.ts";
import {
  CHECKER_GROUP,
  CHECKER_SLOTS,
  checkersKey,
  isSchedulerAddress,
  outcomesKey,
  outcomesPurpose,
  runsKey,
  runsPurpose,
  slotOf,
} from "./redis-run-keys.ts";
import {
  BEAT_MS,
  type CheckerName,
  MOST_OUTCOMES,
  OUTCOMES_KEPT_MS,
  type RunServer,
  type RunServerOptions,
  type SentOutcome,
  STREAM_KEPT_MS,
} from "./runs.ts";

/** One wait for runs, ms: a stop is noticed within it. */
const BLOCK_MS = 500;
const RETRY_MS = 250;
const ENTRIES_PER_READ = 64;
/**
 * Outcomes travel together: one message to a scheduler in this time, ms; the first goes at once. Most of what a message costs, on both
 * sides, it costs whatever is in it.
 */
const GATHER_MS = 20;
/** How often a scheduler's stream of outcomes is given its time anew, ms. */
const RENEW_MS = OUTCOMES_KEPT_MS / 10;
/** Of one entry, characters of JSON: sealed and written in base64 it is below what a scheduler opens. */
const MOST_JSON_CHARACTERS = MOST_ENTRY_CHARACTERS / 4;
/** Outcomes that wait for Redis; beyond it the oldest go, and their turns count as skipped. */
const MOST_UNSENT = 65_536;
/** How long a stop waits for Redis to take the last outcomes, ms. */
const CLOSE_WITHIN_MS = 3_000;

type Read = readonly (readonly [
  stream: string,
  entries: readonly (readonly [id: string, fields: readonly string[]])[],
])[];

/** @throws StoreError when Redis cannot be used at the start; afterwards it waits for Redis to be back */
export async function openRedisRunServer<Spec>(
  { url }: RedisLocation,
  options: RunServerOptions<Spec>,
): Promise<RunServer> {
  const writing = await connect(url);
  const reading = await connect(url).catch((error: unknown) => {
    writing.redis.disconnect();
    throw error;
  });
  const server = new RedisRunServer<Spec>(writing, reading, options);
  try {
    await server.start();
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

class RedisRunServer<Spec> implements RunServer {
  readonly #writing: Link;
  readonly #reading: Link;
  readonly #options: RunServerOptions<Spec>;
  /** The checker's address with the name that it has taken; null before it has one. */
  #name: CheckerName | null = null;
  readonly #clock = createClockWatch();
  /** By scheduler. */
  readonly #unsent = new Map<string, SentOutcome[]>();
  #unsentCount = 0;
  #isSending = false;
  #gathering: NodeJS.Timeout | undefined;
  #beating: NodeJS.Timeout | undefined;
  #beat: Promise<void> | null = null;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #reported = "";
  #lastRead = "0";
  /** Ids of entries that were read and not deleted yet. */
  #readIds: readonly string[] = [];
  #sentAtMs = Number.NEGATIVE_INFINITY;
  /** When the streams of outcomes were given their time, by their keys. */
  readonly #renewedAtMs = new Map<string, number>();
  #isLeaving = false;
  #problem: string | null = null;
  #readerEnded: Promise<void> = Promise.resolve();

  constructor(writing: Link, reading: Link, options: RunServerOptions<Spec>) {
    this.#writing = writing;
    this.#reading = reading;
    this.#options = options;
  }

  get clockOffsetMs(): number {
    return this.#clock.offsetMs();
  }

  async start(): Promise<void> {
    await this.#writing.run((redis) => this.#live(redis));
    this.#beating = setInterval(() => this.#beatOnce(), BEAT_MS);
    this.#readerEnded = this.#readAll();
  }

  answer(scheduler: string, outcomes: readonly SentOutcome[]): void {
    const waiting = this.#unsent.get(scheduler);
    if (waiting === undefined) this.#unsent.set(scheduler, [...outcomes]);
    else for (const outcome of outcomes) waiting.push(outcome);
    this.#unsentCount += outcomes.length;
    this.#dropOldest();
    this.#sendSoon(Math.max(0, this.#sentAtMs + GATHER_MS - performance.now()));
  }

  report(): void {
    this.#reportedAtMs = Number.NEGATIVE_INFINITY;
    this.#beatOnce();
  }

  async leave(): Promise<void> {
    this.#isLeaving = true;
    clearInterval(this.#beating);
    await Promise.all([this.#readerEnded, this.#beat]);
    if (this.#name === null) return;
    const key = runsKey(this.#name);
    // In one transaction: a scheduler that sends afterwards is refused, and the next holder of the name reports after us.
    const left = await this.#writing.redis
      .multi()
      .xrange(key, this.#lastRead === "0" ? "-" : `(${this.#lastRead}`, "+")
      .del(key)
      .hset(checkersKey(this.#name.location), slotOf(this.#name.id), this.#report(this.#name))
      .exec()
      .catch(() => null);
    for (const [, fields] of (left?.[0]?.[1] ?? []) as Read[number][1]) this.#take(this.#name, fields);
  }

  async close(): Promise<void> {
    if (!this.#isLeaving) await this.leave();
    const endAtMs = performance.now() + CLOSE_WITHIN_MS;
    while (this.#unsentCount > 0 && performance.now() < endAtMs) {
      await this.#send();
      if (this.#unsentCount > 0) await pause(RETRY_MS);
    }
    clearTimeout(this.#gathering);
    await Promise.all([end(this.#writing.redis), end(this.#reading.redis)]);
  }

  /** Whether its stream exists and its report is recent. */
  async #live(redis: Redis): Promise<void> {
    if (this.#name === null || !(await this.#renew(redis, this.#name))) {
      this.#name = await this.#takeName(redis);
      // A new stream has no entries that were read before.
      this.#lastRead = "0";
      this.#readIds = [];
      this.#reportedAtMs = Number.NEGATIVE_INFINITY;
    }
    this.#clock.take(await readClock(redis));
    const { isFit } = this.#options.state();
    const isOld = performance.now() - this.#reportedAtMs >= REPORT_EVERY_MS;
    if (isOld || this.#reported !== String(isFit)) await this.#tell(redis);
  }

  /** @returns false when the stream has ended or another checker has taken the name: the holder marks the stream with its id */
  async #renew(redis: Redis, name: CheckerName): Promise<boolean> {
    const key = runsKey(name);
    const answers = await redis
      .multi()
      .pexpire(key, STREAM_KEPT_MS)
      .xgroup("CREATECONSUMER", key, CHECKER_GROUP, name.id)
      .exec();
    const [renewed, marked] = answers ?? [];
    if (renewed === undefined || renewed[0] !== null) throw renewed?.[0] ?? new Error("Redis did not answer");
    return Number(renewed[1]) === 1 && marked?.[0] === null && Number(marked[1]) === 0;
  }

  /** Takes a free name: its stream marks it as taken, and only one checker can make that. @throws Error when there is none */
  async #takeName(redis: Redis): Promise<CheckerName> {
    const { location, id } = this.#options.checker;
    const all = [...CHECKER_SLOTS].sort(() => Math.random() - 0.5);
    // Its former name is tried first: schedulers know it by that.
    for (const slot of this.#name === null ? all : [slotOf(this.#name.id), ...all]) {
      const name = { location, id: `${slot}.${id}` };
      const key = runsKey(name);
      // In one step, or a death in between would leave a stream that never ends.
      const answers = await redis
        .multi()
        .xgroup("CREATE", key, CHECKER_GROUP, "$", "MKSTREAM")
        .pexpire(key, STREAM_KEPT_MS)
        .xgroup("CREATECONSUMER", key, CHECKER_GROUP, name.id)
        .exec();
      const [error] = answers?.[0] ?? [new Error("Redis did not answer")];
      if (error === null) return name;
      if (!String(error).includes("BUSYGROUP")) throw error;
    }
    throw new Error(`location ${location} has ${CHECKER_SLOTS.length} checkers already`);
  }

  async #tell(redis: Redis): Promise<void> {
    if (this.#name === null) return;
    const { isFit } = this.#options.state();
    await redis.hset(checkersKey(this.#name.location), slotOf(this.#name.id), this.#report(this.#name));
    this.#reported = String(isFit);
    this.#reportedAtMs = performance.now();
  }

  #report(name: CheckerName): string {
    const { checker, state } = this.#options;
    const said = state();
    const report: CheckerReport = {
      ...checker,
      ...said,
      ...name,
      reasons: said.reasons.slice(0, MOST_REASONS).map((reason) => storableText(reason, MOST_REASON)),
      isLeaving: said.isLeaving || this.#isLeaving,
      atMs: Math.round(Date.now() - this.clockOffsetMs),
      clockOffsetMs: Math.round(this.clockOffsetMs),
    };
    return JSON.stringify(report);
  }

  #beatOnce(): void {
    if (this.#isLeaving) return;
    this.#beat ??= this.#writing
      .run((redis) => this.#live(redis))
      .then(
        () => this.#say(null),
        (error: unknown) => this.#say(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        this.#beat = null;
      });
  }

  #say(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onLink(problem);
  }

  async #readAll(): Promise<void> {
    while (!this.#isLeaving) {
      try {
        await this.#readOnce(this.#reading.redis);
      } catch {
        await pause(RETRY_MS);
      }
    }
  }

  /** What was read before is deleted on the way. */
  async #readOnce(redis: Redis): Promise<void> {
    const [after, name] = [this.#lastRead, this.#name];
    if (name === null) return pause(RETRY_MS);
    const key = runsKey(name);
    const commands = redis.pipeline();
    if (this.#readIds.length > 0) commands.xdel(key, ...this.#readIds);
    this.#readIds = [];
    commands.xread("COUNT", ENTRIES_PER_READ, "BLOCK", BLOCK_MS, "STREAMS", key, after);
    const [error, found] = (await commands.exec())?.at(-1) ?? [null, null];
    if (error !== null) throw error;
    const entries = (found as Read | null)?.[0]?.[1] ?? [];
    // The stream was made anew meanwhile: what it holds is read from its beginning.
    if (entries.length === 0 || this.#lastRead !== after || this.#name !== name) return;
    this.#lastRead = entries.at(-1)?.[0] ?? after;
    this.#readIds = entries.map(([id]) => id);
    for (const [, fields] of entries) this.#take(name, fields);
  }

  #take(name: CheckerName, fields: readonly string[]): void {
    const [, scheduler = "", , body = ""] = fields;
    const { sealing, take, readSpec } = this.#options;
    try {
      if (!isSchedulerAddress(scheduler)) throw new Error("its sender has no address");
      if (body.length > MOST_ENTRY_CHARACTERS) throw new Error(`it is longer than ${MOST_ENTRY_CHARACTERS} characters`);
      take(scheduler, parseBatch(sealing.open(runsPurpose(name), body), readSpec), this.#isLeaving);
    } catch (error) {
      // Sealed with a key that this checker does not have: the scheduler that sent it misses the outcome at its deadline.
      this.#options.onLink(`what a scheduler sent cannot be opened: ${error instanceof Error ? error.message : ""}`);
    }
  }

  #sendSoon(delayMs: number): void {
    this.#gathering ??= setTimeout(() => void this.#send(), delayMs);
  }

  async #send(): Promise<void> {
    this.#gathering = undefined;
    if (this.#isSending) return;
    this.#isSending = true;
    this.#sentAtMs = performance.now();
    let retryMs = GATHER_MS;
    try {
      for (const scheduler of [...this.#unsent.keys()]) await this.#sendTo(scheduler);
    } catch {
      retryMs = RETRY_MS;
      // A Redis that comes back may have lost the streams.
      this.#renewedAtMs.clear();
    }
    this.#isSending = false;
    if (this.#unsentCount > 0) this.#sendSoon(retryMs);
  }

  /** What may have arrived is sent again: it is applied once. */
  async #sendTo(scheduler: string): Promise<void> {
    const { checker, sealing } = this.#options;
    const waiting = this.#unsent.get(scheduler) ?? [];
    const key = outcomesKey(checker.location, scheduler);
    while (waiting.length > 0) {
      const { outcomes, json } = entryOf(waiting);
      const body = sealing.seal(outcomesPurpose(checker.location, scheduler), json);
      await this.#writing.run((redis) => this.#write(redis, key, scheduler, body));
      // While it was sent, outcomes may have been added at the end or dropped at the front.
      const sent = new Set(outcomes);
      let count = 0;
      while (waiting.length > 0 && sent.has(waiting[0] as SentOutcome)) {
        waiting.shift();
        count += 1;
      }
      this.#unsentCount -= count;
    }
    this.#unsent.delete(scheduler);
  }

  async #write(redis: Redis, key: string, to: string, body: string): Promise<void> {
    const nowMs = performance.now();
    const isDue = nowMs - (this.#renewedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= RENEW_MS;
    const commands = redis.pipeline().xadd(key, "MAXLEN", "~", MOST_OUTCOMES, "*", "to", to, "body", body);
    if (isDue) commands.pexpire(key, OUTCOMES_KEPT_MS);
    for (const [error] of (await commands.exec()) ?? []) if (error !== null) throw error;
    if (!isDue) return;
    this.#renewedAtMs.set(key, nowMs);
    for (const [other, atMs] of this.#renewedAtMs) if (nowMs - atMs > OUTCOMES_KEPT_MS) this.#renewedAtMs.delete(other);
  }

  #dropOldest(): void {
    for (const waiting of this.#unsent.values()) {
      const tooMany = this.#unsentCount - MOST_UNSENT;
      if (tooMany <= 0) return;
      this.#unsentCount -= waiting.splice(0, tooMany).length;
    }
  }
}

/** The first waiting outcomes that fit into one entry, by number and length. */
function entryOf(waiting: readonly SentOutcome[]): {
  readonly outcomes: readonly SentOutcome[];
  readonly json: string;
} {
  let count = Math.min(waiting.length, OUTCOMES_PER_ENTRY);
  for (;;) {
    const outcomes = waiting.slice(0, count);
    const json = JSON.stringify(outcomes);
    if (json.length <= MOST_JSON_CHARACTERS || count === 1) return { outcomes, json };
    count = Math.ceil(count / 2);
  }
}
