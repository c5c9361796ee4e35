/**
 * Broadcasts between processes: a channel of Redis for each project. Redis itself knows which channels have subscribers, and forgets those of a
 * process that died. It has connections of its own, so that the messages of a busy project hold up no notice.
 */
import { performance } from "node:perf_hooks";
import { LONGEST_BROADCAST, type OpenBroadcasts, ProjectListeners } from "./broadcasts.ts";
import { connect, end, type Link, type RedisLocation } from "./redis.ts";
import { PREFIX } from "./redis-prefix.ts";

const TEXTS = `${PREFIX}live:`;
/** A project that is listened to from now on: publishers need not wait for their next look. */
const NEW_LISTENERS = `${PREFIX}new-listeners`;
/** How old what a publisher knows of the listeners may be, ms. */
const KNOWN_MS = 5_000;
/** Messages that wait until it is known whether a process listens; more are dropped while Redis does not answer. */
const MOST_WAITING = 1_000;

export async function openRedisBroadcasts({ url }: RedisLocation): Promise<OpenBroadcasts> {
  const publisher = await connect(url);
  const subscriber = await connect(url).catch((error: unknown) => {
    publisher.redis.disconnect();
    throw error;
  });
  const listeners = new ProjectListeners();
  const heard = new Heard(publisher);
  // Subscribed again by itself after a reconnect.
  await subscriber.run((redis) => redis.subscribe(NEW_LISTENERS));
  subscriber.redis.on("message", (channel: string, text: string) => {
    if (channel === NEW_LISTENERS) heard.add(Number(text));
    else if (text.length <= LONGEST_BROADCAST) listeners.tell(Number(channel.slice(TEXTS.length)), text);
  });
  let waiting = 0;
  return {
    isHeard: (projectId) => listeners.has(projectId) || heard.has(projectId),
    publish(projectId, text) {
      if (waiting >= MOST_WAITING) return;
      waiting += 1;
      void heard
        .known()
        .then((projects) => {
          if (projects.has(projectId)) return publisher.redis.publish(TEXTS + projectId, text);
        })
        // What is lost is read by the page, a minute later at most.
        .catch(() => {})
        .finally(() => {
          waiting -= 1;
        });
    },
    listen(projectId, listener) {
      const isFirst = !listeners.has(projectId);
      const leave = listeners.add(projectId, listener);
      if (isFirst) subscribe(subscriber, publisher, projectId);
      return () => {
        if (leave()) void subscriber.redis.unsubscribe(TEXTS + projectId).catch(() => {});
      };
    },
    async close() {
      await Promise.all([end(publisher.redis), end(subscriber.redis)]);
    },
  };
}

function subscribe(subscriber: Link, publisher: Link, projectId: number): void {
  void subscriber.redis
    .subscribe(TEXTS + projectId)
    .then(() => publisher.redis.publish(NEW_LISTENERS, String(projectId)))
    // While Redis is away the client remembers the subscription and makes it when it is back.
    .catch(() => {});
}

/** Which projects are listened to, by any process. */
class Heard {
  readonly #link: Link;
  readonly #projects = new Set<number>();
  /** Named while Redis was asked: its answer may be older. */
  #named: number[] = [];
  #atMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<ReadonlySet<number>> | null = null;

  constructor(link: Link) {
    this.#link = link;
  }

  add(projectId: number): void {
    if (!Number.isSafeInteger(projectId)) return;
    this.#projects.add(projectId);
    if (this.#reading !== null) this.#named.push(projectId);
  }

  /** What is known now; looks again behind the answer when that is old. */
  has(projectId: number): boolean {
    if (this.#isOld()) void this.known().catch(() => {});
    return this.#projects.has(projectId);
  }

  /** What Redis said a moment ago. @throws StoreError while it is away */
  known(): Promise<ReadonlySet<number>> {
    if (!this.#isOld()) return this.#reading ?? Promise.resolve(this.#projects);
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  #isOld(): boolean {
    return performance.now() - this.#atMs > KNOWN_MS;
  }

  async #read(): Promise<ReadonlySet<number>> {
    this.#named = [];
    const channels = await this.#link.run((redis) => redis.pubsub("CHANNELS", `${TEXTS}*`));
    this.#projects.clear();
    for (const projectId of this.#named) this.#projects.add(projectId);
    for (const channel of channels) this.#projects.add(Number(String(channel).slice(TEXTS.length)));
    this.#atMs = performance.now();
    return this.#projects;
  }
}
