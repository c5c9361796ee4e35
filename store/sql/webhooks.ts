/** Webhooks as the operator sees them; outgoing.ts is the sender's side. */
import type { Selectable } from "kysely";
import type { EventType } from "../../model/event.ts";
import { receiverAddress } from "../../model/web-address.ts";
import type { DeliveryState, OffReason } from "../../model/webhook.ts";
import type { Database, Session } from "./database.ts";
import { appendEvents } from "./outbox.ts";
import type { WebhookDelivery, WebhookRecord, Webhooks } from "./ports/webhooks.ts";
import { NOT_SEALED_YET, sealedFor } from "./seal-new.ts";
import type { WebhookTable } from "./tables.ts";
import { fromJson, toJson } from "./text.ts";

export function createWebhooks({ read, write }: Database): Webhooks {
  return {
    create: (input) => write((session) => create(session, input)),
    find: (id) => find(read, id),
    async list(projectId) {
      const { kysely } = read;
      const project = await kysely.selectFrom("projects").select("id").where("id", "=", projectId).executeTakeFirst();
      if (project === undefined) return undefined;
      const ofProject = kysely.selectFrom("webhooks").selectAll().where("project_id", "=", projectId);
      return (await ofProject.orderBy("id").execute()).map(toWebhook);
    },
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

async function create(session: Session, input: Parameters<Webhooks["create"]>[0]): Promise<WebhookRecord | undefined> {
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
    id: row.id,
    eventId: row.event_id,
    type: row.type as EventType,
    state: row.state as DeliveryState,
    createdAtMs: row.created_at_ms,
    endedAtMs: row.ended_at_ms,
    nextAttemptAtMs: row.next_attempt_at_ms,
    attempts: attempts
      .filter((attempt) => attempt.delivery_id === row.id)
      .map((attempt) => ({
        atMs: attempt.at_ms,
        statusCode: attempt.status_code,
        error: attempt.error,
        durationMs: attempt.duration_ms,
      })),
  }));
}

function toWebhook(row: Selectable<WebhookTable>): WebhookRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    url: receiverAddress(row.url),
    events: row.events === null ? null : fromJson<EventType[]>(row.events),
    active: row.active === 1,
    offReason: row.off_reason as OffReason | null,
    offAtMs: row.off_at_ms,
    failingSinceMs: row.failing_since_ms,
    lastSuccessAtMs: row.last_success_at_ms,
    createdAtMs: row.created_at_ms,
  };
}
