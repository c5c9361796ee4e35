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
import { SEALED_CELLS, type SealedCell } from "../../store/sealed-cells.ts";
import { LeaseLost } from "../../store/sql/coordination/leases-port.ts";
import type { DueDelivery, EndedAttempt, Outgoing } from "../../store/sql/webhooks/port.ts";
import { webhookKey } from "../../store/webhook-secret.ts";
import type { Clocks } from "../clock.ts";
import type { LeaseKeeper } from "../lease.ts";
import { headersOf } from "../signed-message.ts";
import { ATTEMPT_MS, type Post, type PostOutcome } from "./post.ts";

/** Events, and attempts, of one transaction; our choice: some milliseconds of SQLite, which blocks its thread. */
const FAN_OUT_EVENTS = 100;
const RECORD_ATTEMPTS = 32;
/** Attempts at once; our choice: few sockets and little memory for an API process. */
const PLACES = { healthy: 384, failing: 128 } as const;
/** Attempts at once of one webhook. */
const PLACES_OF_ONE = { healthy: 4, failing: 1 } as const;
/** Attempts at once beyond each webhook's first: when many begin to hang, each of the others still gets a first place. */
const EXTRA_PLACES = 128;

type ReceiverState = keyof typeof PLACES;
const RECEIVER_STATES: readonly ReceiverState[] = ["healthy", "failing"];

/** Opens what is sealed. */
export interface Secrets {
  open(where: SealedCell, sealed: string): string;
}

/** What the sender needs of the process. */
export interface SenderHost {
  readonly clocks: Clocks;
  /** 0 to 1, as Math.random(). */
  random(): number;
  /** Lets other work on this thread run. */
  breathe(): Promise<void>;
}

export interface SenderOptions {
  readonly outgoing: Outgoing;
  readonly lease: Pick<LeaseKeeper, "keep" | "mayBegin" | "asserting">;
  readonly post: Post;
  readonly secrets: Secrets;
  readonly host: SenderHost;
  readonly log: Logger;
  /** An attempt ended: another turn is wanted soon. */
  readonly onEnded: () => void;
}

interface Flight {
  readonly webhookId: number;
  readonly state: ReceiverState;
}

/** Free places of one turn. */
class FreeSlots {
  /** Attempts under way, by webhook. */
  readonly #running = new Map<number, number>();
  readonly #mostOfOne: number;
  #free: number;
  /** Beyond each webhook's first. */
  #extra = EXTRA_PLACES;

  constructor(state: ReceiverState, flights: Iterable<Flight>) {
    this.#free = PLACES[state];
    for (const flight of flights) {
      const count = this.#running.get(flight.webhookId) ?? 0;
      this.#running.set(flight.webhookId, count + 1);
      if (flight.state === state) this.#free -= 1;
      if (count > 0) this.#extra -= 1;
    }
    this.#mostOfOne = this.#extra > 0 ? PLACES_OF_ONE[state] : 1;
  }

  /** Negative when more attempts are under way than receivers in this state may have. */
  get free(): number {
    return this.#free;
  }

  get mostOfOne(): number {
    return this.#mostOfOne;
  }

  /** Webhooks that have all their places. */
  full(): readonly number[] {
    return [...this.#running].flatMap(([webhookId, count]) => (count >= this.#mostOfOne ? [webhookId] : []));
  }

  /** @param round 0: first places, 1: second ones … */
  isFor(webhookId: number, round: number): boolean {
    return (this.#running.get(webhookId) ?? 0) === round && (round === 0 || this.#extra > 0);
  }

  take(webhookId: number, round: number): void {
    this.#running.set(webhookId, round + 1);
    this.#free -= 1;
    if (round > 0) this.#extra -= 1;
  }
}

export class Sender {
  readonly #outgoing: Outgoing;
  readonly #lease: SenderOptions["lease"];
  readonly #post: Post;
  readonly #secrets: Secrets;
  readonly #host: SenderHost;
  readonly #log: Logger;
  readonly #onEnded: () => void;
  /** Attempts under way or not yet recorded, by delivery. */
  readonly #flights = new Map<number, Flight>();
  readonly #stop = new AbortController();
  readonly #counts = { delivered: 0, failed: 0 };
  #ended: EndedAttempt[] = [];
  #isDraining = false;

  constructor(options: SenderOptions) {
    this.#outgoing = options.outgoing;
    this.#lease = options.lease;
    this.#post = options.post;
    this.#secrets = options.secrets;
    this.#host = options.host;
    this.#log = options.log;
    this.#onEnded = options.onEnded;
    // Each attempt listens.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Attempts under way or not yet recorded. */
  get inFlight(): number {
    return this.#flights.size;
  }

  /** Attempts recorded so far, by result. */
  get counts(): Readonly<Record<"delivered" | "failed", number>> {
    return this.#counts;
  }

  /** One look at everything; rejects when the store is away. */
  async turn(): Promise<void> {
    const epoch = await this.#lease.keep();
    if (epoch === undefined) return this.#forgetEnded();
    try {
      await this.#record(epoch);
      await this.#lease.asserting(() => this.#outgoing.cancelOrphans(epoch, this.#nowMs()));
      await this.#fanOutAll(epoch);
      for (const state of RECEIVER_STATES) await this.#fill(state);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.#log.warn("another process sends webhooks now");
      this.#forgetEnded();
    }
  }

  /** Stores the results of ended attempts. */
  async #record(epoch: number): Promise<void> {
    while (this.#ended.length > 0) {
      const batch = this.#ended.slice(0, RECORD_ATTEMPTS);
      const recorded = await this.#lease.asserting(() => this.#outgoing.record(epoch, batch));
      this.#ended = this.#ended.slice(batch.length);
      for (const { deliveryId } of batch) this.#flights.delete(deliveryId);
      for (const { webhookId, off, state } of recorded) {
        this.#counts[state === "delivered" ? "delivered" : "failed"] += 1;
        if (off !== null) this.#log.warn({ webhookId, reason: off }, "a webhook is switched off");
      }
      await this.#host.breathe();
    }
  }

  /** The next holder sends what was not recorded. */
  #forgetEnded(): void {
    for (const { deliveryId } of this.#ended) this.#flights.delete(deliveryId);
    this.#ended = [];
  }

  /** Turns all waiting events into deliveries. */
  async #fanOutAll(epoch: number): Promise<void> {
    let taken = 1;
    while (taken > 0 && this.#mayBegin()) {
      const nowMs = this.#nowMs();
      taken = await this.#lease.asserting(() => this.#outgoing.fanOut(epoch, { limit: FAN_OUT_EVENTS, nowMs }));
      await this.#host.breathe();
    }
  }

  /** Begins attempts of due deliveries, as many as there are places. */
  async #fill(state: ReceiverState): Promise<void> {
    if (this.#isDraining) return;
    const places = new FreeSlots(state, this.#flights.values());
    if (places.free <= 0) return;
    const due = await this.#outgoing.due({
      nowMs: this.#host.clocks.wallNowMs(),
      failing: state === "failing",
      perWebhook: places.mostOfOne,
      webhooks: places.free,
      except: places.full(),
    });
    const waiting = due.filter(({ id }) => !this.#flights.has(id));
    // The first of each before the second of any.
    for (let round = 0; round < places.mostOfOne; round += 1) {
      for (const delivery of waiting) {
        if (this.#flights.has(delivery.id) || !places.isFor(delivery.webhookId, round)) continue;
        if (places.free === 0 || !this.#mayBegin()) return;
        places.take(delivery.webhookId, round);
        this.#flights.set(delivery.id, { webhookId: delivery.webhookId, state });
        void this.#send(delivery);
      }
    }
  }

  async #send(delivery: DueDelivery): Promise<void> {
    const { clocks } = this.#host;
    const atMs = this.#nowMs();
    const startedAtMs = clocks.monotonicNowMs();
    const outcome = await this.#attempt(delivery, atMs);
    if (this.#stop.signal.aborted) return;
    const { id: deliveryId, webhookId } = delivery;
    const durationMs = Math.max(0, clocks.monotonicNowMs() - startedAtMs);
    this.#ended.push({ deliveryId, webhookId, atMs, durationMs, random: this.#host.random(), ...outcome });
    this.#onEnded();
  }

  async #attempt(delivery: DueDelivery, nowMs: number): Promise<PostOutcome> {
    let headers: Readonly<Record<string, string>>;
    let url: string;
    try {
      ({ headers, url } = openedOf(delivery, nowMs, this.#secrets));
    } catch (error) {
      this.#log.error({ err: error, webhookId: delivery.webhookId }, "a webhook's secret does not open");
      return { statusCode: null, error: "the webhook's secret does not open" };
    }
    return this.#post(url, headers, delivery.body, delivery.projectId, this.#stop.signal);
  }

  /** Begins no further attempt. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends running attempts without storing a result: the next sender sends them again. */
  abort(): void {
    this.#stop.abort();
  }

  /** An attempt that begins now, and its record, end before another process can send. */
  #mayBegin(): boolean {
    return this.#lease.mayBegin(ATTEMPT_MS);
  }

  /** Unix ms, whole. */
  #nowMs(): number {
    return Math.round(this.#host.clocks.wallNowMs());
  }
}

/** What is sent where. @throws StoreError when a secret or the address does not open */
function openedOf(
  { body, eventId, secretsSealed, url, urlSealed, webhookId }: DueDelivery,
  nowMs: number,
  secrets: Secrets,
) {
  const keys = secretsSealed.map((sealed) => webhookKey(secrets.open(SEALED_CELLS.webhook(webhookId), sealed)));
  const headers = headersOf({ id: eventId, body, keys }, nowMs);
  // The address is not sealed yet, or a process of an earlier version wrote it.
  const isWhole = urlSealed === null || url !== receiverAddress(url);
  return { headers, url: isWhole ? url : secrets.open(SEALED_CELLS.webhookUrl(webhookId), urlSealed) };
}
