/**
 * A scheduler's reading of outcomes, one stream from each location. A holder of one location's key can send anything, and must not keep the
 * outcomes of other locations from being read. So each location has a share of this process: the size of an answer of Redis is bounded
 * before it is held in memory, what is opened of one location in a second is bounded, and a location that exceeds a bound is not read for
 * a while. What is refused is counted (refusals.ts); the runs that it may have answered are missed at their deadlines.
 */

import { setTimeout as pause } from "node:timers/promises";
import { MOST_ENTRY_CHARACTERS, parseOutcomes } from "./message-readers.ts";
import { connect, end, type Link } from "./redis.ts";
import type { Mailbox } from "./redis-mailbox.ts";
import { outcomesKey, outcomesPurpose } from "./redis-run-keys.ts";
import type { RunSenderOptions } from "./runs.ts";
import { createShares } from "./shares.ts";

/** One wait for outcomes, ms: below the link's own time-out. */
const BLOCK_MS = 1_000;
const RETRY_MS = 250;
/** Most entries of each location in one read. */
const ENTRIES_PER_READ = 64;
/** All locations together, bytes; correct checkers reach that only after an outage. Beyond it each location is read by itself. */
const MOST_ANSWER_BYTES = 64 * 2 ** 20;
/** Of one location that is read by itself: so many entries of the longest. */
const FEW_ENTRIES = 8;
const FEW_ENTRIES_BYTES = FEW_ENTRIES * MOST_ENTRY_CHARACTERS * 2;
/** How long a location that sent more is not read, ms. */
const MUTED_MS = 10_000;
/** After this long a location whose stream was never empty is not waited for any more: its runs are missed at their deadlines, ms. */
const BEHIND_MOST_MS = 5_000;
/** Of a location in a second, characters: some 30,000 outcomes. What waited during an outage is several times that. */
const SHARE_PER_S = 16 * 2 ** 20;
const SHARE_BURST = 64 * 2 ** 20;
/** A refused entry uses up as much of its location's share as this, characters. */
const REFUSAL_COSTS = 64 * 2 ** 10;
/** Keys are not read anew more often than this, ms. */
const REFRESH_EVERY_MS = 1_000;
/** An entry whose id is this far ahead of Redis's clock was not numbered by Redis, ms: later entries would not be read. */
const AHEAD_MS = 60_000;

type Entry = readonly [id: string, fields: readonly string[]];
/** What XREAD answers. */
type Read = readonly (readonly [stream: string, entries: readonly Entry[]])[];

export interface OutcomeReaderOptions extends RunSenderOptions {
  readonly url: string;
  readonly mailbox: Mailbox;
  /** A connection for small commands. */
  readonly writing: Link;
}

export class OutcomeReader {
  readonly #options: OutcomeReaderOptions;
  readonly #shares = createShares({ perSecond: SHARE_PER_S, burst: SHARE_BURST });
  /** The last entry that was read, by location. */
  readonly #read = new Map<string, string>();
  /** Streams with what was read and is still there, by their keys. */
  readonly #spent = new Map<string, string>();
  /** Monotonic ms until which a location is not read. */
  readonly #muted = new Map<string, number>();
  /** Monotonic ms since when a location has had more entries than were read. */
  readonly #behind = new Map<string, number>();
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  #isCareful = false;
  #isStopped = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: OutcomeReaderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#ended = this.#loop();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #loop(): Promise<void> {
    let link: Link | undefined;
    while (!this.#isStopped) {
      try {
        link ??= await connect(this.#options.url);
        const address = await this.#options.mailbox.hold();
        if (this.#isCareful) await this.#readEach(link, address);
        else await this.#readAll(link, address);
      } catch {
        if (link?.isOverrun === true) this.#isCareful = true;
        await pause(RETRY_MS);
      }
    }
    if (link !== undefined) await end(link.redis);
  }

  /** Locations that are read now. */
  #locations(): readonly string[] {
    const nowMs = performance.now();
    for (const [location, untilMs] of this.#muted) if (untilMs <= nowMs) this.#muted.delete(location);
    return this.#options.locations().filter((location) => !this.#muted.has(location));
  }

  async #readAll(link: Link, address: string): Promise<void> {
    const from = this.#locations();
    const startedAtMs = performance.now();
    if (from.length === 0) return pause(RETRY_MS);
    link.allow(MOST_ANSWER_BYTES);
    await this.#readSome(link, from, address, ENTRIES_PER_READ, BLOCK_MS);
    this.#sayCaughtUp(startedAtMs);
  }

  /** Reads the locations one after the other, so that the one that sends too much is found. */
  async #readEach(link: Link, address: string): Promise<void> {
    const startedAtMs = performance.now();
    for (const location of this.#locations()) {
      link.allow(FEW_ENTRIES_BYTES);
      try {
        await this.#readSome(link, [location], address, FEW_ENTRIES, null);
      } catch (error) {
        if (link.isOverrun) await this.#mute(location, address);
        throw error;
      }
    }
    this.#isCareful = false;
    this.#sayCaughtUp(startedAtMs);
  }

  async #mute(location: string, address: string): Promise<void> {
    this.#options.onRefused(location, 1, `more than ${FEW_ENTRIES_BYTES} bytes in ${FEW_ENTRIES} messages`);
    this.#muted.set(location, performance.now() + MUTED_MS);
    await this.#forget(location, address);
  }

  async #forget(location: string, address: string): Promise<void> {
    this.#read.delete(location);
    this.#behind.delete(location);
    this.#spent.delete(outcomesKey(location, address));
    await this.#options.writing.redis.unlink(outcomesKey(location, address));
  }

  async #readSome(
    link: Link,
    from: readonly string[],
    address: string,
    count: number,
    blockMs: number | null,
  ): Promise<void> {
    const keys = from.map((location) => outcomesKey(location, address));
    const after = from.map((location) => this.#read.get(location) ?? "0");
    // What was read goes on the way: outcomes are applied once, and what is missed is run again.
    const commands = link.redis.pipeline();
    for (const [key, last] of this.#spent) commands.xtrim(key, "MINID", last);
    this.#spent.clear();
    commands.time();
    if (blockMs === null) commands.xread("COUNT", count, "STREAMS", ...keys, ...after);
    else commands.xread("COUNT", count, "BLOCK", blockMs, "STREAMS", ...keys, ...after);
    const answers = (await commands.exec()) ?? [];
    const [error, answer] = answers.at(-1) ?? [null, null];
    if (error !== null) throw error;
    const [seconds] = (answers.at(-2)?.[1] ?? ["0"]) as readonly string[];
    const latestMs = Number(seconds) * 1_000 + BLOCK_MS + AHEAD_MS;
    const found = new Map((answer ?? []) as Read);
    for (const [index, location] of from.entries()) {
      const entries = found.get(keys[index] ?? "") ?? [];
      this.#note(location, entries.length === count);
      await this.#take(location, address, entries, latestMs);
    }
  }

  #note(location: string, isFull: boolean): void {
    if (!isFull) this.#behind.delete(location);
    else if (!this.#behind.has(location)) this.#behind.set(location, performance.now());
  }

  #sayCaughtUp(startedAtMs: number): void {
    const behind = new Set<string>();
    for (const [location, sinceMs] of this.#behind) {
      if (startedAtMs - sinceMs < BEHIND_MOST_MS) behind.add(location);
    }
    this.#options.onCaughtUp(startedAtMs, behind);
  }

  async #take(location: string, address: string, entries: readonly Entry[], latestMs: number): Promise<void> {
    const last = entries.at(-1)?.[0];
    if (last === undefined) return;
    if (Number(last.split("-")[0]) > latestMs) {
      this.#options.onRefused(location, entries.length, "an entry with a number of the future");
      await this.#forget(location, address);
      return;
    }
    this.#read.set(location, last);
    this.#spent.set(outcomesKey(location, address), last);
    const left: string[] = [];
    for (const [, fields] of entries) {
      const body = this.#bodyOf(location, address, fields);
      if (body !== null && !this.#open(location, address, body)) left.push(body);
    }
    if (left.length > 0) await this.#openLater(location, address, left);
  }

  /** @returns null of what is not opened: it is for the scheduler that had the mailbox before, too long, or more than the location's share */
  #bodyOf(location: string, address: string, fields: readonly string[]): string | null {
    const [, to = "", , body = ""] = fields;
    let size = 0;
    for (const field of fields) size += field.length;
    const { onRefused } = this.#options;
    if (!this.#shares.take(location, size, performance.now())) {
      onRefused(location, 1, "more than a location's share of this scheduler");
      return null;
    }
    if (size > MOST_ENTRY_CHARACTERS) {
      this.#refuse(location, 1, `a message of more than ${MOST_ENTRY_CHARACTERS} characters`);
      return null;
    }
    return to === address ? body : null;
  }

  /** A checker may know its location's new key before we do. What a third key has sealed is refused. */
  async #openLater(location: string, address: string, bodies: readonly string[]): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#refreshedAtMs >= REFRESH_EVERY_MS) {
      this.#refreshedAtMs = nowMs;
      await this.#options.refreshKeys().catch(() => {});
      const left = bodies.filter((body) => !this.#open(location, address, body));
      if (left.length > 0) this.#refuse(location, left.length, "a message that was not sealed with its key");
    } else this.#refuse(location, bodies.length, "a message that was not sealed with its key");
  }

  /** @returns false when it cannot be opened */
  #open(location: string, address: string, body: string): boolean {
    let text: string;
    try {
      const sealing = this.#options.sealingOf(location);
      if (sealing === undefined) return false;
      text = sealing.open(outcomesPurpose(location, address), body);
    } catch {
      return false;
    }
    const { outcomes, refused, reason } = parseOutcomes(text);
    if (refused > 0) this.#refuse(location, refused, reason ?? "");
    if (outcomes.length > 0) this.#options.onOutcomes(location, outcomes);
    return true;
  }

  #refuse(location: string, count: number, reason: string): void {
    this.#shares.take(location, count * REFUSAL_COSTS, performance.now());
    this.#options.onRefused(location, count, reason);
  }
}
