/** A checker's side of runs over Redis: keeps its stream and its report alive, takes what is sent, and answers. */
import type { Redis } from "ioredis";
import { type CheckerReport, REPORT_EVERY_MS } from "./checkers.ts";
import { connect, end, type Link, type RedisPlace } from "./redis.ts";
import { createClockWatch, readClock } from "./redis-checkers.ts";
import { checkersKey, outcomesKey, outcomesPurpose, runsKey, runsPurpose } from "./redis-run-keys.ts";
import {
  BEAT_MS,
  MOST_OUTCOMES,
  OUTCOMES_KEPT_MS,
  type RunBatch,
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
/** Of one entry. */
const OUTCOMES_PER_ENTRY = 256;
/** Outcomes that wait for Redis; beyond it the oldest go, and their turns count as skipped. */
const MOST_UNSENT = 65_536;
/** How long a stop waits for Redis to take the last outcomes, ms. */
const CLOSE_WITHIN_MS = 3_000;
/** The stream's group marks it as alive before anything was sent. */
const GROUP = "checker";

type Read = readonly (readonly [
  stream: string,
  entries: readonly (readonly [id: string, fields: readonly string[]])[],
])[];

/** @throws StoreError when Redis cannot be used at the start; afterwards it waits for Redis to be back */
export async function openRedisRunServer<Spec>(
  { url }: RedisPlace,
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
  readonly #key: string;
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
  /** Read, and not deleted yet. */
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
    this.#key = runsKey(options.checker);
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
    // In one step: whoever sends after it is told that nobody is here.
    const left = await this.#writing.redis
      .multi()
      .xrange(this.#key, this.#lastRead === "0" ? "-" : `(${this.#lastRead}`, "+")
      .del(this.#key)
      .exec()
      .catch(() => null);
    for (const [, fields] of (left?.[0]?.[1] ?? []) as Read[number][1]) this.#take(fields);
    await this.#tell(this.#writing.redis).catch(() => {});
  }

  async close(): Promise<void> {
    if (!this.#isLeaving) await this.leave();
    const endAtMs = performance.now() + CLOSE_WITHIN_MS;
    while (this.#unsentCount > 0 && performance.now() < endAtMs) {
      await this.#send();
      if (this.#unsentCount > 0) await pause();
    }
    clearTimeout(this.#gathering);
    await Promise.all([end(this.#writing.redis), end(this.#reading.redis)]);
  }

  /** Its stream is there, and its report is not old. */
  async #live(redis: Redis): Promise<void> {
    if ((await redis.pexpire(this.#key, STREAM_KEPT_MS)) === 0) {
      await redis.xgroup("CREATE", this.#key, GROUP, "$", "MKSTREAM");
      await redis.pexpire(this.#key, STREAM_KEPT_MS);
      // A stream that is new holds nothing that was read.
      this.#lastRead = "0";
      this.#reportedAtMs = Number.NEGATIVE_INFINITY;
    }
    this.#clock.take(await readClock(redis));
    const { isFit } = this.#options.state();
    const isOld = performance.now() - this.#reportedAtMs >= REPORT_EVERY_MS;
    if (isOld || this.#reported !== String(isFit)) await this.#tell(redis);
  }

  async #tell(redis: Redis): Promise<void> {
    const { checker, state } = this.#options;
    const said = state();
    const report: CheckerReport = {
      ...checker,
      ...said,
      isLeaving: said.isLeaving || this.#isLeaving,
      atMs: Math.round(Date.now() - this.clockOffsetMs),
      clockOffsetMs: Math.round(this.clockOffsetMs),
    };
    await redis.hset(checkersKey(checker.location), checker.id, JSON.stringify(report));
    this.#reported = String(said.isFit);
    this.#reportedAtMs = performance.now();
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
        await pause();
      }
    }
  }

  /** What was read before is deleted on the way. */
  async #readOnce(redis: Redis): Promise<void> {
    const after = this.#lastRead;
    const commands = redis.pipeline();
    if (this.#readIds.length > 0) commands.xdel(this.#key, ...this.#readIds);
    this.#readIds = [];
    commands.xread("COUNT", ENTRIES_PER_READ, "BLOCK", BLOCK_MS, "STREAMS", this.#key, after);
    const [error, found] = (await commands.exec())?.at(-1) ?? [null, null];
    if (error !== null) throw error;
    const entries = (found as Read | null)?.[0]?.[1] ?? [];
    // The stream was made anew meanwhile: what it holds is read from its beginning.
    if (entries.length === 0 || this.#lastRead !== after) return;
    this.#lastRead = entries.at(-1)?.[0] ?? after;
    this.#readIds = entries.map(([id]) => id);
    for (const [, fields] of entries) this.#take(fields);
  }

  #take(fields: readonly string[]): void {
    const [, scheduler = "", , body = ""] = fields;
    const { checker, sealing, take } = this.#options;
    try {
      take(scheduler, JSON.parse(sealing.open(runsPurpose(checker), body)) as RunBatch<Spec>, this.#isLeaving);
    } catch (error) {
      // Sealed with a key that this checker does not have: whoever sent it misses the outcome at its deadline.
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
      // Whoever comes back may know nothing of the streams.
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
      const outcomes = waiting.slice(0, OUTCOMES_PER_ENTRY);
      const body = sealing.seal(outcomesPurpose(checker.location, scheduler), JSON.stringify(outcomes));
      await this.#writing.run((redis) => this.#write(redis, key, body));
      // More may have come behind, or gone before, while it was sent.
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

  async #write(redis: Redis, key: string, body: string): Promise<void> {
    const nowMs = performance.now();
    const isDue = nowMs - (this.#renewedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= RENEW_MS;
    const commands = redis.pipeline().xadd(key, "MAXLEN", "~", MOST_OUTCOMES, "*", "body", body);
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

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}
