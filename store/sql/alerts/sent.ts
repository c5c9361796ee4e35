/** What was sent: lists of messages with their attempts. */
import type { Session } from "../db/database.ts";
import { NOTIFICATION_ATTEMPTS, NOTIFICATIONS } from "../schema/alert-tables.ts";
import { decoder } from "../schema/column.ts";
import type { Row } from "../schema/tables.ts";
import type { AcknowledgeableGroup, AlertAttempt, SentAlert } from "./port.ts";

/** By one press; our choice: one transaction of some tens of milliseconds. */
const MOST_ACKNOWLEDGED = 1_000;

const decode = decoder(NOTIFICATIONS);
const decodeAttempt = decoder(NOTIFICATION_ATTEMPTS);

export async function sentOfIncident(
  session: Session,
  incidentId: number,
  limit: number,
): Promise<readonly SentAlert[]> {
  const rows = await listOf(session)
    .innerJoin("alert_members as m", "m.group_id", "n.group_id")
    .where("m.subject", "=", `inc_${incidentId}`)
    .whereRef("n.created_at_ms", ">=", "m.joined_at_ms")
    .orderBy("n.id", "desc")
    .limit(limit)
    .execute();
  return withAttempts(session, rows);
}

export async function sentOfChannel(session: Session, channelId: number, limit: number): Promise<readonly SentAlert[]> {
  const rows = listOf(session).where("n.channel_id", "=", channelId).orderBy("n.id", "desc").limit(limit);
  return withAttempts(session, await rows.execute());
}

function listOf({ kysely }: Session) {
  return kysely
    .selectFrom("notifications as n")
    .innerJoin("channels as c", "c.id", "n.channel_id")
    .selectAll("n")
    .select(["c.kind", "c.name"]);
}

type Listed = Row<"notifications"> & { readonly kind: string; readonly name: string };

async function withAttempts({ kysely }: Session, rows: readonly Listed[]): Promise<readonly SentAlert[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const attempts = new Map<number, AlertAttempt[]>(ids.map((id) => [id, []]));
  const made = kysely.selectFrom("notification_attempts").selectAll().where("notification_id", "in", ids).orderBy("id");
  for (const row of await made.execute()) attempts.get(row.notification_id)?.push(decodeAttempt(row));
  return rows.map((row) => {
    const { id, reason, state, shown, lastError, createdAtMs, endedAtMs, nextAttemptAtMs } = decode(row);
    const channel = { id: row.channel_id, kind: row.kind, name: row.name };
    return {
      id,
      channel,
      reason,
      state,
      title: shown,
      lastError,
      createdAtMs,
      endedAtMs,
      nextAttemptAtMs,
      attempts: attempts.get(id) ?? [],
    };
  });
}

export async function acknowledgeable(
  { kysely }: Session,
  groupId: number,
  channelId: number,
): Promise<AcknowledgeableGroup | undefined> {
  const found = await kysely
    .selectFrom("alert_groups as g")
    .innerJoin("channels as c", "c.project_id", "g.project_id")
    .innerJoin("projects as p", "p.id", "g.project_id")
    .select(["g.project_id", "c.kind", "c.name"])
    .where("g.id", "=", groupId)
    .where("c.id", "=", channelId)
    .where("p.active", "=", 1)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const incidents = await kysely
    .selectFrom("alert_members as m")
    .innerJoin("incidents as i", "i.id", "m.incident_id")
    .innerJoin("monitors as n", "n.id", "i.monitor_id")
    .select(["i.id", "n.name"])
    .where("m.group_id", "=", groupId)
    .where("i.project_id", "=", found.project_id)
    .where("i.ended_at_ms", "is", null)
    .where("i.acknowledged_at_ms", "is", null)
    .orderBy("i.id")
    .limit(MOST_ACKNOWLEDGED)
    .execute();
  return { projectId: found.project_id, channel: { kind: found.kind, name: found.name }, incidents };
}
