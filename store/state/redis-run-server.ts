/** A checker's side of runs over Redis: keeps its stream and its report alive, takes what is sent, and answers. */
import type { Redis } from "ioredis";
import type { CheckOutcome } from "../../model/result.ts";
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
  STREAM_KEPT_MS,
} from "./runs.ts";

/** One wait for runs, ms: a stop is noticed within it. */
const BLOCK_MS = 500;
const RETRY_MS = 250;
const ENTRIES_PER_READ = 64;
/** Outcomes of one moment travel together, ms. */
const GATHER_MS = 2;
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
  readonly #unsent = new Map<string, CheckOutcome[]>();
  #unsentCount = 0;
  #isSending = false;
  #gathering: NodeJS.Timeout | undefined;
  #beating: NodeJS.Timeout | undefined;
  #beat: Promise<void> | null = null;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #reported = "";
  #lastRead = "0";
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

  answer(scheduler: string, outcomes: readonly CheckOutcome[]): void {
    const waiting = this.#unsent.get(scheduler);
    if (waiting === undefined) this.#unsent.set(scheduler, [...outcomes]);
    else for (const outcome of outcomes) waiting.push(outcome);
    this.#unsentCount += outcomes.length;
    this.#dropOldest();
    this.#gathering ??= setTimeout(() => void this.#send(), GATHER_MS);
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

  async #readOnce(redis: Redis): Promise<void> {
    const after = this.#lastRead;
    const found = (await redis.xread(
      "COUNT",
      ENTRIES_PER_READ,
      "BLOCK",
      BLOCK_MS,
      "STREAMS",
      this.#key,
      after,
    )) as Read | null;
    const entries = found?.[0]?.[1] ?? [];
    // The stream was made anew meanwhile: what it holds is read from its beginning.
    if (entries.length === 0 || this.#lastRead !== after) return;
    this.#lastRead = entries.at(-1)?.[0] ?? after;
    // Whoever deletes an entry has it; a checker that stands still between the two runs nothing that is too old.
    await redis.xdel(this.#key, ...entries.map(([id]) => id)).catch(() => {});
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

  async #send(): Promise<void> {
    this.#gathering = undefined;
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (const scheduler of [...this.#unsent.keys()]) await this.#sendTo(scheduler);
    } catch {
      this.#gathering ??= setTimeout(() => void this.#send(), RETRY_MS);
    }
    this.#isSending = false;
    if (this.#unsentCount > 0) this.#gathering ??= setTimeout(() => void this.#send(), GATHER_MS);
  }

  /** What may have arrived is sent again: it is applied once. */
  async #sendTo(scheduler: string): Promise<void> {
    const { checker, sealing } = this.#options;
    const waiting = this.#unsent.get(scheduler) ?? [];
    const key = outcomesKey(checker.location, scheduler);
    while (waiting.length > 0) {
      const outcomes = waiting.slice(0, OUTCOMES_PER_ENTRY);
      const body = sealing.seal(outcomesPurpose(checker.location, scheduler), JSON.stringify(outcomes));
      await this.#writing.run(async (redis) => {
        await redis.xadd(key, "MAXLEN", "~", MOST_OUTCOMES, "*", "body", body);
        await redis.pexpire(key, OUTCOMES_KEPT_MS);
      });
      // More may have come behind, or gone before, while it was sent.
      const sent = new Set(outcomes);
      let count = 0;
      while (waiting.length > 0 && sent.has(waiting[0] as CheckOutcome)) {
        waiting.shift();
        count += 1;
      }
      this.#unsentCount -= count;
    }
    this.#unsent.delete(scheduler);
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
