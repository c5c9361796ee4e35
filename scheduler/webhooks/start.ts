/**
 * Starts the sender, on the main thread of a process that schedules. The sender waits for receivers nearly all of the time, so here neither
 * the wheel's thread nor a prober waits for it, however many receivers hang.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import { onTicks } from "../../model/ticks.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import type { Attempts } from "../alerts/attempts/attempts.ts";
import type { SendToChannel } from "../alerts/channels/channel.ts";
import { AlertSender } from "../alerts/sender.ts";
import { type Clocks, SYSTEM_CLOCKS } from "../clock.ts";
import type { LeaseKeeper } from "../lease.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { processLease } from "../process-lease.ts";
import { ALERT_METRICS, SenderMetrics } from "./metrics.ts";
import { createPost } from "./post.ts";
import { Sender } from "./sender.ts";
import { WaitingWork } from "./waiting-work.ts";

/** How often it is looked whether there is something to send, ms; within it, the first attempt of a new event begins. */
const TURN_MS = 500;
/** How long a stop waits for attempts under way; what has not ended by then is sent again after the next start. */
const DRAIN_MS = 3_000;
const DRAIN_LOOK_MS = 20;

export interface SenderOptions {
  readonly sql: SqlLocation;
  readonly sealing: Pick<Sealing, "open" | "seal">;
  readonly send: SendToChannel;
  /** Where the page is, for links in messages; null: they have none. */
  readonly base: string | null;
  readonly attempts: Attempts;
  readonly log: Logger;
  readonly version: string;
  readonly clocks?: Clocks | undefined;
}

export interface RunningSender {
  /** Lines for Prometheus. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** What exists once the control plane is open. */
interface Sending {
  readonly controlPlane: ControlPlane;
  readonly lease: LeaseKeeper;
  readonly sender: Sender;
  readonly alerts: AlertSender;
  readonly work: WaitingWork;
}

export function startSender(options: SenderOptions): RunningSender {
  const { log } = options;
  const metrics = new SenderMetrics();
  const alertMetrics = new SenderMetrics(ALERT_METRICS);
  let sending: Sending | undefined;
  const turning = oneAtATime(
    async () => {
      sending ??= await open(options, () => turning.request());
      const { sender, alerts, lease, work } = sending;
      const isIdle = sender.inFlight + alerts.inFlight === 0;
      if (isIdle && !(await work.isDue(await lease.keep()))) return;
      // Its fan-out joins the groups that the alert sender sends for. A fault of one does not stop the other.
      await sender.turn().finally(() => alerts.turn());
      work.turned();
    },
    (error) => log.error({ err: error }, "looking for events to send failed and is tried again"),
  );
  const stopTurning = onTicks(TURN_MS, turning.request);
  turning.request();

  return {
    async metrics() {
      const pending = await sending?.controlPlane.outgoing.pending().catch(() => undefined);
      const waiting = await sending?.controlPlane.alertTurns.pending().catch(() => undefined);
      const none = { delivered: 0, failed: 0 };
      const texts = [
        metrics.text(sending?.sender.counts ?? none, pending),
        alertMetrics.text(sending?.alerts.counts ?? none, waiting),
      ];
      return (await Promise.all(texts)).join("");
    },
    async close() {
      stopTurning();
      sending?.sender.drain();
      sending?.alerts.drain();
      const inFlight = (): number => (sending === undefined ? 0 : sending.sender.inFlight + sending.alerts.inFlight);
      const endAtMs = SYSTEM_CLOCKS.monotonicNowMs() + DRAIN_MS;
      while (inFlight() > 0 && SYSTEM_CLOCKS.monotonicNowMs() < endAtMs) {
        await pause(DRAIN_LOOK_MS);
      }
      await turning.stop();
      sending?.sender.abort();
      sending?.alerts.abort();
      await sending?.lease
        .release()
        .catch((error: unknown) =>
          log.warn({ err: error }, "the sender's lease is not given back: another process waits for its end"),
        );
      await sending?.controlPlane.close();
    },
  };
}

/**
 * The sender has a separate connection, whose commits do not wait for the disk, because this thread answers the API. After a power cut the
 * last commits may be lost; their attempts are made once more, under the same id.
 */
async function open(options: SenderOptions, onEnded: () => void): Promise<Sending> {
  const { sql, sealing, attempts, log, version, send, base, clocks = SYSTEM_CLOCKS } = options;
  const controlPlane = await openControlPlane(sql, { role: "sink" });
  const lease = processLease(controlPlane, SENDER_LEASE, randomUUID());
  const sender = new Sender({
    outgoing: controlPlane.outgoing,
    lease,
    post: createPost(attempts, `Sonde/${version} (webhook)`),
    secrets: sealing,
    host: { clocks, random: Math.random, breathe: () => setImmediate() },
    log,
    onEnded,
  });
  const alerts = new AlertSender({
    ...{ turns: controlPlane.alertTurns, lease, send, secrets: sealing, base, clocks, log, onEnded },
    random: Math.random,
    breathe: () => setImmediate(),
  });
  return { controlPlane, lease, sender, alerts, work: new WaitingWork(controlPlane, clocks) };
}
