/**
 * One-off checks over Redis: one stream per class and location, which all of its checkers read; answers by pub/sub to the process that
 * asked. Both are sealed. The process that deletes an entry owns it: the checker that takes it, or the asker that withdraws it. There are
 * no consumer groups, because a user who may create groups can fill Redis with their names, which nothing counts.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { MessageSealing } from "../sealed-text.ts";
import { type AccountLeases, ASK_AGAIN_MS } from "./accounts.ts";
import {
  type Asking,
  CHECK_CLASSES,
  type CheckAnswer,
  type CheckClass,
  type CheckReply,
  type CheckServer,
  type CheckServerOptions,
  type Checks,
  createAsking,
  LONGEST_MS,
  type OneOffCheck,
  startWithinMs,
  TAKE_MS,
} from "./checks.ts";
import { MOST_ENTRY_CHARACTERS, parseOneOffCheck, parseReply, wordsOf } from "./message-readers.ts";
import { connect, end, type Link, type RedisLocation } from "./redis.ts";
import { accountLeasesOver } from "./redis-accounts.ts";
import { PREFIX } from "./redis-prefix.ts";
import { checksKey } from "./redis-run-keys.ts";

/** Most entries of a stream; beyond it the oldest are dropped, and their checks end untaken. */
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
  place: RedisLocation,
  sealingOf: (location: string) => MessageSealing | undefined,
  refreshKeys: () => Promise<void>,
  onRefused: (location: string, count: number, reason: string) => void,
): Promise<Checks> {
  const [posting, hearing] = await connectTwo(place);
  const checks = new RedisChecks({ posting, hearing, sealingOf, refreshKeys, onRefused });
  await checks.hear();
  return checks;
}

interface RedisChecksOptions {
  readonly posting: Link;
  /** Subscribes, and does nothing else. */
  readonly hearing: Link;
  readonly sealingOf: (location: string) => MessageSealing | undefined;
  readonly refreshKeys: () => Promise<void>;
  readonly onRefused: (location: string, count: number, reason: string) => void;
}

class RedisChecks implements Checks {
  readonly #asker = randomUUID();
  readonly #options: RedisChecksOptions;
  readonly #leases: AccountLeases;
  readonly #asking = createAsking();
  readonly #entries = new Map<string, { readonly stream: string; readonly entry: string }>();
  /** The streams to which waiting checks were sent, by check id. */
  readonly #locations = new Map<string, string>();
  #isClosed = false;

  constructor(options: RedisChecksOptions) {
    this.#options = options;
    this.#leases = accountLeasesOver(options.posting);
  }

  /** Once, before the first ask(): subscribes to the answers. */
  async hear(): Promise<void> {
    const { hearing } = this.#options;
    const locationOf = (id: string): string | undefined => this.#locations.get(id);
    const answers = new AnswerReader({ ...this.#options, asking: this.#asking, locationOf });
    hearing.redis.on("message", (_channel: string, text: string) => {
      hearing.allow(MOST_HEARD_BYTES);
      answers.read(text);
    });
    hearing.allow(MOST_HEARD_BYTES);
    await hearing.run((redis) => redis.subscribe(answersOf(this.#asker)));
  }

  async ask(checkClass: CheckClass, location: string, check: OneOffCheck): Promise<CheckAnswer> {
    const sealing = this.#options.sealingOf(location);
    if (sealing === undefined) return { type: "untaken" };
    const { identity, timeoutMs } = check;
    const ask = () => this.#askNow(checkClass, location, check, sealing);
    return identity === null ? ask() : this.#askInTurn(identity, checkClass, timeoutMs, ask);
  }

  async close(): Promise<void> {
    const { posting, hearing } = this.#options;
    this.#isClosed = true;
    this.#asking.close();
    await Promise.all([end(posting.redis), end(hearing.redis)]);
  }

  /** No other process uses the account meanwhile. */
  async #askInTurn(
    identity: string,
    checkClass: CheckClass,
    timeoutMs: number,
    ask: () => Promise<CheckAnswer>,
  ): Promise<CheckAnswer> {
    const token = randomUUID();
    const endAtMs = performance.now() + startWithinMs(checkClass, timeoutMs);
    while (!(await this.#leases.hold(identity, token, LONGEST_MS))) {
      if (this.#isClosed) return { type: "lost" };
      if (performance.now() > endAtMs) return { type: "busy" };
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
    let answer: CheckAnswer | undefined;
    try {
      answer = await ask();
      return answer;
    } finally {
      // A check that counts as lost may still run, so its account's lease is kept until it has expired.
      if (answer?.type !== "lost") await this.#leases.release(identity, token);
    }
  }

  async #askNow(
    checkClass: CheckClass,
    location: string,
    check: OneOffCheck,
    sealing: MessageSealing,
  ): Promise<CheckAnswer> {
    const stream = checksKey(location, checkClass);
    const { id, answer } = this.#asking.open(checkClass, (untaken) => this.#withdraw(untaken));
    this.#locations.set(id, location);
    try {
      const body = sealing.seal(purposeOf("check", id), JSON.stringify(check));
      const entry = await this.#options.posting.run((redis) => post(redis, stream, [id, this.#asker, body]));
      this.#entries.set(id, { stream, entry });
      return await answer;
    } finally {
      this.#entries.delete(id);
      this.#locations.delete(id);
      // Ends the wait when the check could not be posted.
      this.#asking.settle(id, { type: "lost" });
    }
  }

  #withdraw(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#options.posting.redis.xdel(entry.stream, entry.entry).catch(() => {});
  }
}

interface AnswerReaderOptions extends Pick<RedisChecksOptions, "sealingOf" | "refreshKeys" | "onRefused"> {
  readonly asking: Asking;
  /** Where a call that is waited for was sent. */
  readonly locationOf: (id: string) => string | undefined;
}

/** Reads messages that are published to us; any process may have published them. */
class AnswerReader {
  readonly #options: AnswerReaderOptions;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: AnswerReaderOptions) {
    this.#options = options;
  }

  read(text: string): void {
    if (text.length > MOST_ENTRY_CHARACTERS) return;
    try {
      const { id, sealed } = JSON.parse(text) as Partial<Word>;
      if (typeof id !== "string") return;
      if (sealed === undefined) this.#options.asking.taken(id);
      else if (typeof sealed === "string") void this.#take(id, sealed);
    } catch {
      // Not a message of ours: the caller's check counts as lost.
    }
  }

  async #take(id: string, sealed: string): Promise<void> {
    const { locationOf, refreshKeys, onRefused } = this.#options;
    const location = locationOf(id);
    if (location === undefined || this.#settle(id, location, sealed)) return;
    const nowMs = performance.now();
    if (nowMs - this.#refreshedAtMs >= REFRESH_EVERY_MS) {
      this.#refreshedAtMs = nowMs;
      await refreshKeys().catch(() => {});
      if (this.#settle(id, location, sealed)) return;
    }
    // Sealed with a key that we do not have: the caller's check counts as lost.
    onRefused(location, 1, "an answer that was not sealed with its key");
  }

  /** @returns false when it cannot be opened */
  #settle(id: string, location: string, sealed: string): boolean {
    const { asking, onRefused } = this.#options;
    const text = this.#open(id, location, sealed);
    if (text === undefined) return false;
    try {
      asking.settle(id, parseReply(text));
    } catch (error) {
      // The caller's check counts as lost, unless a valid answer comes.
      onRefused(location, 1, `an answer: ${wordsOf(error)}`);
    }
    return true;
  }

  #open(id: string, location: string, sealed: string): string | undefined {
    try {
      return this.#options.sealingOf(location)?.open(purposeOf("answer", id), sealed);
    } catch {
      return undefined;
    }
  }
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
  place: RedisLocation,
  sealing: MessageSealing,
  options: CheckServerOptions,
): Promise<CheckServer> {
  const answering = await connect(place.url);
  const servers = CHECK_CLASSES.map(
    (checkClass) => new ClassServer({ ...options, checkClass, place, answering, sealing }),
  );
  return {
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await end(answering.redis);
    },
  };
}

interface ClassServerOptions extends CheckServerOptions {
  readonly checkClass: CheckClass;
  readonly place: RedisLocation;
  readonly answering: Link;
  readonly sealing: MessageSealing;
}

/** Reads one class of checks until it is closed. A read waits in Redis, so it has a connection of its own. */
class ClassServer implements CheckServer {
  readonly #options: ClassServerOptions;
  readonly #stream: string;
  /** The asking process of each running check, by check id. */
  readonly #running = new Map<string, string>();
  #lastRead = "0";
  #wake: () => void = () => {};
  #isStopped = false;
  readonly #ended: Promise<void>;

  constructor(options: ClassServerOptions) {
    this.#options = options;
    this.#stream = checksKey(options.location, options.checkClass);
    this.#ended = this.#loop();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await Promise.all([...this.#running.keys()].map((id) => this.#answer(id, { type: "busy" })));
    await this.#ended;
  }

  async #loop(): Promise<void> {
    let reading: Link | undefined;
    while (!this.#isStopped) {
      try {
        reading ??= await connect(this.#options.place.url);
        await this.#readOnce(reading);
      } catch {
        // A Redis that comes back may count from the beginning again; entries that are too old are ignored.
        this.#lastRead = "0";
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    if (reading !== undefined) await end(reading.redis);
  }

  async #readOnce(reading: Link): Promise<void> {
    const { room, checkClass } = this.#options;
    const free = room[checkClass] - this.#running.size;
    if (free <= 0) return this.#untilRoom();
    const most = Math.min(free, ENTRIES_PER_READ);
    const read = await readWanted(reading.redis, this.#stream, this.#lastRead, most, checkClass);
    this.#lastRead = read.last;
    for (const wanted of read.wanted) await this.#serve(reading, wanted).catch(() => {});
  }

  #untilRoom(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, BLOCK_MS);
    });
  }

  async #serve(reading: Link, { entry, id, asker, body }: Wanted): Promise<void> {
    const { sealing, take, checkClass } = this.#options;
    // The asker has withdrawn it, or another checker has taken it.
    if ((await reading.redis.xdel(this.#stream, entry)) === 0) return;
    const check = parseOneOffCheck(sealing.open(purposeOf("check", id), body));
    this.#running.set(id, asker);
    void this.#say(asker, { id })
      .then(() => take(check, checkClass))
      .catch((): CheckReply => ({ type: "busy" }))
      .then((reply) => this.#answer(id, reply))
      .finally(() => this.#wake());
  }

  /** Once. */
  async #answer(id: string, reply: CheckReply): Promise<void> {
    const asker = this.#running.get(id);
    if (asker === undefined) return;
    this.#running.delete(id);
    const sealed = this.#options.sealing.seal(purposeOf("answer", id), JSON.stringify(reply));
    await this.#say(asker, { id, sealed });
  }

  async #say(asker: string, word: Word): Promise<void> {
    const { redis } = this.#options.answering;
    await redis.publish(answersOf(asker), JSON.stringify(word)).catch(() => {});
  }
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
  checkClass: CheckClass,
): Promise<{ readonly wanted: readonly Wanted[]; readonly last: string }> {
  const read = (await redis.xread("COUNT", count, "BLOCK", BLOCK_MS, "STREAMS", stream, after)) as
    | [stream: string, entries: [entry: string, fields: string[]][]][]
    | null;
  const entries = read?.[0]?.[1] ?? [];
  const last = entries.at(-1)?.[0];
  if (last === undefined) return { wanted: [], last: after };
  const [seconds] = await redis.time();
  const oldestMs = Number(seconds) * 1_000 - TAKE_MS[checkClass];
  const wanted = entries.flatMap(([entry, fields]) => {
    const [, id = "", , asker = "", , body = ""] = fields;
    return Number(entry.split("-")[0]) < oldestMs ? [] : [{ entry, id, asker, body }];
  });
  return { wanted, last };
}

/** Two connections, because one that subscribes may send no other command. */
async function connectTwo({ url }: RedisLocation): Promise<readonly [Link, Link]> {
  const first = await connect(url);
  const second = await connect(url).catch((error: unknown) => {
    first.redis.disconnect();
    throw error;
  });
  return [first, second];
}
