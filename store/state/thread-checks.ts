/**
 * Passing checks between the threads of one process, over a channel that all of them hear. The config itself is only sent to the one
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
  type CheckReply,
  type CheckServer,
  type CheckServerOptions,
  type Checks,
  createAsking,
  LANES,
  type Lane,
  type PassingCheck,
} from "./checks.ts";

type Message =
  | { readonly type: "wanted"; readonly id: string; readonly lane: Lane; readonly location: string }
  | { readonly type: "offer"; readonly id: string; readonly server: string }
  | { readonly type: "given"; readonly id: string; readonly server: string; readonly check: PassingCheck }
  | { readonly type: "withdrawn"; readonly id: string }
  | { readonly type: "answer"; readonly id: string; readonly reply: CheckReply };

/** Wanted checks that a checker remembers; beyond it the oldest is forgotten, and ends untaken. */
const MOST_WANTED = 1_000;
/** An offer that is not taken up by then was one of several, ms. */
const OFFER_MS = 1_000;

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
  const asking = createAsking();
  const checks = new Map<string, PassingCheck>();
  const channel = openChannel(file, (message) => {
    if (message.type === "answer") asking.settle(message.id, message.reply);
    if (message.type !== "offer") return;
    const { id, server } = message;
    const check = checks.get(id);
    if (check === undefined || !asking.taken(id)) return;
    checks.delete(id);
    channel.send({ type: "given", id, server, check });
  });
  return {
    ask(lane, location, check) {
      const { id, answer } = asking.open(lane, (untaken) => {
        checks.delete(untaken);
        channel.send({ type: "withdrawn", id: untaken });
      });
      checks.set(id, check);
      channel.send({ type: "wanted", id, lane, location });
      return answer;
    },
    async close() {
      asking.close();
      checks.clear();
      channel.close();
    },
  };
}

export function openThreadCheckServer(file: string, { location, room, take }: CheckServerOptions): CheckServer {
  const server = randomUUID();
  const wanted: Readonly<Record<Lane, Set<string>>> = { api: new Set(), public: new Set() };
  /** Room that is held for an offer or a running check. */
  const held: Record<Lane, number> = { api: 0, public: 0 };
  const running = new Set<string>();
  const offers = new Map<string, { readonly lane: Lane; readonly timer: NodeJS.Timeout }>();

  const channel = openChannel(file, (message) => {
    switch (message.type) {
      case "wanted":
        if (message.location === location) want(message.lane, message.id);
        return;
      case "given":
        if (message.server === server) run(message.id, message.check);
        else drop(message.id);
        return;
      case "withdrawn":
        drop(message.id);
        return;
      default:
    }
  });

  function want(lane: Lane, id: string): void {
    const [oldest] = wanted[lane];
    if (wanted[lane].size >= MOST_WANTED && oldest !== undefined) wanted[lane].delete(oldest);
    wanted[lane].add(id);
    offerNext(lane);
  }

  function offerNext(lane: Lane): void {
    for (const id of wanted[lane]) {
      if (held[lane] >= room[lane]) return;
      wanted[lane].delete(id);
      held[lane] += 1;
      offers.set(id, { lane, timer: setTimeout(() => drop(id), OFFER_MS) });
      channel.send({ type: "offer", id, server });
    }
  }

  function free(lane: Lane): void {
    held[lane] -= 1;
    offerNext(lane);
  }

  function drop(id: string): void {
    for (const lane of LANES) wanted[lane].delete(id);
    const offer = offers.get(id);
    if (offer === undefined) return;
    clearTimeout(offer.timer);
    offers.delete(id);
    free(offer.lane);
  }

  function run(id: string, check: PassingCheck): void {
    const offer = offers.get(id);
    if (offer === undefined) {
      // Given too late: the room went to another.
      channel.send({ type: "answer", id, reply: { type: "busy" } });
      return;
    }
    clearTimeout(offer.timer);
    offers.delete(id);
    running.add(id);
    void take(check, offer.lane)
      .catch((): CheckReply => ({ type: "busy" }))
      .then((reply) => {
        running.delete(id);
        channel.send({ type: "answer", id, reply });
        free(offer.lane);
      });
  }

  return {
    async close() {
      for (const { timer } of offers.values()) clearTimeout(timer);
      offers.clear();
      for (const id of running) channel.send({ type: "answer", id, reply: { type: "busy" } });
      channel.close();
    },
  };
}
