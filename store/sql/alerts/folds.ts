/** Folds: many groups of a rule that would speak for the first time within a minute become one. */
import { isCalm, isFolded, MOST_GROUPS_ALONE, STORM_MS } from "../../../model/alerting.ts";
import { chunksOf } from "../db/bulk.ts";
import { bulkStatement, type Session } from "../db/database.ts";
import { MEMBERS_AT_ONCE, portions } from "./present.ts";
import type { Decided, Piece } from "./tellings.ts";

// What is in the fold already stays as it is there.
const DROP_DOUBLE = bulkStatement(
  "alerts_drop_double",
  `delete from alert_members where group_id = ? and subject = ?
     and exists (select 1 from alert_members t where t.group_id = ? and t.subject = alert_members.subject)`,
  `delete from alert_members m using unnest($1::bigint[], $2::text[], $3::bigint[]) as n (group_id, subject, fold_id)
   where m.group_id = n.group_id and m.subject = n.subject
     and exists (select 1 from alert_members t where t.group_id = n.fold_id and t.subject = n.subject)`,
);
const MOVE_MEMBER = bulkStatement(
  "alerts_move_member",
  "update alert_members set group_id = ? where group_id = ? and subject = ?",
  `update alert_members m set group_id = n.fold_id from unnest($1::bigint[], $2::bigint[], $3::text[]) as n (fold_id, group_id, subject)
   where m.group_id = n.group_id and m.subject = n.subject`,
);
const CLOSE_GROUP = bulkStatement(
  "alerts_close_group",
  "update alert_groups set state = 'over', due_at_ms = null, folded_into = ?, closed_at_ms = ? where id = ?",
  `update alert_groups g set state = 'over', due_at_ms = null, folded_into = n.fold_id, closed_at_ms = n.closed_at_ms
   from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as n (fold_id, closed_at_ms, id) where g.id = n.id`,
);

/** @returns groups that are in a fold now */
export async function fold(
  read: Session,
  piece: Piece,
  decided: readonly Decided[],
  nowMs: number,
): Promise<ReadonlySet<number>> {
  const byRule = new Map<string, Decided[]>();
  for (const one of decided) {
    // A group whose messages are made already is not folded.
    if (one.decision.say === null || one.group.told_at_ms !== null || one.announcedAtMs !== null) continue;
    const key = `${one.group.project_id} ${one.group.rule_id} ${one.group.is_notice}`;
    const some = byRule.get(key);
    if (some === undefined) byRule.set(key, [one]);
    else some.push(one);
  }
  const folded = new Set<number>();
  for (const some of byRule.values()) {
    const [first] = some;
    if (first === undefined) continue;
    const open = await openFold(read, first, nowMs);
    const reasons = some.flatMap(({ decision }) => (decision.say === null ? [] : [decision.say.reason]));
    if (!isFolded(reasons, await openedLately(read, first, nowMs), open !== undefined)) continue;
    const into = open ?? (await piece((session) => newFold(session, first, nowMs)));
    await moveInto(piece, into, some, nowMs);
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

/** Open groups that spoke alone for the first time a moment ago, counted as far as it matters. */
async function openedLately({ kysely }: Session, { group }: Decided, nowMs: number): Promise<number> {
  const groups = await kysely
    .selectFrom("alert_groups")
    .select("id")
    .where("project_id", "=", group.project_id)
    .where("rule_id", "=", group.rule_id)
    .where("is_notice", "=", group.is_notice)
    .where("is_fold", "=", 0)
    .where("closed_at_ms", "is", null)
    .where("first_told_at_ms", ">", nowMs - STORM_MS)
    .limit(MOST_GROUPS_ALONE)
    .execute();
  return groups.length;
}

async function newFold({ kysely }: Session, { group }: Decided, nowMs: number): Promise<number> {
  const { project_id, rule_id, is_notice, id } = group;
  const row = await kysely
    .insertInto("alert_groups")
    .values({
      project_id,
      rule_id,
      is_notice,
      key: `many:${id}`,
      is_fold: 1,
      state: "open",
      step: 0,
      repeats: 0,
      due_at_ms: nowMs,
      changed_at_ms: nowMs,
      opened_at_ms: nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** In pieces. After a death between two, the rest is due still, and follows. */
async function moveInto(piece: Piece, into: number, decided: readonly Decided[], nowMs: number): Promise<void> {
  for (const some of portions(decided, ({ members }) => members.length)) {
    const subjects = some.flatMap(({ group, members }) => members.map((row) => [group.id, row.subject] as const));
    const chunks = [...chunksOf(subjects, MEMBERS_AT_ONCE)];
    for (const [index, chunk] of chunks.entries()) {
      await piece(async (session) => {
        await session.bulk(
          DROP_DOUBLE,
          chunk.map(([id, subject]) => [id, subject, into]),
        );
        await session.bulk(
          MOVE_MEMBER,
          chunk.map(([id, subject]) => [into, id, subject]),
        );
        if (index < chunks.length - 1) return;
        await session.bulk(
          CLOSE_GROUP,
          some.map(({ group }) => [into, nowMs, group.id]),
        );
        const joined = { due_at_ms: nowMs, changed_at_ms: nowMs };
        await session.kysely.updateTable("alert_groups").set(joined).where("id", "=", into).execute();
      });
    }
  }
}
