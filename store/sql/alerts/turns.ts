/**
 * Turns: groups that are due are decided on (model/alerting.ts), and what they say becomes messages. A group may have ten thousand members,
 * and a storm ten thousand groups, so the work is cut into pieces of some milliseconds. What is decided on is read before the transactions
 * that write: only the holder of the lease changes groups and their members, and each transaction asserts that.
 */
import { decide, type GroupMember, type GroupState } from "../../../model/alerting.ts";
import { type AlertRule, DEFAULT_RULE } from "../../../model/alerting-rule.ts";
import type { QuietHours } from "../../../model/quiet-hours.ts";
import { assertLease } from "../coordination/leases.ts";
import { SENDER_LEASE } from "../coordination/leases-port.ts";
import type { Database, Session } from "../db/database.ts";
import type { Row } from "../schema/tables.ts";
import { fold } from "./folds.ts";
import { type Breathe, Pace } from "./pace.ts";
import type { AlertTurns } from "./port.ts";
import { decidingMembers, MEMBERS_AT_ONCE, toMember } from "./present.ts";
import { quietHoursOfRow, ruleOfRow } from "./settings.ts";
import { announcedOf, type Decided, type Piece, tell } from "./tellings.ts";

export async function speak(
  { read, write }: Pick<Database, "read" | "write">,
  epoch: number,
  { nowMs, limit, folds, breathe }: Parameters<AlertTurns["speak"]>[1],
): Promise<number> {
  const groups = await read.kysely
    .selectFrom("alert_groups")
    .selectAll()
    .where("due_at_ms", "<=", nowMs)
    .where("is_fold", "=", folds ? 1 : 0)
    .orderBy("due_at_ms")
    .limit(limit)
    .execute();
  if (groups.length === 0) return 0;
  const piece: Piece = async (work) => {
    const made = await write(async (session) => {
      await assertLease(session, SENDER_LEASE, epoch);
      return work(session);
    });
    await breathe();
    return made;
  };
  const decided = await decideOn(read, groups, nowMs, breathe);
  const folded = folds ? new Set<number>() : await fold(read, piece, decided, nowMs);
  const apart = decided.filter(({ group }) => !folded.has(group.id));
  await tell(piece, apart, { nowMs, breathe });
  return groups.length;
}

async function decideOn(
  session: Session,
  groups: readonly Row<"alert_groups">[],
  nowMs: number,
  breathe: Breathe,
): Promise<readonly Decided[]> {
  const ids = groups.map(({ id }) => id);
  const rules = await rulesOf(session, groups);
  const quiet = await quietHoursOf(
    session,
    Array.from(rules.values(), ({ rule }) => rule),
  );
  const announced = await announcedOf(session, ids);
  const rows = await decidingMembers(session, ids, breathe);
  const decided: Decided[] = [];
  const pace = new Pace(breathe);
  for (const group of groups) {
    const { rule, isRetired } = rules.get(group.rule_id) ?? { rule: DEFAULT_RULE, isRetired: false };
    const ofGroup = rows.get(group.id) ?? [];
    const members: GroupMember[] = [];
    for (const row of ofGroup) {
      members.push(toMember(row, nowMs));
      if (pace.isOver()) await pace.rest();
    }
    // What takes long is alone in its piece: a decision about ten thousand members takes some milliseconds by itself.
    const isLarge = members.length > MEMBERS_AT_ONCE;
    if (isLarge) await pace.rest();
    const deciding = isRetired ? ending(rule, group.step) : rule;
    const decision = decide(stateOf(group, members), deciding, quiet.get(rule.quietHoursId ?? 0) ?? null, nowMs);
    decided.push({ group, rule, members: ofGroup, decision, announcedAtMs: announced.get(group.id) ?? null });
    if (isLarge || pace.isOver()) await pace.rest();
  }
  return decided;
}

interface GoverningRule {
  readonly rule: AlertRule;
  /** It was removed or switched off. */
  readonly isRetired: boolean;
}

/** Removed rules govern the groups that they began. */
async function rulesOf(
  { kysely }: Session,
  groups: readonly Row<"alert_groups">[],
): Promise<ReadonlyMap<number, GoverningRule>> {
  const ids = [...new Set(groups.map((group) => group.rule_id))];
  const rows = await kysely.selectFrom("alert_rules").selectAll().where("id", "in", ids).execute();
  return new Map(
    rows.map((row) => [row.id, { rule: ruleOfRow(row), isRetired: row.removed_at_ms !== null || row.active === 0 }]),
  );
}

/** It ends what it began: it reminds no one, and takes no further step. */
function ending(rule: AlertRule, step: number): AlertRule {
  return { ...rule, repeatS: null, escalation: rule.escalation.slice(0, step) };
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

function stateOf(group: Row<"alert_groups">, members: readonly GroupMember[]): GroupState {
  return {
    isNotice: group.is_notice === 1,
    isFold: group.is_fold === 1,
    firstToldAtMs: group.first_told_at_ms,
    toldAtMs: group.told_at_ms,
    repeats: group.repeats,
    step: group.step,
    members,
  };
}
