/**
 * Sender: empties the outbox. Events become deliveries, and deliveries are sent when they are due. The result of each attempt is
 * stored before the next one may begin; after a crash in between it is sent once more, under the same id.
 *
 *   outbox ─fan out─▶ deliveries ─due─▶ a free place ─▶ attempt ─▶ recorded: delivered, tried again later, given up
 *
 * Places: each webhook has a few, one while it fails. Failing webhooks share a separate set, and first places go before further ones,
 * so that hundreds of hanging receivers delay no other. It has no timer: start.ts calls turn().
 */
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import { receiverAddress } from "../../model/web-address.ts";
import { SEALED_AT, type SealedPlace } from "../../store/sealed-places.ts";
import { LeaseLost } from "../../store/sql/ports/leases.ts";
import type { DueDelivery, EndedAttempt, Outgoing } from "../../store/sql/ports/webhooks.ts";
import { webhookKey } from "../../store/webhook-secret.ts";
import type { Clocks } from "../clock.ts";
import type { LeaseKeeper } from "./lease.ts";
import { headersOf } from "./message.ts";
import type { Post, PostOutcome } from "./post.ts";

/** Events, and attempts, of one transaction; our choice: some milliseconds of SQLite, which blocks its thread. */
const FAN_OUT_EVENTS = 100;
const RECORD_ATTEMPTS = 32;
/** Attempts at once; our choice: few sockets and little memory for an API process. */
const PLACES = { healthy: 384, failing: 128 } as const;
/** Attempts at once of one webhook. */
const PLACES_OF_ONE = { healthy: 4, failing: 1 } as const;
/** Attempts at once beyond each webhook's first: when many begin to hang, each of the others still gets a first place. */
const EXTRA_PLACES = 128;

type Lane = keyof typeof PLACES;
const LANES: readonly Lane[] = ["healthy", "failing"];

type Open = (where: SealedPlace, sealed: string) => string;

export interface SenderOptions {
  readonly outgoing: Outgoing;
  readonly lease: LeaseKeeper;
  readonly post: Post;
  readonly open: Open;
  readonly clocks: Clocks;
  readonly random: () => number;
  readonly log: Logger;
  /** Lets other work on this thread run. */
  readonly breathe: () => Promise<void>;
  /** Something ended: another turn is wanted soon. */
  readonly onEnded: () => void;
}

export interface Sender {
  /** One look at everything; rejects when the store is away. */
  turn(): Promise<void>;
  /** Attempts under way or not yet recorded. */
  readonly inFlight: number;
  /** Attempts recorded so far, by result. */
  readonly counts: Readonly<Record<"delivered" | "failed", number>>;
  /** Begins no attempt any more. */
  drain(): void;
  /** Ends what is under way without a record: the next sender sends it again. */
  abort(): void;
}

interface Flight {
  readonly webhookId: number;
  readonly lane: Lane;
}

export function createSender(options: SenderOptions): Sender {
  const { clocks, lease, log, outgoing } = options;
  const flights = new Map<number, Flight>();
  const stop = new AbortController();
  // Each attempt listens.
  setMaxListeners(0, stop.signal);
  let isDraining = false;
  const counts = { delivered: 0, failed: 0 };
  let ended: EndedAttempt[] = [];

  async function record(epoch: number): Promise<void> {
    while (ended.length > 0) {
      const batch = ended.slice(0, RECORD_ATTEMPTS);
      const recorded = await lease.asserting(() => outgoing.record(epoch, batch));
      ended = ended.slice(batch.length);
      for (const { deliveryId } of batch) flights.delete(deliveryId);
      for (const { webhookId, off, state } of recorded) {
        counts[state === "delivered" ? "delivered" : "failed"] += 1;
        if (off !== null) log.warn({ webhookId, reason: off }, "a webhook is switched off");
      }
      await options.breathe();
    }
  }

  async function fill(lane: Lane): Promise<void> {
    if (isDraining) return;
    const running = new Map<number, number>();
    let free: number = PLACES[lane];
    let extra = EXTRA_PLACES;
    for (const flight of flights.values()) {
      const count = running.get(flight.webhookId) ?? 0;
      running.set(flight.webhookId, count + 1);
      if (flight.lane === lane) free -= 1;
      if (count > 0) extra -= 1;
    }
    const most = extra > 0 ? PLACES_OF_ONE[lane] : 1;
    if (free <= 0) return;
    const due = await outgoing.due({
      nowMs: clocks.wallNowMs(),
      failing: lane === "failing",
      perWebhook: most,
      webhooks: free,
      except: [...running].flatMap(([webhookId, count]) => (count >= most ? [webhookId] : [])),
    });
    const waiting = due.filter(({ id }) => !flights.has(id));
    // The first of each before the second of any.
    for (let round = 0; round < most; round += 1) {
      for (const delivery of waiting) {
        const { id, webhookId } = delivery;
        const isTurn = (running.get(webhookId) ?? 0) === round && !flights.has(id);
        if (!isTurn || (round > 0 && extra <= 0)) continue;
        if (free === 0 || !lease.mayBegin()) return;
        running.set(webhookId, round + 1);
        flights.set(id, { webhookId, lane });
        free -= 1;
        if (round > 0) extra -= 1;
        void send(delivery);
      }
    }
  }

  async function send(delivery: DueDelivery): Promise<void> {
    const atMs = Math.round(clocks.wallNowMs());
    const startedAtMs = clocks.monotonicNowMs();
    const outcome = await attempt(delivery, atMs);
    if (stop.signal.aborted) return;
    const { id: deliveryId, webhookId } = delivery;
    const durationMs = Math.max(0, clocks.monotonicNowMs() - startedAtMs);
    ended.push({ deliveryId, webhookId, atMs, durationMs, random: options.random(), ...outcome });
    options.onEnded();
  }

  async function attempt(delivery: DueDelivery, nowMs: number): Promise<PostOutcome> {
    let headers: Readonly<Record<string, string>>;
    let url: string;
    try {
      ({ headers, url } = openedOf(delivery, nowMs, options.open));
    } catch (error) {
      log.error({ err: error, webhookId: delivery.webhookId }, "a webhook's secret does not open");
      return { statusCode: null, error: "the webhook's secret does not open" };
    }
    return options.post(url, headers, delivery.body, stop.signal);
  }

  async function turn(): Promise<void> {
    const epoch = await lease.keep();
    if (epoch === undefined) return forget();
    try {
      await record(epoch);
      await lease.asserting(() => outgoing.cancelOrphans(epoch, Math.round(clocks.wallNowMs())));
      await fanOutAll(epoch);
      for (const lane of LANES) await fill(lane);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      log.warn("another process sends webhooks now");
      forget();
    }
  }

  /** The next holder sends what was not recorded. */
  function forget(): void {
    for (const { deliveryId } of ended) flights.delete(deliveryId);
    ended = [];
  }

  async function fanOutAll(epoch: number): Promise<void> {
    let taken = 1;
    while (taken > 0 && lease.mayBegin()) {
      const nowMs = Math.round(clocks.wallNowMs());
      taken = await lease.asserting(() => outgoing.fanOut(epoch, { limit: FAN_OUT_EVENTS, nowMs }));
      await options.breathe();
    }
  }

  return {
    turn,
    get inFlight() {
      return flights.size;
    },
    counts,
    drain() {
      isDraining = true;
    },
    abort: () => stop.abort(),
  };
}

/** What is sent where. @throws StoreError when a secret or the address does not open */
function openedOf({ body, eventId, secretsSealed, url, urlSealed, webhookId }: DueDelivery, nowMs: number, open: Open) {
  const keys = secretsSealed.map((sealed) => webhookKey(open(SEALED_AT.webhook(webhookId), sealed)));
  const headers = headersOf({ id: eventId, body, keys }, nowMs);
  // In clear until it was sealed, or after a process of an earlier version wrote it.
  const isWhole = urlSealed === null || url !== receiverAddress(url);
  return { headers, url: isWhole ? url : open(SEALED_AT.webhookUrl(webhookId), urlSealed) };
}
