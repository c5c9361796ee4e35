/** A webhook and what was sent to it, as the API and the operator's command show them: no secret (docs/api-contract.md#webhooks). */
import { formatId } from "../model/ids.ts";
import { formatIso, isoOrNull } from "../model/time.ts";
import type { WebhookDelivery, WebhookRecord } from "../store/sql/webhooks/port.ts";

export function viewWebhook(webhook: WebhookRecord) {
  return {
    id: webhook.id,
    project_id: formatId("project", webhook.projectId),
    url: webhook.url,
    events: webhook.events,
    active: webhook.active,
    off_reason: webhook.offReason,
    off_at: isoOrNull(webhook.offAtMs),
    failing_since: isoOrNull(webhook.failingSinceMs),
    last_success_at: isoOrNull(webhook.lastSuccessAtMs),
    created_at: formatIso(webhook.createdAtMs),
  };
}

/** Its attempts oldest first. */
export function viewDelivery(delivery: WebhookDelivery) {
  return {
    id: delivery.eventId,
    type: delivery.type,
    state: delivery.state,
    created_at: formatIso(delivery.createdAtMs),
    ended_at: isoOrNull(delivery.endedAtMs),
    next_attempt_at: isoOrNull(delivery.nextAttemptAtMs),
    attempts: delivery.attempts.map((attempt) => ({
      at: formatIso(attempt.atMs),
      status_code: attempt.statusCode,
      error: attempt.error,
      duration_ms: Math.round(attempt.durationMs),
    })),
  };
}
