/** Events on their way out: the sender's transactions. Each asserts that the sender still holds its lease. */

import { SYSTEM_ACTOR } from "../../../model/actor.ts";
import { type EventType, incidentOfData } from "../../../model/event.ts";
import { formatId } from "../../../model/ids.ts";
import { formatIso } from "../../../model/time.ts";
import { type AttemptJudgement, judgeAttempt, wantsEvent } from "../../../model/webhook.ts";
import { joinAlerts, type OutgoingEvent } from "../alerts/joining.ts";
import { assertLease } from "../coordination/leases.ts";
import { SENDER_LEASE } from "../coordination/leases-port.ts";
import { insertInChunks } from "../db/bulk.ts";
import { type Database, type Session, type Statement, statement } from "../db/database.ts";
import { addEventToIncident } from "../incidents/events.ts";
import type { Row } from "../schema/tables.ts";
import { fromJson, storableOrNull, toJson } from "../schema/text.ts";
import type { DueDelivery, EndedAttempt, Outgoing, RecordedAttempt } from "./port.ts";
import { cancelDeliveries, switchOff } from "./webhooks.ts";

/** Deliveries of a webhook that are kept after they ended, with their attempts; our choice: some days of an ordinary project. */
const LOG_KEPT = 200;
/** About this many deliveries are written in one transaction, which is synchronous on SQLite. */
const DELIVERIES_AT_ONCE = 1_000;

/** The oldest due deliveries of each webhook in a JSON list. */
const DUE: Statement = {
  name: "sonde_webhooks_due",
  sqlite: `select d.id, d.webhook_id, w.project_id, d.event_id, d.body, d.attempts, w.url, w.url_sealed, w.secret_sealed, w.old_secret_sealed,
      w.old_secret_until_ms
    from webhooks w join webhook_deliveries d on d.id in (
      select x.id from webhook_deliveries x where x.webhook_id = w.id and x.next_attempt_at_ms <= ?
      order by x.next_attempt_at_ms, x.id limit ?)
    where w.id in (select value from json_each(?)) order by d.next_attempt_at_ms, d.id`,
  postgres: `select d.id, d.webhook_id, w.project_id, d.event_id, d.body, d.attempts, w.url, w.url_sealed, w.secret_sealed, w.old_secret_sealed,
      w.old_secret_until_ms
    from webhooks w cross join lateral (
      select x.* from webhook_deliveries x where x.webhook_id = w.id and x.next_attempt_at_ms <= $1
      order by x.next_attempt_at_ms, x.id limit $2) d
    where w.id in (select value::bigint from json_array_elements_text($3::json)) order by d.next_attempt_at_ms, d.id`,
};

/** Some hundred attempts may end in the same moment. Their statements are prepared, because building each one would block the API. */
const ADD_ATTEMPT = statement(
  "add_attempt",
  "insert into webhook_attempts (delivery_id, at_ms, status_code, error, duration_ms) values (?, ?, ?, ?, ?)",
);
const END_DELIVERY = statement(
  "end_delivery",
  "update webhook_deliveries set state = ?, attempts = ?, next_attempt_at_ms = ?, ended_at_ms = ? where id = ?",
);
const END_WEBHOOK = statement(
  "end_webhook",
  "update webhooks set failing_since_ms = ?, last_success_at_ms = ? where id = ?",
);
const FORGET_EVENTS = {
  sqlite: statement("forget_events", "delete from outbox where id in (select value from json_each(?))"),
  postgres: statement(
    "forget_events",
    "delete from outbox where id in (select value::bigint from json_array_elements_text(?::json))",
  ),
};
const TRIM_LOG = statement(
  "trim_deliveries",
  `delete from webhook_deliveries where webhook_id = ? and next_attempt_at_ms is null
     and id < (select id from webhook_deliveries where webhook_id = ? order by id desc limit 1 offset ${LOG_KEPT - 1})`,
);

const NEXT = statement(
  "webhooks_next",
  `select case when exists (select 1 from outbox) or exists (
      select 1 from webhooks w join projects p on p.id = w.project_id where w.next_due_at_ms is not null and p.active = 0)
    then 0 else (select min(next_due_at_ms) from webhooks where next_due_at_ms is not null) end as at_ms`,
);

interface DueRow {
  readonly id: number;
  readonly webhook_id: number;
  readonly project_id: number;
  readonly event_id: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly url_sealed: string | null;
  readonly secret_sealed: string;
  readonly old_secret_sealed: string | null;
  readonly old_secret_until_ms: number | null;
}

export function createOutgoing({ read, write }: Database): Outgoing {
  return {
    async fanOut(epoch, options) {
      // Looked at several times a second: a transaction is only made when there is something to take.
      const waiting = await read.kysely.selectFrom("outbox").select("id").limit(1).execute();
      return waiting.length === 0 ? 0 : write((session) => fanOut(session, epoch, options));
    },
    due: (options) => due(read, options),
    record: (epoch, ended) => write((session) => record(session, epoch, ended)),
    async cancelOrphans(epoch, nowMs) {
      const ids = await orphans(read);
      if (ids.length === 0) return;
      await write(async (session) => {
        await assertLease(session, SENDER_LEASE, epoch);
        for (const id of ids) await cancelDeliveries(session, id, nowMs);
      });
    },
    async nextAtMs() {
      return (await read.query<{ at_ms: number | null }>(NEXT))[0]?.at_ms ?? null;
    },
    async pending() {
      const waiting = read.kysely.selectFrom("webhook_deliveries").where("next_attempt_at_ms", "is not", null);
      return (await waiting.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
  };
}

async function fanOut(
  session: Session,
  epoch: number,
  { limit, nowMs }: Parameters<Outgoing["fanOut"]>[1],
): Promise<number> {
  await assertLease(session, SENDER_LEASE, epoch);
  const { kysely } = session;
  const oldest = await kysely.selectFrom("outbox").selectAll().orderBy("id").limit(limit).execute();
  if (oldest.length === 0) return 0;
  const listeners = await listenersOf(session, [...new Set(oldest.map((event) => event.project_id))]);
  // A project with hundreds of webhooks gets its events in smaller portions.
  const events = oldest.slice(0, Math.max(1, Math.floor(DELIVERIES_AT_ONCE / Math.max(1, listeners.length))));
  const rows = events.flatMap((event) => {
    const type = event.type as EventType;
    const data = fromJson<Record<string, unknown>>(event.data);
    const wanting = listeners.filter(
      (one) =>
        one.projectId === event.project_id &&
        (event.webhook_id === null || event.webhook_id === one.id) &&
        wantsEvent(one.events, type),
    );
    return wanting.map((one) => ({
      webhook_id: one.id,
      event_id: event.event_id,
      type,
      body: bodyOf(type, event.at_ms, one.organizationId, event.project_id, data),
      incident_id: incidentOfData(type, data),
      state: "pending" as const,
      attempts: 0,
      next_attempt_at_ms: nowMs,
      created_at_ms: nowMs,
    }));
  });
  await insertInChunks(session, "webhook_deliveries", rows);
  // A webhook's test is for it alone.
  const forAlerts = events.filter((event) => event.webhook_id === null);
  await joinAlerts(session, forAlerts.map(toOutgoing), nowMs);
  await session.query(FORGET_EVENTS[session.dialect], JSON.stringify(events.map((event) => event.id)));
  await refreshDue(session, new Set(rows.map((row) => row.webhook_id)));
  return events.length;
}

function toOutgoing(event: Row<"outbox">): OutgoingEvent {
  const { type, project_id: projectId, at_ms: atMs } = event;
  return { type, projectId, atMs, data: fromJson(event.data) };
}

interface Listener {
  readonly id: number;
  readonly projectId: number;
  readonly organizationId: number;
  readonly events: readonly EventType[] | null;
}

/** Active webhooks of active projects; on PostgreSQL held, so that one that is switched off meanwhile gets no delivery afterwards. */
async function listenersOf(session: Session, projectIds: readonly number[]): Promise<readonly Listener[]> {
  let query = session.kysely
    .selectFrom("webhooks as w")
    .innerJoin("projects as p", "p.id", "w.project_id")
    .select(["w.id", "w.project_id", "w.events", "p.organization_id"])
    .where("w.project_id", "in", projectIds)
    .where("w.active", "=", 1)
    .where("p.active", "=", 1)
    .orderBy("w.id");
  if (session.dialect === "postgres") query = query.forUpdate("w");
  return (await query.execute()).map((row) => ({
    id: row.id,
    projectId: row.project_id,
    organizationId: row.organization_id,
    events: row.events === null ? null : fromJson<EventType[]>(row.events),
  }));
}

/** The bytes that are signed and sent: the same for all attempts (docs/api-contract.md#webhooks). */
function bodyOf(
  type: EventType,
  atMs: number,
  organizationId: number,
  projectId: number,
  data: Readonly<Record<string, unknown>>,
): string {
  return toJson({
    type,
    timestamp: formatIso(atMs),
    data: { organization_id: organizationId, project_id: formatId("project", projectId), ...data },
  });
}

async function refreshDue(session: Session, webhookIds: ReadonlySet<number>): Promise<void> {
  if (webhookIds.size === 0) return;
  await session.kysely
    .updateTable("webhooks")
    .set((of) => ({
      next_due_at_ms: of
        .selectFrom("webhook_deliveries as d")
        .select((min) => min.fn.min("d.next_attempt_at_ms").as("at"))
        .whereRef("d.webhook_id", "=", "webhooks.id")
        .where("d.next_attempt_at_ms", "is not", null),
    }))
    .where("id", "in", [...webhookIds])
    .execute();
}

async function due(session: Session, options: Parameters<Outgoing["due"]>[0]): Promise<readonly DueDelivery[]> {
  let query = session.kysely
    .selectFrom("webhooks")
    .select("id")
    .where("next_due_at_ms", "<=", options.nowMs)
    .where("active", "=", 1)
    .where("failing_since_ms", options.failing ? "is not" : "is", null);
  if (options.except.length > 0) query = query.where("id", "not in", options.except);
  const webhooks = await query.orderBy("next_due_at_ms").orderBy("id").limit(options.webhooks).execute();
  if (webhooks.length === 0) return [];
  const ids = JSON.stringify(webhooks.map((webhook) => webhook.id));
  const rows = await session.query<DueRow>(DUE, options.nowMs, options.perWebhook, ids);
  return rows.map((row) => toDue(row, options.nowMs));
}

function toDue(row: DueRow, nowMs: number): DueDelivery {
  const { old_secret_sealed: old, old_secret_until_ms: until } = row;
  const isOldGood = old !== null && until !== null && nowMs < until;
  return {
    id: row.id,
    webhookId: row.webhook_id,
    projectId: row.project_id,
    eventId: row.event_id,
    body: row.body,
    attempts: row.attempts,
    url: row.url,
    urlSealed: row.url_sealed,
    secretsSealed: isOldGood ? [row.secret_sealed, old] : [row.secret_sealed],
  };
}

/** Webhooks of projects that were switched off: their deliveries are no longer wanted. */
async function orphans(session: Session): Promise<readonly number[]> {
  const rows = await session.kysely
    .selectFrom("webhooks as w")
    .innerJoin("projects as p", "p.id", "w.project_id")
    .select("w.id")
    .where("w.next_due_at_ms", "is not", null)
    .where("p.active", "=", 0)
    .orderBy("w.id")
    .execute();
  return rows.map((row) => row.id);
}

interface SentTo {
  readonly id: number;
  failingSinceMs: number | null;
  lastSuccessAtMs: number | null;
}
interface Sent {
  readonly id: number;
  readonly webhookId: number;
  readonly incidentId: number | null;
  attempts: number;
  isPending: boolean;
}

async function record(
  session: Session,
  epoch: number,
  ended: readonly EndedAttempt[],
): Promise<readonly RecordedAttempt[]> {
  await assertLease(session, SENDER_LEASE, epoch);
  // Locks the webhook before its deliveries: the same order as the transaction that switches a webhook off.
  const webhooks = await sentTo(session, [...new Set(ended.map((attempt) => attempt.webhookId))]);
  const deliveries = await sent(session, [...new Set(ended.map((attempt) => attempt.deliveryId))]);
  const recorded: RecordedAttempt[] = [];
  for (const attempt of ended) {
    const webhook = webhooks.get(attempt.webhookId);
    const delivery = deliveries.get(attempt.deliveryId);
    // The delivery was deleted while it was being sent.
    if (webhook === undefined || delivery === undefined) continue;
    const judged = judge(webhook, delivery, attempt);
    await writeAttempt(session, webhook, delivery, attempt, judged);
    recorded.push({ deliveryId: delivery.id, webhookId: webhook.id, ...judged });
  }
  for (const { id, failingSinceMs, lastSuccessAtMs } of webhooks.values()) {
    await session.query(END_WEBHOOK, failingSinceMs, lastSuccessAtMs, id);
    await session.query(TRIM_LOG, id, id);
  }
  await refreshDue(session, new Set(webhooks.keys()));
  return recorded;
}

function judge(webhook: SentTo, delivery: Sent, attempt: EndedAttempt): AttemptJudgement {
  delivery.attempts += 1;
  const endedAtMs = Math.round(attempt.atMs + attempt.durationMs);
  const judged = judgeAttempt({
    attempts: delivery.attempts,
    statusCode: attempt.statusCode,
    endedAtMs,
    failingSinceMs: webhook.failingSinceMs,
    random: attempt.random,
  });
  webhook.failingSinceMs = judged.failingSinceMs;
  if (judged.state === "delivered") webhook.lastSuccessAtMs = endedAtMs;
  return judged;
}

async function writeAttempt(
  session: Session,
  webhook: SentTo,
  delivery: Sent,
  attempt: EndedAttempt,
  judgement: AttemptJudgement,
): Promise<void> {
  const { atMs, durationMs, statusCode } = attempt;
  const endedAtMs = Math.round(atMs + durationMs);
  await session.query(ADD_ATTEMPT, delivery.id, atMs, statusCode, storableOrNull(attempt.error), durationMs);
  // The delivery was cancelled while it was being sent, and stays cancelled.
  if (delivery.isPending) {
    delivery.isPending = judgement.state === "pending";
    const { state, nextAttemptAtMs } = judgement;
    const endedOrNull = state === "pending" ? null : endedAtMs;
    await session.query(END_DELIVERY, state, delivery.attempts, nextAttemptAtMs, endedOrNull, delivery.id);
  }
  await tellIncident(session, delivery, attempt, judgement);
  if (judgement.off !== null) await switchOff(session, webhook.id, judgement.off, endedAtMs);
}

/** Writes the result of an alert into the incident's log: success, or of a failing one the first and the last failure (docs/api-contract.md#incidents). */
async function tellIncident(
  session: Session,
  delivery: Sent,
  attempt: EndedAttempt,
  { state }: AttemptJudgement,
): Promise<void> {
  if (delivery.incidentId === null || (state === "pending" && delivery.attempts > 1)) return;
  const isSent = state === "delivered";
  const error = isSent ? null : (attempt.error ?? `HTTP ${attempt.statusCode}`);
  const message = isSent
    ? "Alert sent by webhook"
    : state === "pending"
      ? "Alert by webhook failed and is tried again"
      : "Alert by webhook failed";
  await addEventToIncident(session, delivery.incidentId, {
    type: isSent ? "alert_sent" : "alert_failed",
    atMs: attempt.atMs + attempt.durationMs,
    message,
    actor: SYSTEM_ACTOR,
    location: null,
    data: { channel: "webhook", error },
  });
}

/** Locks in the order of ids, so that two transactions cannot deadlock. */
async function sentTo(session: Session, ids: readonly number[]): Promise<ReadonlyMap<number, SentTo>> {
  let query = session.kysely
    .selectFrom("webhooks")
    .select(["id", "failing_since_ms", "last_success_at_ms"])
    .where("id", "in", ids)
    .orderBy("id");
  if (session.dialect === "postgres") query = query.forUpdate();
  const rows = await query.execute();
  return new Map(
    rows.map((row) => [
      row.id,
      { id: row.id, failingSinceMs: row.failing_since_ms, lastSuccessAtMs: row.last_success_at_ms },
    ]),
  );
}

async function sent(session: Session, ids: readonly number[]): Promise<ReadonlyMap<number, Sent>> {
  const rows = await session.kysely
    .selectFrom("webhook_deliveries")
    .select(["id", "webhook_id", "incident_id", "attempts", "next_attempt_at_ms"])
    .where("id", "in", ids)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        webhookId: row.webhook_id,
        incidentId: row.incident_id,
        attempts: row.attempts,
        isPending: row.next_attempt_at_ms !== null,
      },
    ]),
  );
}
