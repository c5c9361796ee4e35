/** Turns: groups that are due are decided on (model/alerting.ts), and what they say becomes messages, in one transaction. */
import { type Decision, decide, type GroupState, isCalm, isFolded, type Say } from "../../../model/alerting.ts";
import { type AlertRule, DEFAULT_RULE } from "../../../model/alerting-rule.ts";
import type { QuietHours } from "../../../model/quiet-hours.ts";
import { assertLease } from "../coordination/leases.ts";
import { SENDER_LEASE } from "../coordination/leases-port.ts";
import { insertInChunks } from "../db/bulk.ts";
import { bulkStatement, type Session, type Value } from "../db/database.ts";
import type { Row } from "../schema/tables.ts";
import type { AlertTurns } from "./port.ts";
import { type PresentRow, presentMembers, toMember } from "./present.ts";
import { quietHoursOfRow, ruleOfRow } from "./settings.ts";

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

interface Decided {
  readonly group: Row<"alert_groups">;
  readonly rule: AlertRule;
  readonly members: readonly PresentRow[];
  readonly decision: Decision;
}

export async function speak(
  session: Session,
  epoch: number,
  { nowMs, limit, folds }: Parameters<AlertTurns["speak"]>[1],
): Promise<number> {
  await assertLease(session, SENDER_LEASE, epoch);
  const groups = await session.kysely
    .selectFrom("alert_groups")
    .selectAll()
    .where("due_at_ms", "<=", nowMs)
    .where("is_fold", "=", folds ? 1 : 0)
    .orderBy("due_at_ms")
    .limit(limit)
    .execute();
  if (groups.length === 0) return 0;
  const rules = await rulesOf(session, groups);
  const quiet = await quietHoursOf(session, [...rules.values()]);
  const members = await presentMembers(
    session,
    groups.map(({ id }) => id),
  );
  const decided = groups.map((group): Decided => {
    const rule = rules.get(group.rule_id) ?? DEFAULT_RULE;
    const rows = members.get(group.id) ?? [];
    const decision = decide(stateOf(group, rows, nowMs), rule, quiet.get(rule.quietHoursId ?? 0) ?? null, nowMs);
    return { group, rule, members: rows, decision };
  });
  const folded = folds ? new Set<number>() : await fold(session, decided, nowMs);
  const rest = decided.filter(({ group }) => !folded.has(group.id));
  await writeGroups(session, rest, nowMs);
  await writeMembers(session, rest, nowMs);
  await writeMessages(session, rest, nowMs);
  return groups.length;
}

async function rulesOf(
  { kysely }: Session,
  groups: readonly Row<"alert_groups">[],
): Promise<ReadonlyMap<number, AlertRule>> {
  const ids = [...new Set(groups.map((group) => group.rule_id))];
  // Those that were removed govern what they told.
  const rows = await kysely.selectFrom("alert_rules").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, ruleOfRow(row)]));
}

async function quietHoursOf(
  { kysely }: Session,
  rules: readonly AlertRule[],
): Promise<ReadonlyMap<number, QuietHours>> {
  const ids = rules.flatMap(({ quietHoursId }) => (quietHoursId === null ? [] : [quietHoursId]));
  if (ids.length === 0) return new Map();
  const rows = await kysely.selectFrom("quiet_hours").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, quietHoursOfRow(row)]));
}

/** Times that a clock wrote which was ahead count as now. */
function stateOf(group: Row<"alert_groups">, members: readonly PresentRow[], nowMs: number): GroupState {
  const past = (atMs: number | null): number | null => (atMs === null ? null : Math.min(atMs, nowMs));
  return {
    isNotice: group.is_notice === 1,
    isFold: group.is_fold === 1,
    firstToldAtMs: past(group.first_told_at_ms),
    toldAtMs: past(group.told_at_ms),
    repeats: group.repeats,
    step: group.step,
    members: members.map((row) => toMember(row, nowMs)),
  };
}

/** Many groups that would speak for the first time become one. @returns those that are in it now */
async function fold(session: Session, decided: readonly Decided[], nowMs: number): Promise<ReadonlySet<number>> {
  const byRule = new Map<string, Decided[]>();
  for (const one of decided) {
    if (one.decision.say === null || one.group.told_at_ms !== null) continue;
    const key = `${one.group.project_id} ${one.group.rule_id} ${one.group.is_notice}`;
    byRule.set(key, [...(byRule.get(key) ?? []), one]);
  }
  const folded = new Set<number>();
  for (const some of byRule.values()) {
    const [first] = some;
    if (first === undefined) continue;
    const open = await openFold(session, first, nowMs);
    const reasons = some.flatMap(({ decision }) => (decision.say === null ? [] : [decision.say.reason]));
    if (!isFolded(reasons, open !== undefined)) continue;
    const into = open ?? (await newFold(session, first, nowMs));
    await moveInto(
      session,
      into,
      some.map(({ group }) => group.id),
      nowMs,
    );
    for (const { group } of some) folded.add(group.id);
  }
  return folded;
}

async function openFold({ kysely }: Session, { group, rule }: Decided, nowMs: number): Promise<number | undefined> {
  const newest = await kysely
    .selectFrom("alert_groups")
    .select(["id", "changed_at_ms"])
    .where("project_id", "=", group.project_id)
    .where("rule_id", "=", group.rule_id)
    .where("is_notice", "=", group.is_notice)
    .where("is_fold", "=", 1)
    .where("closed_at_ms", "is", null)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest === undefined || isCalm(newest.changed_at_ms, rule, nowMs) ? undefined : newest.id;
}

async function newFold({ kysely }: Session, { group }: Decided, nowMs: number): Promise<number> {
  const { project_id, rule_id, is_notice, id } = group;
  const row = await kysely
    .insertInto("alert_groups")
    .values({
      ...{ project_id, rule_id, is_notice, key: `many:${id}`, is_fold: 1, state: "open", step: 0, repeats: 0 },
      ...{ due_at_ms: nowMs, changed_at_ms: nowMs, opened_at_ms: nowMs },
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

async function moveInto({ kysely }: Session, into: number, ids: readonly number[], nowMs: number): Promise<void> {
  // What is in the fold already stays as it is there.
  await kysely
    .deleteFrom("alert_members")
    .where("group_id", "in", ids)
    .where((of) =>
      of.exists(
        of
          .selectFrom("alert_members as there")
          .select("there.subject")
          .where("there.group_id", "=", into)
          .whereRef("there.subject", "=", "alert_members.subject"),
      ),
    )
    .execute();
  await kysely.updateTable("alert_members").set({ group_id: into }).where("group_id", "in", ids).execute();
  await kysely
    .updateTable("alert_groups")
    .set({ state: "over", folded_into: into, closed_at_ms: nowMs, due_at_ms: null })
    .where("id", "in", ids)
    .execute();
  await kysely
    .updateTable("alert_groups")
    .set({ due_at_ms: nowMs, changed_at_ms: nowMs })
    .where("id", "=", into)
    .execute();
}

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

async function writeGroups(session: Session, decided: readonly Decided[], nowMs: number): Promise<void> {
  await session.bulk(
    WRITE_GROUP,
    decided.map(({ group, decision: { after, dueAtMs, isOver } }) => [
      after.step,
      after.repeats,
      after.firstToldAtMs,
      after.toldAtMs,
      isOver || dueAtMs === null ? null : Math.round(dueAtMs),
      isOver ? nowMs : null,
      isOver ? "over" : "open",
      group.id,
    ]),
  );
}

async function writeMembers(session: Session, decided: readonly Decided[], nowMs: number): Promise<void> {
  const told: Value[][] = [];
  const forgotten: Value[][] = [];
  for (const { group, members, decision } of decided) {
    const said = new Set(decision.say?.subjects);
    const rows = new Map(members.map((row) => [row.subject, row]));
    for (const member of decision.after.members) {
      const row = rows.get(member.subject);
      const isSaid = said.has(member.subject);
      if (row === undefined || (!isSaid && row.told === member.told)) continue;
      const saidAtMs = isSaid ? nowMs : row.said_at_ms;
      // What an incident says by itself is not written: it may be said before its event comes.
      const firing = group.is_notice === 1 && !member.firing ? 0 : row.firing;
      told.push([firing, member.told, member.toldSeverity, saidAtMs, group.id, member.subject]);
    }
    for (const subject of decision.forgotten) forgotten.push([group.id, subject]);
  }
  if (told.length > 0) await session.bulk(TELL_MEMBER, told);
  if (forgotten.length > 0) await session.bulk(FORGET_MEMBER, forgotten);
}

/** One message for each channel that is told. */
async function writeMessages(session: Session, decided: readonly Decided[], nowMs: number): Promise<void> {
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
        ...{ channel_id: channelId, group_id: group.id, project_id: group.project_id, reason: say.reason },
        ...{ state: "pending" as const, attempts: 0, begun: 0, next_attempt_at_ms: nowMs },
        ...{ came_and_went: say.cameAndWent, created_at_ms: nowMs },
      }));
  });
  const groups = speaking.filter(({ group }) => group.is_notice === 0).map(({ group }) => group.id);
  await overtake(session, groups, rows, nowMs);
  await insertInChunks(session, "notifications", rows);
}

/** A message that waits for another attempt is no longer wanted when a newer one of its group says what is true now. */
async function overtake(
  { kysely }: Session,
  groups: readonly number[],
  rows: readonly { readonly channel_id: number }[],
  nowMs: number,
): Promise<void> {
  const channels = [...new Set(rows.map((row) => row.channel_id))];
  if (groups.length === 0 || channels.length === 0) return;
  await kysely
    .updateTable("notifications")
    .set({ state: "overtaken", next_attempt_at_ms: null, ended_at_ms: nowMs })
    .where("group_id", "in", groups)
    .where("channel_id", "in", channels)
    .where("next_attempt_at_ms", "is not", null)
    .execute();
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
