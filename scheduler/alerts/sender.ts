/**
 * Alerts' sender: decides for groups that are due, and sends the messages that they make. What a message says is read when its attempt
 * begins, and the result of an attempt is stored before the next one; so after a death at most one message is repeated and none is lost.
 *
 *   groups ─due─▶ decided ─▶ messages ─due─▶ a free place ─▶ attempt ─▶ recorded: delivered, tried again later, given up
 *
 * It works under the lease of the webhooks' sender, whose fan-out makes members of events. It has no timer.
 */
import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { Message } from "../../model/alert-message.ts";
import { acknowledgeToken } from "../../model/alerting-acknowledge.ts";
import { SEALED_CELLS, type SealedCell } from "../../store/sealed-cells.ts";
import type { OpenableChannel } from "../../store/sql/alerts/channels-port.ts";
import type { AlertTurns, BegunNotification, DueNotification, EndedNotification } from "../../store/sql/alerts/port.ts";
import { LeaseLost } from "../../store/sql/coordination/leases-port.ts";
import { CLOCK_STEP_MS, type Clocks } from "../clock.ts";
import type { LeaseKeeper } from "../lease.ts";
import { ChannelSlots } from "./channel-slots.ts";
import type { SendOutcome, SendToChannel } from "./channels/channel.ts";
import { messageOf } from "./message.ts";
import { worded } from "./rule-words.ts";

/** Groups of one decision: what is due at once for one rule, and may become one message. */
const GROUPS_AT_ONCE = 500;
/** Attempts and messages of one transaction; our choice: some milliseconds of SQLite, which blocks its thread. */
const RECORDED_AT_ONCE = 16;
const BEGUN_AT_ONCE = 16;
/** Of one turn: what is left is due in the next one. */
const MOST_ROUNDS = 1_000;
/** Of one attempt, ms: the deadline of SendToChannel. */
const ALERT_ATTEMPT_MS = 15_000;
/** How often what is no longer wanted is looked for, ms. */
const TIDY_MS = 60_000;

/** Seals links for acknowledging, opens settings of channels. */
interface AlertSecrets {
  seal(where: string, plaintext: string): string;
  open(where: SealedCell, sealed: string): string;
}

interface AlertSenderOptions {
  readonly turns: AlertTurns;
  readonly lease: Pick<LeaseKeeper, "keep" | "mayBegin" | "asserting">;
  readonly send: SendToChannel;
  readonly secrets: AlertSecrets;
  /** Where the page is; null: messages have no links. */
  readonly base: string | null;
  readonly clocks: Clocks;
  /** 0 to 1, as Math.random(). */
  readonly random: () => number;
  /** Lets other work on this thread run. */
  readonly breathe: () => Promise<void>;
  readonly log: Logger;
  /** An attempt ended: another turn is wanted soon. */
  readonly onEnded: () => void;
}

export class AlertSender {
  readonly #options: AlertSenderOptions;
  readonly #places = new ChannelSlots();
  readonly #stop = new AbortController();
  readonly #counts = { delivered: 0, failed: 0 };
  #ended: EndedNotification[] = [];
  #isDraining = false;
  #tidiedAtMs = Number.NEGATIVE_INFINITY;
  /** How far the wall clock is ahead of the monotonic one. */
  #offsetMs: number | undefined;
  /** Of the lease in the turn before. */
  #epochBefore: number | undefined;

  constructor(options: AlertSenderOptions) {
    this.#options = options;
    // Each attempt listens.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Attempts under way or not yet recorded. */
  get inFlight(): number {
    return this.#places.taken;
  }

  /** Attempts recorded so far, by result. */
  get counts(): Readonly<Record<"delivered" | "failed", number>> {
    return this.#counts;
  }

  /** One look at everything; rejects when the store is away. */
  async turn(): Promise<void> {
    const epoch = await this.#options.lease.keep();
    if (epoch === undefined) return this.#forgetEnded();
    try {
      await this.#record(epoch);
      await this.#lookAtClock(epoch);
      await this.#tidy(epoch);
      // Folds speak last: what is due now joins them before.
      await this.#speak(epoch, false);
      await this.#speak(epoch, true);
      await this.#fill(epoch, false);
      await this.#fill(epoch, true);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.#options.log.warn("another process sends alerts now");
      this.#forgetEnded();
    }
  }

  async #record(epoch: number): Promise<void> {
    const { turns, lease, log, breathe } = this.#options;
    while (this.#ended.length > 0) {
      const batch = this.#ended.slice(0, RECORDED_AT_ONCE);
      const recorded = await lease.asserting(() => turns.record(epoch, batch));
      this.#ended = this.#ended.slice(batch.length);
      for (const { id, delivered } of batch) {
        this.#places.free(id);
        this.#counts[delivered ? "delivered" : "failed"] += 1;
      }
      for (const { channelId, isFailingNow, state } of recorded) {
        if (isFailingNow)
          log.warn({ channelId }, "a channel refuses its messages; the project's other channels are told");
        if (state === "failed") log.warn({ channelId }, "a message is given up after its last attempt");
      }
      await breathe();
    }
  }

  /** The next holder sends what was not recorded. */
  #forgetEnded(): void {
    for (const { id } of this.#ended) this.#places.free(id);
    this.#ended = [];
  }

  /** Times that were written while the clock was ahead, or by a process whose clock is, would keep everything waiting. */
  async #lookAtClock(epoch: number): Promise<void> {
    const { clocks, turns, lease, log } = this.#options;
    const offsetMs = clocks.wallNowMs() - clocks.monotonicNowMs();
    const steppedMs = offsetMs - (this.#offsetMs ?? offsetMs);
    const isTakenOver = epoch !== this.#epochBefore;
    if (steppedMs < -CLOCK_STEP_MS || (isTakenOver && (await turns.isAhead(this.#nowMs() + CLOCK_STEP_MS)))) {
      log.warn({ steppedMs: Math.round(steppedMs) }, "the clock went back: alerts that wait are looked at again");
      await lease.asserting(() => turns.clockWentBack(epoch, this.#nowMs()));
    }
    this.#offsetMs = offsetMs;
    this.#epochBefore = epoch;
  }

  async #tidy(epoch: number): Promise<void> {
    const { clocks, turns, lease } = this.#options;
    const nowMs = clocks.monotonicNowMs();
    if (nowMs - this.#tidiedAtMs < TIDY_MS) return;
    await lease.asserting(() => turns.tidy(epoch, this.#nowMs()));
    this.#tidiedAtMs = nowMs;
  }

  async #speak(epoch: number, folds: boolean): Promise<void> {
    const { turns, lease, breathe } = this.#options;
    const nowMs = this.#nowMs();
    for (let round = 0; round < MOST_ROUNDS && lease.mayBegin(ALERT_ATTEMPT_MS); round += 1) {
      const count = await lease.asserting(() => turns.speak(epoch, { nowMs, limit: GROUPS_AT_ONCE, folds, breathe }));
      if (count === 0) return;
      await breathe();
    }
  }

  /** Begins attempts of messages that are due, as many as there are places. */
  async #fill(epoch: number, failing: boolean): Promise<void> {
    const { turns, lease, breathe } = this.#options;
    const limit = this.#places.left(failing);
    if (this.#isDraining || limit <= 0) return;
    const { perChannel, underWay } = this.#places;
    const except = this.#places.full(failing);
    const due = await turns.due({ nowMs: this.#nowMs(), failing, perChannel, limit, except, underWay });
    const begun: DueNotification[] = [];
    // The store lists first places of all channels before second ones.
    for (const one of due) if (this.#places.take(one, failing)) begun.push(one);
    for (let from = 0; from < begun.length; from += BEGUN_AT_ONCE) {
      const some = begun.slice(from, from + BEGUN_AT_ONCE);
      await this.#begin(epoch, some);
      await breathe();
      if (!lease.mayBegin(ALERT_ATTEMPT_MS)) return this.#giveBack(begun.slice(from + BEGUN_AT_ONCE));
    }
  }

  #giveBack(some: readonly DueNotification[]): void {
    for (const { id } of some) this.#places.free(id);
  }

  async #begin(epoch: number, some: readonly DueNotification[]): Promise<void> {
    const { turns, lease, breathe } = this.#options;
    const ids = some.map(({ id }) => id);
    try {
      if (!lease.mayBegin(ALERT_ATTEMPT_MS)) return this.#giveBack(some);
      const begun = await lease.asserting(() => turns.begin(epoch, ids, { nowMs: this.#nowMs(), breathe }));
      const started = new Set(begun.map(({ id }) => id));
      this.#giveBack(some.filter(({ id }) => !started.has(id)));
      for (const one of begun) {
        void this.#send(one);
        // A message about thousands takes some milliseconds to make.
        await breathe();
      }
    } catch (error) {
      this.#giveBack(some);
      throw error;
    }
  }

  async #send(begun: BegunNotification): Promise<void> {
    const { clocks, random, onEnded } = this.#options;
    const atMs = this.#nowMs();
    const startedAtMs = clocks.monotonicNowMs();
    const { outcome, shown } = await this.#attempt(begun, atMs);
    if (this.#stop.signal.aborted) return;
    const durationMs = Math.max(0, clocks.monotonicNowMs() - startedAtMs);
    const common = { id: begun.id, channelId: begun.channel.id, atMs, durationMs, shown, random: random() };
    const { statusCode } = outcome;
    this.#ended.push(
      outcome.delivered
        ? {
            ...common,
            statusCode,
            delivered: true,
            permanent: false,
            retryAfterMs: null,
            error: outcome.refusal ?? null,
            reference: outcome.reference,
          }
        : {
            ...common,
            statusCode,
            delivered: false,
            permanent: outcome.permanent,
            retryAfterMs: outcome.retryAfterMs,
            error: outcome.error,
            reference: outcome.left ?? null,
          },
    );
    onEnded();
  }

  async #attempt(
    begun: BegunNotification,
    nowMs: number,
  ): Promise<{ readonly outcome: SendOutcome; readonly shown: string }> {
    const { send, log } = this.#options;
    const message = await this.#messageOf(begun, nowMs);
    const context = {
      notificationId: begun.messageKey,
      nowMs,
      previous: begun.previous,
      projectId: begun.projectId,
      left: begun.left,
    };
    try {
      const channel = { kind: begun.channel.kind, settings: this.#openedOf(begun.channel) };
      return { outcome: await send(channel, message, context, this.#stop.signal), shown: message.title };
    } catch (error) {
      log.error({ err: error, channelId: begun.channel.id }, "a channel's settings do not open");
      const failed = { delivered: false, statusCode: null, retryAfterMs: null, permanent: true } as const;
      return { outcome: { ...failed, error: "the channel's settings do not open" }, shown: message.title };
    }
  }

  async #messageOf(begun: BegunNotification, nowMs: number): Promise<Message> {
    const { base, secrets, log, breathe } = this.#options;
    const token = base === null ? null : acknowledgeToken(secrets, begun, nowMs);
    const links = { base, acknowledge: token === null ? null : `${base}/ack/${token}` };
    const ours = await messageOf(begun, { ...links, nowMs }, breathe);
    const { message, fault } = worded(ours, begun.template);
    if (fault !== null)
      log.warn({ groupId: begun.groupId, reason: fault }, "a rule's words cannot be made; ours are sent");
    return message;
  }

  #openedOf({ id, settings, sealed }: OpenableChannel): Record<string, unknown> {
    if (sealed === null) return { ...settings };
    const opened = JSON.parse(this.#options.secrets.open(SEALED_CELLS.channel(id), sealed)) as Record<string, unknown>;
    return { ...settings, ...opened };
  }

  /** Begins no further attempt. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends running attempts without storing a result: the next sender sends them again. */
  abort(): void {
    this.#stop.abort();
  }

  /** Unix ms, whole. */
  #nowMs(): number {
    return Math.round(this.#options.clocks.wallNowMs());
  }
}
