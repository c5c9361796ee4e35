/**
 * The sender at work, on the main thread of a process that schedules: it waits for receivers nearly all of the time, and neither the
 * thread that turns the wheel nor a prober ever waits for it, however many receivers hang.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { EngineOptions } from "../../engine/options.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { SEALED_FOR, type Sealing } from "../../store/sealing.ts";
import type { ControlPlane } from "../../store/sql/control-plane.ts";
import { SENDER_LEASE } from "../../store/sql/ports/leases.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { createLeaseKeeper } from "./lease.ts";
import { createPost } from "./post.ts";
import { createSender } from "./sender.ts";

/** How often the outbox is looked at, ms: an event's way out begins within it. */
const TURN_MS = 500;
/** How long a stop waits for attempts under way; what has not ended by then is sent again after the next start. */
const DRAIN_MS = 3_000;
const DRAIN_LOOK_MS = 20;

export interface SenderPlace {
  readonly controlPlane: Pick<ControlPlane, "dialect" | "leases" | "outgoing">;
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

export function startSender({ controlPlane, sealing, engine, log, version }: SenderPlace): RunningSender {
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
    open: (sealed) => sealing.open(SEALED_FOR.webhook, sealed),
    clocks: SYSTEM_CLOCKS,
    random: Math.random,
    newEventId: () => `msg_${randomBytes(18).toString("base64url")}`,
    log,
    onEnded: () => turning.request(),
  });
  const turning = oneAtATime(sender.turn, (error) =>
    log.error({ err: error }, "looking for events to send failed and is tried again"),
  );
  const timer = setInterval(turning.request, TURN_MS);
  turning.request();

  return {
    metrics: async () => metricsOf(sender.counts, await controlPlane.outgoing.pending().catch(() => null)),
    async close() {
      clearInterval(timer);
      sender.drain();
      const endAtMs = SYSTEM_CLOCKS.monotonicNowMs() + DRAIN_MS;
      while (sender.inFlight > 0 && SYSTEM_CLOCKS.monotonicNowMs() < endAtMs) {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
      }
      await turning.stop();
      sender.abort();
      await lease
        .release()
        .catch((error: unknown) =>
          log.warn({ err: error }, "the sender's lease is not given back: another process waits for its end"),
        );
    },
  };
}

function metricsOf(counts: Readonly<Record<string, number>>, pending: number | null): string {
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
    ...(pending === null ? [] : waiting),
    "",
  ].join("\n");
}
