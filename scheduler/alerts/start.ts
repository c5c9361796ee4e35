/**
 * The sender at work, on the main thread of a process that schedules: it waits for receivers nearly all of the time, and neither the
 * thread that turns the wheel nor a prober ever waits for it, however many receivers hang.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import type { EngineOptions } from "../../engine/options.ts";
import { createTransport } from "../../engine/transport/index.ts";
import type { Sealing } from "../../store/sealing.ts";
import type { ControlPlane } from "../../store/sql/control-plane.ts";
import { openControlPlane, type SqlPlace } from "../../store/sql/open.ts";
import { SENDER_LEASE } from "../../store/sql/ports/leases.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { createLeaseKeeper, type LeaseKeeper } from "./lease.ts";
import { createPost } from "./post.ts";
import { createSender, type Sender } from "./sender.ts";

/** How often the outbox is looked at, ms: an event's way out begins within it. */
const TURN_MS = 500;
/** How long a stop waits for attempts under way; what has not ended by then is sent again after the next start. */
const DRAIN_MS = 3_000;
const DRAIN_LOOK_MS = 20;

export interface SenderPlace {
  readonly sql: SqlPlace;
  readonly sealing: Pick<Sealing, "open">;
  readonly engine: EngineOptions;
  readonly log: Logger;
  readonly version: string;
}

export interface RunningSender {
  /** Lines for Prometheus. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** What there is once the control plane is open. */
interface Sending {
  readonly controlPlane: ControlPlane;
  readonly lease: LeaseKeeper;
  readonly sender: Sender;
}

export function startSender(place: SenderPlace): RunningSender {
  const { log } = place;
  let sending: Sending | undefined;
  const turning = oneAtATime(
    async () => {
      sending ??= await open(place, () => turning.request());
      await sending.sender.turn();
    },
    (error) => log.error({ err: error }, "looking for events to send failed and is tried again"),
  );
  const timer = setInterval(turning.request, TURN_MS);
  turning.request();

  return {
    async metrics() {
      const pending = await sending?.controlPlane.outgoing.pending().catch(() => undefined);
      return metricsOf(sending?.sender.counts ?? { delivered: 0, failed: 0 }, pending);
    },
    async close() {
      clearInterval(timer);
      sending?.sender.drain();
      const endAtMs = SYSTEM_CLOCKS.monotonicNowMs() + DRAIN_MS;
      while ((sending?.sender.inFlight ?? 0) > 0 && SYSTEM_CLOCKS.monotonicNowMs() < endAtMs) {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
      }
      await turning.stop();
      sending?.sender.abort();
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
 * On a connection of its own, whose commits do not wait for the disk: this thread answers the API. What a power cut takes back is sent
 * once more, under the same id.
 */
async function open({ sql, sealing, engine, log, version }: SenderPlace, onEnded: () => void): Promise<Sending> {
  const controlPlane = await openControlPlane(sql, { role: "sink" });
  const lease = createLeaseKeeper({
    leases: controlPlane.leases,
    name: SENDER_LEASE,
    holder: `${hostname()} ${process.pid} ${randomUUID()}`,
    isSoleOwner: controlPlane.dialect === "sqlite",
    monotonicNowMs: SYSTEM_CLOCKS.monotonicNowMs,
  });
  const sender = createSender({
    outgoing: controlPlane.outgoing,
    lease,
    post: createPost(createTransport(engine), `Sonde/${version} (webhook)`),
    open: (where, sealed) => sealing.open(where, sealed),
    clocks: SYSTEM_CLOCKS,
    random: Math.random,
    breathe: () => setImmediate(),
    log,
    onEnded,
  });
  return { controlPlane, lease, sender };
}

function metricsOf(counts: Readonly<Record<string, number>>, pending: number | undefined): string {
  const attempts = Object.entries(counts).map(
    ([outcome, count]) => `sonde_webhook_attempts_total{outcome="${outcome}"} ${count}`,
  );
  const waiting = [
    "# HELP sonde_webhook_deliveries_pending Webhook deliveries that wait for an attempt",
    "# TYPE sonde_webhook_deliveries_pending gauge",
    `sonde_webhook_deliveries_pending ${pending}`,
  ];
  return [
    "# HELP sonde_webhook_attempts_total Attempts to send webhooks, by what came of them",
    "# TYPE sonde_webhook_attempts_total counter",
    ...attempts,
    // The store is away: no number is better than a wrong one.
    ...(pending === undefined ? [] : waiting),
    "",
  ].join("\n");
}
