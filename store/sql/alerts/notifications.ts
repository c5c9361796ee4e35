/** Messages on their way out: the sender's transactions. Each write asserts that the sender still holds its lease. */
import { SYSTEM_ACTOR } from "../../../model/actor.ts";
import { afterAttempt, type DeliveryStep, restUntil } from "../../../model/alerting-delivery.ts";
import { channelFailingEvent } from "../../../model/event.ts";
import { assertLease } from "../coordination/leases.ts";
import { SENDER_LEASE } from "../coordination/leases-port.ts";
import { type Database, type Session, type Statement, statement } from "../db/database.ts";
import { appendEvents } from "../events/outbox.ts";
import { insertEvents } from "../incidents/events.ts";
import type { Row } from "../schema/tables.ts";
import { storable, storableOrNull } from "../schema/text.ts";
import { begin } from "./begin.ts";
import { judged } from "./channels.ts";
import type { AlertTurns, DueNotification, EndedNotification, RecordedNotification } from "./port.ts";
import { speak } from "./turns.ts";
import { SettingsWatch } from "./waking.ts";

/** Incidents whose logs say that a message about them was sent; our choice: a storm's message writes no thousands of rows. */
const MOST_LOGS = 100;
/** Groups that ended are kept so long with their messages, ms: 30 days. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** Rows that one tidying takes. */
const TIDIED = 200;

const DUE: Statement = {
  name: "sonde_alerts_due",
  sqlite: `select d.id, d.channel_id, d.group_id from (
      select n.id, n.channel_id, n.group_id, n.next_attempt_at_ms,
        row_number() over (partition by n.channel_id order by n.next_attempt_at_ms, n.id) as place
      from notifications n join channels c on c.id = n.channel_id
      where n.next_attempt_at_ms <= ? and c.active = 1 and (c.failing_since_ms is not null) = ?
        and n.channel_id not in (select value from json_each(?)) and n.id not in (select value from json_each(?))) d
    where d.place <= ? order by d.place, d.next_attempt_at_ms, d.id limit ?`,
  postgres: `select d.id, d.channel_id, d.group_id from (
      select n.id, n.channel_id, n.group_id, n.next_attempt_at_ms,
        row_number() over (partition by n.channel_id order by n.next_attempt_at_ms, n.id) as place
      from notifications n join channels c on c.id = n.channel_id
      where n.next_attempt_at_ms <= $1 and c.active = 1 and (c.failing_since_ms is not null)::int = $2
        and n.channel_id not in (select value::bigint from json_array_elements_text($3::json))
        and n.id not in (select value::bigint from json_array_elements_text($4::json))) d
    where d.place <= $5 order by d.place, d.next_attempt_at_ms, d.id limit $6`,
};
const ADD_ATTEMPT = statement(
  "alerts_add_attempt",
  "insert into notification_attempts (notification_id, at_ms, status_code, error, duration_ms) values (?, ?, ?, ?, ?)",
);
const POSTPONE = statement(
  "alerts_postpone",
  "update notifications set next_attempt_at_ms = ? where channel_id = ? and next_attempt_at_ms < ?",
);

const NEXT = statement(
  "alerts_next",
  `select min(at_ms) as at_ms from (
      select min(due_at_ms) as at_ms from alert_groups where due_at_ms is not null
      union all select min(next_attempt_at_ms) from notifications where next_attempt_at_ms is not null) firsts`,
);

export function createAlertTurns({ read, write }: Database): AlertTurns {
  const settings = new SettingsWatch();
  return {
    async speak(epoch, options) {
      // Looked at several times a second: a transaction is only made when something is due.
      const waiting = read.kysely.selectFrom("alert_groups").select("id").where("due_at_ms", "<=", options.nowMs);
      const some = await waiting.limit(1).execute();
      return some.length === 0 ? 0 : speak({ read, write }, epoch, options);
    },
    async due({ nowMs, failing, except, underWay, perChannel, limit }) {
      const lists = [JSON.stringify(except), JSON.stringify(underWay)];
      const values = [nowMs, failing ? 1 : 0, ...lists, perChannel, limit];
      const rows = await read.query<{ id: number; channel_id: number; group_id: number }>(DUE, ...values);
      return rows.map((row): DueNotification => ({ id: row.id, channelId: row.channel_id, groupId: row.group_id }));
    },
    begin: (epoch, ids, options) => begin({ read, write }, epoch, ids, options),
    record: (epoch, ended) => write((session) => record(session, epoch, ended)),
    async tidy(epoch, nowMs) {
      const [orphans, old, look] = [
        await unwanted(read),
        await longOver(read, nowMs),
        await settings.look(read, nowMs),
      ];
      if (orphans.length + old.length > 0 || look.wakes !== null)
        await write(async (session) => {
          await assertLease(session, SENDER_LEASE, epoch);
          await cancel(session, orphans, nowMs);
          if (old.length > 0) await session.kysely.deleteFrom("alert_groups").where("id", "in", old).execute();
          await settings.wake(session, look);
        });
      settings.done(look);
    },
    isAhead: (nowMs) => isAhead(read, nowMs),
    clockWentBack: (epoch, nowMs) => write((session) => lookAgain(session, epoch, nowMs)),
    async nextAtMs() {
      return (await read.query<{ at_ms: number | null }>(NEXT))[0]?.at_ms ?? null;
    },
    async pending() {
      const waiting = read.kysely.selectFrom("notifications").where("next_attempt_at_ms", "is not", null);
      return (await waiting.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
  };
}

/** Messages to channels that are off or wait for their addresses to confirm, and of projects that are off. */
async function unwanted({ kysely }: Session): Promise<readonly number[]> {
  const rows = await kysely
    .selectFrom("notifications as n")
    .innerJoin("channels as c", "c.id", "n.channel_id")
    .innerJoin("projects as p", "p.id", "n.project_id")
    .select("n.id")
    .where("n.next_attempt_at_ms", "is not", null)
    .where((of) =>
      of.or([
        of("c.active", "=", 0),
        of("p.active", "=", 0),
        of.and([of("c.kind", "=", "email"), of("c.verified_at_ms", "is", null)]),
      ]),
    )
    .limit(TIDIED)
    .execute();
  return rows.map((row) => row.id);
}

async function longOver({ kysely }: Session, nowMs: number): Promise<readonly number[]> {
  const ended = kysely
    .selectFrom("alert_groups")
    .select("id")
    .where("closed_at_ms", "<", nowMs - KEPT_MS);
  return (await ended.limit(TIDIED).execute()).map((row) => row.id);
}

async function cancel({ kysely }: Session, ids: readonly number[], nowMs: number): Promise<void> {
  if (ids.length === 0) return;
  await kysely
    .updateTable("notifications")
    .set({ state: "cancelled", next_attempt_at_ms: null, ended_at_ms: nowMs })
    .where("id", "in", ids)
    .execute();
}

async function isAhead({ kysely }: Session, nowMs: number): Promise<boolean> {
  const groups = kysely
    .selectFrom("alert_groups")
    .select("id")
    .where("closed_at_ms", "is", null)
    .where((of) => of.or([of("changed_at_ms", ">", nowMs), of("told_at_ms", ">", nowMs)]));
  if ((await groups.limit(1).execute()).length > 0) return true;
  const messages = kysely
    .selectFrom("notifications as n")
    .leftJoin("notification_attempts as a", "a.notification_id", "n.id")
    .select("n.id")
    .where("n.next_attempt_at_ms", "is not", null)
    .where((of) => of.or([of("n.created_at_ms", ">", nowMs), of("a.at_ms", ">", nowMs)]));
  return (await messages.limit(1).execute()).length > 0;
}

async function lookAgain(session: Session, epoch: number, nowMs: number): Promise<void> {
  await assertLease(session, SENDER_LEASE, epoch);
  const { kysely } = session;
  await kysely.updateTable("alert_groups").set({ due_at_ms: nowMs }).where("due_at_ms", ">", nowMs).execute();
  // What was written by the clock that was ahead would wait until that time comes again.
  const open = kysely.selectFrom("alert_groups").select("id").where("closed_at_ms", "is", null);
  await kysely
    .updateTable("alert_members")
    .set({ joined_at_ms: nowMs })
    .where("joined_at_ms", ">", nowMs)
    .where("group_id", "in", open)
    .execute();
  for (const column of ["told_at_ms", "first_told_at_ms", "changed_at_ms"] as const) {
    const ahead = kysely.updateTable("alert_groups").where("closed_at_ms", "is", null).where(column, ">", nowMs);
    await ahead.set({ [column]: nowMs }).execute();
  }
  await kysely
    .updateTable("notifications")
    .set({ next_attempt_at_ms: nowMs })
    .where("next_attempt_at_ms", ">", nowMs)
    .execute();
}

async function record(
  session: Session,
  epoch: number,
  ended: readonly EndedNotification[],
): Promise<readonly RecordedNotification[]> {
  await assertLease(session, SENDER_LEASE, epoch);
  if (ended.length === 0) return [];
  const rows = await notificationsOf(
    session,
    ended.map(({ id }) => id),
  );
  const recorded: RecordedNotification[] = [];
  // In the order of channels, so that two transactions cannot deadlock over them.
  for (const attempt of [...ended].sort((a, b) => a.channelId - b.channelId)) {
    const row = rows.get(attempt.id);
    // It was deleted with its channel while it was being sent.
    if (row === undefined) continue;
    recorded.push(await recordOne(session, row, attempt));
  }
  return recorded;
}

async function notificationsOf(
  { kysely }: Session,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Row<"notifications">>> {
  const rows = await kysely.selectFrom("notifications").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

async function recordOne(
  session: Session,
  row: Row<"notifications">,
  attempt: EndedNotification,
): Promise<RecordedNotification> {
  const { id, channelId, delivered, permanent, error } = attempt;
  const endedAtMs = Math.round(attempt.atMs + attempt.durationMs);
  const outcome = delivered
    ? ({ delivered, refusal: error } as const)
    : ({ delivered, error: error ?? "no answer", permanent } as const);
  const standing = await judged(session, channelId, outcome, endedAtMs);
  const attempts = row.attempts + 1;
  const step = afterAttempt(attempt, attempts, standing?.isFailing ?? false, endedAtMs, attempt.random);
  await session.query(
    ADD_ATTEMPT,
    id,
    attempt.atMs,
    attempt.statusCode,
    storableOrNull(attempt.error),
    attempt.durationMs,
  );
  const restMs = restUntil(attempt, endedAtMs);
  if (restMs !== null) await session.query(POSTPONE, restMs, channelId, restMs);
  const state = await writeStep(session, row, attempt, step, endedAtMs);
  await tellIncidents(session, row, attempt, step, endedAtMs);
  const isFailingNow = standing?.isFailing === true && standing.hasTurned;
  if (isFailingNow) await tellOthers(session, channelId, error ?? "no answer", endedAtMs);
  return { id, channelId, state, isFailingNow };
}

/** One that was overtaken while it was being sent stays so, unless it arrived. */
async function writeStep(
  { kysely }: Session,
  row: Row<"notifications">,
  attempt: EndedNotification,
  step: DeliveryStep,
  endedAtMs: number,
): Promise<Row<"notifications">["state"]> {
  const isWanted = row.next_attempt_at_ms !== null || step.state === "delivered";
  const state = isWanted ? step.state : row.state;
  await kysely
    .updateTable("notifications")
    .set({
      attempts: row.attempts + 1,
      state,
      next_attempt_at_ms: isWanted ? step.nextAttemptAtMs : null,
      ended_at_ms: state === "pending" ? null : endedAtMs,
      shown: storable(attempt.shown),
      last_error: storableOrNull(attempt.error),
      ...(attempt.reference !== null && { external_ref: storable(attempt.reference) }),
    })
    .where("id", "=", row.id)
    .execute();
  return state;
}

/** Into the logs of its incidents: success, or the first and the last failure (docs/api-contract.md#incidents). */
async function tellIncidents(
  session: Session,
  row: Row<"notifications">,
  attempt: EndedNotification,
  { state }: DeliveryStep,
  atMs: number,
): Promise<void> {
  if (state === "pending" && row.attempts > 0) return;
  const { kysely } = session;
  const members = await kysely
    .selectFrom("alert_members")
    .select("incident_id")
    .where("group_id", "=", row.group_id)
    .where("incident_id", "is not", null)
    .where("told", "in", ["firing", "acknowledged", "ended"])
    .limit(MOST_LOGS)
    .execute();
  const ids = members.flatMap(({ incident_id: id }) => (id === null ? [] : [id]));
  if (ids.length === 0) return;
  const channel = await kysely
    .selectFrom("channels")
    .select(["kind", "name"])
    .where("id", "=", row.channel_id)
    .executeTakeFirst();
  if (channel === undefined) return;
  const known = await kysely
    .updateTable("incidents")
    .set((of) => ({ event_count: of("event_count", "+", 1) }))
    .where("id", "in", ids)
    .returning("id")
    .execute();
  const isSent = state === "delivered";
  const way = `by ${channel.kind} (${channel.name})`;
  const failed = state === "pending" ? "failed and is tried again" : "failed";
  const partly = attempt.error === null ? "" : ", but not to all who read it";
  const event = {
    type: isSent ? ("alert_sent" as const) : ("alert_failed" as const),
    atMs,
    actor: SYSTEM_ACTOR,
    location: null,
    message: isSent ? `Alert sent ${way}${partly}` : `Alert ${way} ${failed}`,
    data: { channel: channel.kind, error: isSent ? attempt.error : (attempt.error ?? "no answer") },
  };
  await insertEvents(
    session,
    known.map(({ id: incidentId }) => ({ incidentId, event })),
  );
}

async function tellOthers(session: Session, channelId: number, error: string, atMs: number): Promise<void> {
  const channel = await session.kysely
    .selectFrom("channels")
    .select(["id", "project_id", "kind", "name"])
    .where("id", "=", channelId)
    .executeTakeFirst();
  if (channel === undefined) return;
  const { id, kind, name, project_id: projectId } = channel;
  await appendEvents(session, [channelFailingEvent({ id, projectId, kind, name }, error, atMs)]);
}
