/** Webhooks as their project's editors see them (docs/api-contract.md#webhooks). */
import { z } from "zod";
import { EVENT_TYPES } from "../../model/event.ts";
import { DELIVERY_STATES, OFF_REASONS } from "../../model/webhook.ts";
import { id, iso, total, warnings, wholeOrNull } from "./words.ts";

export const webhookEvents = z.array(z.enum(EVENT_TYPES)).min(1).max(100).nullable();

const webhookFields = {
  id: z.int(),
  project_id: id("prj_"),
  url: z.string().describe("Scheme and host: the rest is a password in most services"),
  events: webhookEvents.describe("null: every type, those of later versions included"),
  active: z.boolean(),
  off_reason: z.enum(OFF_REASONS).nullable(),
  off_at: iso.nullable(),
  failing_since: iso.nullable(),
  last_success_at: iso.nullable(),
  created_at: iso,
};
const secret = z
  .string()
  .describe("Shown once")
  .meta({ examples: ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="] });

export const webhook = z.strictObject({ ...webhookFields, warnings }).meta({ id: "Webhook" });
export const createdWebhook = z.strictObject({ ...webhookFields, secret, warnings }).meta({ id: "CreatedWebhook" });
export const webhookList = z.strictObject({ webhooks: z.array(webhook), total }).meta({ id: "WebhookList" });
export const rotatedWebhook = z
  .strictObject({
    id: z.int(),
    secret,
    old_secret_until: iso.describe("Until then the one before signs too"),
    warnings,
  })
  .meta({ id: "RotatedWebhook" });
export const webhookQueued = z
  .strictObject({ id: z.int(), queued: z.literal(true), warnings })
  .meta({ id: "WebhookQueued" });
export const deletedWebhook = z.strictObject({ success: z.literal(true), id: z.int() }).meta({ id: "DeletedWebhook" });

const attempt = z
  .strictObject({
    at: iso,
    status_code: wholeOrNull,
    error: z.string().nullable(),
    duration_ms: z.int().min(0),
  })
  .meta({ id: "WebhookAttempt" });
const delivery = z
  .strictObject({
    id: z.string().describe("The `webhook-id` of each attempt"),
    type: z.enum(EVENT_TYPES),
    state: z.enum(DELIVERY_STATES),
    created_at: iso,
    ended_at: iso.nullable(),
    next_attempt_at: iso.nullable(),
    attempts: z.array(attempt).describe("Oldest first"),
  })
  .meta({ id: "WebhookDelivery" });
export const deliveryList = z
  .strictObject({ webhook_id: z.int(), deliveries: z.array(delivery), total })
  .meta({ id: "WebhookDeliveryList" });
