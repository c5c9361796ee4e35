/** Webhooks as the operator sees them; outgoing.ts is the sender's side. */

import { receiverAddress } from "../../../model/web-address.ts";
import type { OffReason } from "../../../model/webhook.ts";
import type { Database, Session } from "../db/database.ts";
import { holdProject } from "../db/hold-project.ts";
import { appendEvents } from "../events/outbox.ts";
import { decoder } from "../schema/column.ts";
import { NOT_SEALED_YET, sealedFor } from "../schema/seal-new.ts";
import type { Row } from "../schema/tables.ts";
import { toJson } from "../schema/text.ts";
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOKS } from "../schema/webhook-tables.ts";
import type { NewWebhook, WebhookDelivery, WebhookRecord, Webhooks } from "./port.ts";

const decode = decoder(WEBHOOKS);
const toDelivery = decoder(WEBHOOK_DELIVERIES);
const toAttempt = decoder(WEBHOOK_ATTEMPTS);

export function createWebhooks({ read, write }: Database): Webhooks {
  return {
    create: (input) => write((session) => create(session, input)),
    createWithin: (most, input) =>
      write(async (session) => ((await countHeld(session, input.projectId)) >= most ? "full" : create(session, input))),
    find: (id) => find(read, id),
    async list(projectId) {
      const { kysely } = read;
      const project = await kysely.selectFrom("projects").select("id").where("id", "=", projectId).executeTakeFirst();
      if (project === undefined) return undefined;
      const ofProject = kysely.selectFrom("webhooks").selectAll().where("project_id", "=", projectId);
      return (await ofProject.orderBy("id").execute()).map(toWebhook);
    },
    update: (id, { url, urlSealed, events }) =>
      write(async (session) => {
        const columns = {
          ...(url !== undefined && { url, url_sealed: urlSealed ?? null }),
          ...(events !== undefined && { events: events === null ? null : toJson(events) }),
        };
        if (Object.keys(columns).length > 0)
          await session.kysely.updateTable("webhooks").set(columns).where("id", "=", id).execute();
        return find(session, id);
      }),
    rotate: (id, secretSealed, oldUntilMs) =>
      write(async (session) => {
        await session.kysely
          .updateTable("webhooks")
          .set((of) => ({
            old_secret_sealed: of.ref("secret_sealed"),
            old_secret_until_ms: oldUntilMs,
            secret_sealed: secretSealed,
          }))
          .where("id", "=", id)
          .execute();
        return find(session, id);
      }),
    setActive: (id, active, nowMs) =>
      write(async (session) => {
        if (active) await switchOn(session, id);
        else await switchOff(session, id, "operator", nowMs);
        return find(session, id);
      }),
    remove: (id) =>
      write(async (session) => {
        // Its deliveries and attempts go with it (on delete cascade).
        const gone = await session.kysely.deleteFrom("webhooks").where("id", "=", id).returning("id").execute();
        return gone.length > 0;
      }),
    test: (id, nowMs) =>
      write(async (session) => {
        const webhook = await find(session, id);
        if (webhook?.active !== true) return false;
        const event = { type: "webhook.test", projectId: webhook.projectId, atMs: nowMs, data: {} } as const;
        await appendEvents(session, [event], id);
        return true;
      }),
    deliveries: (id, limit) => deliveries(read, id, limit),
  };
}

/** Webhooks of the project, which is held. */
async function countHeld(session: Session, projectId: number): Promise<number> {
  await holdProject(session, projectId);
  const { count } = await session.kysely
    .selectFrom("webhooks")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .executeTakeFirstOrThrow();
  return count;
}

async function create(session: Session, input: NewWebhook): Promise<WebhookRecord | undefined> {
  const { kysely } = session;
  const ofProject = kysely.selectFrom("projects").where("id", "=", input.projectId);
  if ((await ofProject.select("id").executeTakeFirst()) === undefined) return undefined;
  const row = await kysely
    .insertInto("webhooks")
    .values({
      project_id: input.projectId,
      url: input.url,
      url_sealed: null,
      secret_sealed: NOT_SEALED_YET,
      events: input.events === null ? null : toJson(input.events),
      active: 1,
      created_at_ms: input.nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const { urlSealed, secretSealed } = input;
  await kysely
    .updateTable("webhooks")
    .set({
      secret_sealed: sealedFor(row.id, secretSealed),
      url_sealed: urlSealed === undefined ? null : sealedFor(row.id, urlSealed),
    })
    .where("id", "=", row.id)
    .execute();
  return toWebhook(row);
}

async function find(session: Session, id: number): Promise<WebhookRecord | undefined> {
  const row = await session.kysely.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toWebhook(row);
}

async function switchOn(session: Session, id: number): Promise<void> {
  await session.kysely
    .updateTable("webhooks")
    .set({ active: 1, off_reason: null, off_at_ms: null, failing_since_ms: null })
    .where("id", "=", id)
    .where("active", "=", 0)
    .execute();
}

/** What waits is cancelled. One that is off already keeps its reason. */
export async function switchOff(session: Session, id: number, reason: OffReason, nowMs: number): Promise<void> {
  const off = await session.kysely
    .updateTable("webhooks")
    .set({ active: 0, off_reason: reason, off_at_ms: nowMs })
    .where("id", "=", id)
    .where("active", "=", 1)
    .returning("id")
    .execute();
  if (off.length > 0) await cancelDeliveries(session, id, nowMs);
}

export async function cancelDeliveries(session: Session, webhookId: number, nowMs: number): Promise<void> {
  const { kysely } = session;
  await kysely
    .updateTable("webhook_deliveries")
    .set({ state: "cancelled", next_attempt_at_ms: null, ended_at_ms: nowMs })
    .where("webhook_id", "=", webhookId)
    .where("next_attempt_at_ms", "is not", null)
    .execute();
  await kysely.updateTable("webhooks").set({ next_due_at_ms: null }).where("id", "=", webhookId).execute();
}

async function deliveries(session: Session, webhookId: number, limit: number): Promise<readonly WebhookDelivery[]> {
  const { kysely } = session;
  const rows = await kysely
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("webhook_id", "=", webhookId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return [];
  const ofThem = kysely.selectFrom("webhook_attempts").selectAll().where("delivery_id", "in", ids);
  const attempts = await ofThem.orderBy("id").execute();
  return rows.map((row) => ({
    ...toDelivery(row),
    attempts: attempts.filter((attempt) => attempt.delivery_id === row.id).map(toAttempt),
  }));
}

function toWebhook(row: Row<"webhooks">): WebhookRecord {
  return { ...decode(row), url: receiverAddress(row.url) };
}
