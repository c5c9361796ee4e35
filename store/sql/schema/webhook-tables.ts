/** Tables of webhooks, what is sent to them, and its attempts; tables.ts has THE LIST. */
import type { EventType } from "../../../model/event.ts";
import type { DeliveryState, OffReason } from "../../../model/webhook.ts";
import { SEALED_CELLS } from "../../sealed-cells.ts";
import { bigint, flag, float, id, int, json, nullable, prose, sealed, storeOnly, table, text } from "./column.ts";

export const WEBHOOKS = table("webhooks", {
  id: id(),
  project_id: bigint(),
  /** As it is shown; in clear where `url_sealed` is null. */
  url: text(),
  secret_sealed: storeOnly(sealed(SEALED_CELLS.webhook, text())),
  /** Signs as well until then. */
  old_secret_sealed: storeOnly(nullable(sealed(SEALED_CELLS.webhook, text()))),
  old_secret_until_ms: storeOnly(nullable(bigint())),
  url_sealed: storeOnly(nullable(sealed(SEALED_CELLS.webhookUrl, text()))),
  /** null: every type. */
  events: nullable(json<readonly EventType[]>()),
  active: flag(),
  off_reason: nullable(text<OffReason>()),
  off_at_ms: nullable(bigint()),
  /** The first failure since the last success. */
  failing_since_ms: nullable(bigint()),
  last_success_at_ms: nullable(bigint()),
  /** The earliest next attempt of its deliveries; null when none waits. */
  next_due_at_ms: storeOnly(nullable(bigint())),
  created_at_ms: bigint(),
});

export const WEBHOOK_DELIVERIES = table("webhook_deliveries", {
  id: id(),
  webhook_id: storeOnly(bigint()),
  /** The same for every webhook and every attempt of one event. */
  event_id: text(),
  type: text<EventType>(),
  body: storeOnly(text()),
  /** The incident that it is about: its events say whether the alert arrived. */
  incident_id: storeOnly(nullable(bigint())),
  state: text<DeliveryState>(),
  attempts: storeOnly(int()),
  /** null: it has ended. */
  next_attempt_at_ms: nullable(bigint()),
  created_at_ms: bigint(),
  ended_at_ms: nullable(bigint()),
});

export const WEBHOOK_ATTEMPTS = table("webhook_attempts", {
  id: storeOnly(id()),
  delivery_id: storeOnly(bigint()),
  at_ms: bigint(),
  status_code: nullable(int()),
  error: nullable(prose()),
  duration_ms: float(),
});
