/**
 * One-off checks between the threads of one process, over a channel that all of them receive. The config itself is only sent to the one
 * checker that was chosen.
 *
 *   asker                     checkers
 *     ── wanted ────────────▶  queue it
 *     ◀──────────── offer ──   those with room
 *     ── given (to one) ────▶  runs it; the others drop it
 *     ◀─────────── answer ──
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { BroadcastChannel } from "node:worker_threads";
import {
  CHECK_CLASSES,
  type CheckAnswer,
  type CheckClass,
  type CheckReply,
  type CheckServer,
  type CheckServerOptions,
  type Checks,
  createAsking,
  type OneOffCheck,
} from "./checks.ts";

type Message =
  | { readonly type: "wanted"; readonly id: string; readonly checkClass: CheckClass; readonly location: string }
  | { readonly type: "offer"; readonly id: string; readonly server: string }
  | { readonly type: "given"; readonly id: string; readonly server: string; readonly check: OneOffCheck }
  | { readonly type: "withdrawn"; readonly id: string }
  | { readonly type: "answer"; readonly id: string; readonly reply: CheckReply };

/** Wanted checks that a checker remembers; beyond it the oldest is forgotten, and ends untaken. */
const MOST_WANTED = 1_000;
/** An offer that is not taken up by then was one of several, ms. */
const OFFER_MS = 1_000;

/** Room is held for it until it is given, dropped or too old. */
interface Offer {
  readonly checkClass: CheckClass;
  readonly timer: NodeJS.Timeout;
}

interface Channel {
  send(message: Message): void;
  close(): void;
}

/** @param file the state's file: its full path keeps two services in one process apart */
function openChannel(file: string, hear: (message: Message) => void): Channel {
  const channel = new BroadcastChannel(`sonde checks ${resolve(file)}`);
  channel.unref();
  channel.onmessage = (event: unknown): void => hear((event as { readonly data: Message }).data);
  let isOpen = true;
  return {
    send(message) {
      if (isOpen) channel.postMessage(message);
    },
    close() {
      isOpen = false;
      channel.close();
    },
  };
}

export function openThreadChecks(file: string): Checks {
  return new ThreadChecks(file);
}

class ThreadChecks implements Checks {
  readonly #asking = createAsking();
  /** Checks that no checker has got yet, by id. */
  readonly #checks = new Map<string, OneOffCheck>();
  readonly #channel: Channel;

  constructor(file: string) {
    this.#channel = openChannel(file, (message) => this.#hear(message));
  }

  ask(checkClass: CheckClass, location: string, check: OneOffCheck): Promise<CheckAnswer> {
    const { id, answer } = this.#asking.open(checkClass, (untaken) => this.#withdraw(untaken));
    this.#checks.set(id, check);
    this.#channel.send({ type: "wanted", id, checkClass, location });
    return answer;
  }

  async close(): Promise<void> {
    this.#asking.close();
    this.#checks.clear();
    this.#channel.close();
  }

  #withdraw(id: string): void {
    this.#checks.delete(id);
    this.#channel.send({ type: "withdrawn", id });
  }

  #hear(message: Message): void {
    if (message.type === "answer") this.#asking.settle(message.id, message.reply);
    if (message.type === "offer") this.#give(message.id, message.server);
  }

  #give(id: string, server: string): void {
    const check = this.#checks.get(id);
    if (check === undefined || !this.#asking.taken(id)) return;
    this.#checks.delete(id);
    this.#channel.send({ type: "given", id, server, check });
  }
}

export function openThreadCheckServer(file: string, options: CheckServerOptions): CheckServer {
  return new ThreadCheckServer(file, options);
}

class ThreadCheckServer implements CheckServer {
  readonly #id = randomUUID();
  readonly #options: CheckServerOptions;
  readonly #wanted: Readonly<Record<CheckClass, Set<string>>> = { api: new Set(), public: new Set() };
  /** Room that is held for an offer or a running check. */
  readonly #held: Record<CheckClass, number> = { api: 0, public: 0 };
  readonly #offers = new Map<string, Offer>();
  readonly #running = new Set<string>();
  readonly #channel: Channel;

  constructor(file: string, options: CheckServerOptions) {
    this.#options = options;
    this.#channel = openChannel(file, (message) => this.#hear(message));
  }

  async close(): Promise<void> {
    for (const { timer } of this.#offers.values()) clearTimeout(timer);
    this.#offers.clear();
    for (const id of this.#running) this.#channel.send({ type: "answer", id, reply: { type: "busy" } });
    this.#channel.close();
  }

  #hear(message: Message): void {
    switch (message.type) {
      case "wanted":
        if (message.location === this.#options.location) this.#want(message.checkClass, message.id);
        return;
      case "given":
        if (message.server === this.#id) this.#run(message.id, message.check);
        else this.#drop(message.id);
        return;
      case "withdrawn":
        this.#drop(message.id);
        return;
      default:
    }
  }

  #want(checkClass: CheckClass, id: string): void {
    const wanted = this.#wanted[checkClass];
    const [oldest] = wanted;
    if (wanted.size >= MOST_WANTED && oldest !== undefined) wanted.delete(oldest);
    wanted.add(id);
    this.#offerNext(checkClass);
  }

  #offerNext(checkClass: CheckClass): void {
    for (const id of this.#wanted[checkClass]) {
      if (this.#held[checkClass] >= this.#options.room[checkClass]) return;
      this.#wanted[checkClass].delete(id);
      this.#held[checkClass] += 1;
      this.#offers.set(id, { checkClass, timer: setTimeout(() => this.#drop(id), OFFER_MS) });
      this.#channel.send({ type: "offer", id, server: this.#id });
    }
  }

  #run(id: string, check: OneOffCheck): void {
    const offer = this.#endOffer(id);
    if (offer === undefined) {
      // The check came too late: another check has the room.
      this.#channel.send({ type: "answer", id, reply: { type: "busy" } });
      return;
    }
    const { checkClass } = offer;
    const { take } = this.#options;
    this.#running.add(id);
    void take(check, checkClass)
      .catch((): CheckReply => ({ type: "busy" }))
      .then((reply) => {
        this.#running.delete(id);
        this.#channel.send({ type: "answer", id, reply });
        this.#free(checkClass);
      });
  }

  #drop(id: string): void {
    for (const checkClass of CHECK_CLASSES) this.#wanted[checkClass].delete(id);
    const offer = this.#endOffer(id);
    if (offer !== undefined) this.#free(offer.checkClass);
  }

  /** @returns undefined when it is not offered (any more) */
  #endOffer(id: string): Offer | undefined {
    const offer = this.#offers.get(id);
    clearTimeout(offer?.timer);
    this.#offers.delete(id);
    return offer;
  }

  #free(checkClass: CheckClass): void {
    this.#held[checkClass] -= 1;
    this.#offerNext(checkClass);
  }
}
