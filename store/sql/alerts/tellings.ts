/**
 * Writes decisions and makes messages of them. Ordinary groups are written together, in one transaction. A group with
 * thousands of members is written in steps:
 *
 *   announced: its messages are there, and not due ─▶ its members are marked, some at a time ─▶ its messages are due, the group is written
 *
 * The group stays due until the last step. So after a crash between two steps the next turn finds the announced messages and goes on with
 * them, and neither makes a second message nor loses one.
 */
import type { Decision, Say } from "../../../model/alerting.ts";
import type { AlertRule } from "../../../model/alerting-rule.ts";
import { chunksOf, insertInChunks } from "../db/bulk.ts";
import { bulkStatement, type Session, type Value } from "../db/database.ts";
import type { Row } from "../schema/tables.ts";
import { type Breathe, Pace } from "./pace.ts";
import { type DecidingRow, MEMBERS_AT_ONCE, portions } from "./present.ts";

/** A group and its messages take as long as so many members. */
const GROUP_SIZE = 10;

const TELL_MEMBER = bulkStatement(
  "alerts_tell_member",
  "update alert_members set firing = ?, told = ?, told_severity = ?, said_at_ms = ? where group_id = ? and subject = ?",
  `update alert_members m set firing = n.firing, told = n.told, told_severity = n.told_severity, said_at_ms = n.said_at_ms
   from unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
     as n (firing, told, told_severity, said_at_ms, group_id, subject)
   where m.group_id = n.group_id and m.subject = n.subject`,
);
const FORGET_MEMBER = bulkStatement(
  "alerts_forget_member",
  "delete from alert_members where group_id = ? and subject = ?",
  `delete from alert_members m using unnest($1::bigint[], $2::text[]) as n (group_id, subject)
   where m.group_id = n.group_id and m.subject = n.subject`,
);

const WRITE_GROUP = bulkStatement(
  "alerts_write_group",
  `update alert_groups set step = ?, repeats = ?, first_told_at_ms = ?, told_at_ms = ?, due_at_ms = ?, closed_at_ms = ?, state = ?
   where id = ?`,
  `update alert_groups g set step = n.step, repeats = n.repeats, first_told_at_ms = n.first_told_at_ms, told_at_ms = n.told_at_ms,
     due_at_ms = n.due_at_ms, closed_at_ms = n.closed_at_ms, state = n.state
   from unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[])
     as n (step, repeats, first_told_at_ms, told_at_ms, due_at_ms, closed_at_ms, state, id)
   where g.id = n.id`,
);

const OVERTAKE = bulkStatement(
  "alerts_overtake",
  `update notifications set state = 'overtaken', next_attempt_at_ms = null, ended_at_ms = ?
   where group_id = ? and channel_id = ? and next_attempt_at_ms is not null`,
  `update notifications m set state = 'overtaken', next_attempt_at_ms = null, ended_at_ms = n.ended_at_ms
   from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as n (ended_at_ms, group_id, channel_id)
   where m.group_id = n.group_id and m.channel_id = n.channel_id and m.next_attempt_at_ms is not null`,
);

/** One transaction that asserts the lease; then other work on the thread runs. */
export type Piece = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

export interface Decided {
  readonly group: Row<"alert_groups">;
  readonly rule: AlertRule;
  readonly members: readonly DecidingRow[];
  readonly decision: Decision;
  /** When the messages were made that are not due yet, because a death came between; null: there are none. */
  readonly announcedAtMs: number | null;
}

/** By group: when its messages were made that are announced and not due. */
export async function announcedOf(
  { kysely }: Session,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await kysely
    .selectFrom("notifications")
    .select(["group_id", "created_at_ms"])
    .where("group_id", "in", groupIds)
    .where("state", "=", "pending")
    .where("next_attempt_at_ms", "is", null)
    .execute();
  return new Map(rows.map((row) => [row.group_id, row.created_at_ms]));
}

interface Change {
  readonly one: Decided;
  /** Rows of TELL_MEMBER and FORGET_MEMBER. */
  readonly marks: readonly Value[][];
  readonly forgotten: readonly Value[][];
}

export async function tell(
  piece: Piece,
  decided: readonly Decided[],
  { nowMs, breathe }: { readonly nowMs: number; readonly breathe: Breathe },
): Promise<void> {
  const pace = new Pace(breathe);
  const changes: Change[] = [];
  for (const one of decided) changes.push(await changeOf(one, one.announcedAtMs ?? nowMs, pace));
  const sizeOf = ({ marks, forgotten }: Change): number => marks.length + forgotten.length;
  const isLarge = (change: Change): boolean => change.one.announcedAtMs !== null || sizeOf(change) > MEMBERS_AT_ONCE;
  const small = changes.filter((change) => !isLarge(change));
  for (const some of portions(small, (change) => GROUP_SIZE + sizeOf(change)))
    await piece((session) => tellTogether(session, some, nowMs));
  for (const change of changes.filter(isLarge)) await tellLarge(piece, change, nowMs);
}

async function changeOf(one: Decided, saidAtMs: number, pace: Pace): Promise<Change> {
  const { group, members, decision } = one;
  const marks: Value[][] = [];
  const said = new Set(decision.say?.subjects);
  const rows = new Map<string, DecidingRow>();
  for (const row of members) {
    rows.set(row.subject, row);
    if (pace.isOver()) await pace.rest();
  }
  for (const member of decision.after.members) {
    if (pace.isOver()) await pace.rest();
    const row = rows.get(member.subject);
    const isSaid = said.has(member.subject);
    if (row === undefined || (!isSaid && row.told === member.told)) continue;
    // What an incident says by itself is not written: it may be said before its event comes.
    const firing = group.is_notice === 1 && !member.firing ? 0 : row.firing;
    const atMs = isSaid ? saidAtMs : row.said_at_ms;
    marks.push([firing, member.told, member.toldSeverity, atMs, group.id, member.subject]);
  }
  return { one, marks, forgotten: decision.forgotten.map((subject) => [group.id, subject]) };
}

async function tellTogether(session: Session, changes: readonly Change[], nowMs: number): Promise<void> {
  const decided = changes.map(({ one }) => one);
  await writeGroups(
    session,
    decided.map(({ group, decision }) => groupRow(group.id, decision, nowMs)),
  );
  await writeMembers(session, changes);
  await writeMessages(session, decided, nowMs, nowMs);
}

async function tellLarge(piece: Piece, { one, marks, forgotten }: Change, nowMs: number): Promise<void> {
  const { group, decision } = one;
  if (one.announcedAtMs === null) await piece((session) => writeMessages(session, [one], nowMs, null));
  for (const some of chunksOf(marks, MEMBERS_AT_ONCE))
    await piece((session) => writeMembers(session, [{ marks: some, forgotten: [] }]));
  for (const some of chunksOf(forgotten, MEMBERS_AT_ONCE))
    await piece((session) => writeMembers(session, [{ marks: [], forgotten: some }]));
  await piece(async (session) => {
    await release(session, group.id, decision.say, nowMs);
    await writeGroups(session, [groupRow(group.id, endedDecision(one, nowMs), nowMs)]);
  });
}

/** After a crash behind the last mark there is nothing left to say, but the group counts as reported. */
function endedDecision({ group, decision, announcedAtMs }: Decided, nowMs: number): Decision {
  if (announcedAtMs === null || decision.say !== null) return decision;
  const { after } = decision;
  const firstToldAtMs = group.first_told_at_ms ?? announcedAtMs;
  return { ...decision, after: { ...after, toldAtMs: announcedAtMs, firstToldAtMs }, dueAtMs: nowMs };
}

/** @param say null: what was announced is said */
async function release({ kysely }: Session, groupId: number, say: Say | null, nowMs: number): Promise<void> {
  await kysely
    .updateTable("notifications")
    .set({ next_attempt_at_ms: nowMs, ...(say !== null && { reason: say.reason }) })
    .where("group_id", "=", groupId)
    .where("state", "=", "pending")
    .where("next_attempt_at_ms", "is", null)
    .execute();
}

function groupRow(id: number, { after, dueAtMs, isOver }: Decision, nowMs: number): Value[] {
  return [
    after.step,
    after.repeats,
    after.firstToldAtMs,
    after.toldAtMs,
    isOver || dueAtMs === null ? null : Math.round(dueAtMs),
    isOver ? nowMs : null,
    isOver ? "over" : "open",
    id,
  ];
}

async function writeGroups(session: Session, rows: readonly Value[][]): Promise<void> {
  await session.bulk(WRITE_GROUP, rows);
}

async function writeMembers(session: Session, changes: readonly Pick<Change, "marks" | "forgotten">[]): Promise<void> {
  const marks = changes.flatMap((change) => change.marks);
  const forgotten = changes.flatMap((change) => change.forgotten);
  if (marks.length > 0) await session.bulk(TELL_MEMBER, marks);
  if (forgotten.length > 0) await session.bulk(FORGET_MEMBER, forgotten);
}

/** One message for each channel. @param dueAtMs null: they are announced */
async function writeMessages(
  session: Session,
  decided: readonly Decided[],
  nowMs: number,
  dueAtMs: number | null,
): Promise<void> {
  const speaking = decided.flatMap((one) => (one.decision.say === null ? [] : [{ ...one, say: one.decision.say }]));
  if (speaking.length === 0) return;
  const channels = await activeChannels(session, [...new Set(speaking.map(({ group }) => group.project_id))]);
  const rows = speaking.flatMap(({ group, rule, members, decision, say }) => {
    const wanted = audienceOf(rule, say, decision.after.step, channels.get(group.project_id) ?? []);
    const said = new Set(say.subjects);
    const about = new Set(members.filter(({ subject }) => said.has(subject)).map((row) => row.channel_id));
    return wanted
      .filter((id) => !about.has(id))
      .map((channelId) => ({
        channel_id: channelId,
        group_id: group.id,
        project_id: group.project_id,
        reason: say.reason,
        state: "pending" as const,
        attempts: 0,
        begun: 0,
        next_attempt_at_ms: dueAtMs,
        came_and_went: say.cameAndWent,
        created_at_ms: nowMs,
      }));
  });
  // A message that waits for another attempt is no longer wanted when a newer one of its group says to its channel what is true now.
  const lasting = new Set(speaking.filter(({ group }) => group.is_notice === 0).map(({ group }) => group.id));
  const overtaking = rows.filter((row) => lasting.has(row.group_id));
  if (overtaking.length > 0)
    await session.bulk(
      OVERTAKE,
      overtaking.map((row) => [nowMs, row.group_id, row.channel_id]),
    );
  await insertInChunks(session, "notifications", rows);
}

async function activeChannels(
  { kysely }: Session,
  projectIds: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const rows = await kysely
    .selectFrom("channels")
    .select(["id", "project_id"])
    .where("project_id", "in", projectIds)
    .where("active", "=", 1)
    // An e-mail channel whose addresses have not confirmed gets nothing.
    .where((of) => of.or([of("kind", "!=", "email"), of("verified_at_ms", "is not", null)]))
    .orderBy("id")
    .execute();
  const channels = new Map<number, number[]>();
  for (const row of rows) channels.set(row.project_id, [...(channels.get(row.project_id) ?? []), row.id]);
  return channels;
}

/** @param step steps of the escalation that were taken, this one included */
function audienceOf(rule: AlertRule, say: Say, step: number, active: readonly number[]): readonly number[] {
  const steps = rule.escalation.slice(say.onlyStep ? step - 1 : 0, step).flatMap(({ channels }) => channels);
  const wanted = new Set([...(say.onlyStep ? [] : (rule.channels ?? active)), ...steps]);
  return active.filter((id) => wanted.has(id));
}
