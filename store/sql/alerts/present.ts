/** The present state of groups: members with what is true of their incidents and monitors now, whatever events have come so far. */
import type { GroupMember } from "../../../model/alerting.ts";
import { BoundedMap } from "../../../model/bounded-map.ts";
import { familyOf, type Kind } from "../../../model/kind.ts";
import { isActive } from "../../../model/monitor.ts";
import { type Session, type Statement, statement } from "../db/database.ts";
import type { Dialect } from "../schema/dialect.ts";
import type { Row } from "../schema/tables.ts";
import { fromJson } from "../schema/text.ts";
import type { Breathe } from "./pace.ts";
import type { ToldMember } from "./port.ts";

/** What decides whether something is said. */
const DECIDING = `m.group_id, m.subject, m.event, m.severity, m.told_severity, m.firing, m.told, m.acknowledged, m.monitor_id, m.channel_id,
  m.joined_at_ms, m.said_at_ms, n.id as known_monitor_id, n.tags, n.pause_reasons, n.deleted_at_ms, n.maintenance_from_ms, n.maintenance_until_ms,
  i.level, i.ended_at_ms as incident_ended_at_ms, i.acknowledged_at_ms`;
const SAYING = `${DECIDING}, m.incident_id, m.name, m.why, m.since_ms, m.ended_at_ms, n.name as monitor_name, n.kind as monitor_kind, n.host,
  i.error_message, i.error_category, i.locations, i.started_at_ms`;
const FROM = `from alert_members m left join monitors n on n.id = m.monitor_id left join incidents i on i.id = m.incident_id`;

/** Members of one reading: it takes some milliseconds of the thread. */
export const MEMBERS_AT_ONCE = 500;

interface Reading {
  readonly small: Readonly<Record<Dialect, Statement>>;
  readonly page: Statement;
}

/** `small`: all members of some groups; `page`: some of one group, behind a subject. */
function reading(name: string, columns: string): Reading {
  const small = `select ${columns} ${FROM} where m.group_id in`;
  return {
    small: {
      sqlite: statement(`${name}_small`, `${small} (select value from json_each(?))`),
      postgres: statement(`${name}_small`, `${small} (select value::bigint from json_array_elements_text(?::json))`),
    },
    page: statement(
      `${name}_page`,
      `select ${columns} ${FROM} where m.group_id = ? and m.subject > ? order by m.subject limit ${MEMBERS_AT_ONCE}`,
    ),
  };
}
const TO_DECIDE = reading("alerts_to_decide", DECIDING);
const TO_SAY = reading("alerts_to_say", SAYING);

const SIZES = {
  sqlite: statement(
    "alerts_group_sizes",
    "select group_id, count(*) as total from alert_members where group_id in (select value from json_each(?)) group by group_id",
  ),
  postgres: statement(
    "alerts_group_sizes",
    `select group_id, count(*) as total from alert_members
     where group_id in (select value::bigint from json_array_elements_text(?::json)) group by group_id`,
  ),
};

type MemberRow = Row<"alert_members">;
export interface DecidingRow
  extends Pick<
    MemberRow,
    | "group_id"
    | "subject"
    | "event"
    | "severity"
    | "told_severity"
    | "firing"
    | "told"
    | "acknowledged"
    | "monitor_id"
    | "channel_id"
    | "joined_at_ms"
    | "said_at_ms"
  > {
  readonly known_monitor_id: number | null;
  readonly tags: string | null;
  readonly pause_reasons: string | null;
  readonly deleted_at_ms: number | null;
  readonly maintenance_from_ms: number | null;
  readonly maintenance_until_ms: number | null;
  readonly level: "down" | "degraded" | null;
  readonly incident_ended_at_ms: number | null;
  readonly acknowledged_at_ms: number | null;
}
export interface PresentRow
  extends DecidingRow,
    Pick<MemberRow, "incident_id" | "name" | "why" | "since_ms" | "ended_at_ms"> {
  readonly monitor_name: string | null;
  readonly monitor_kind: Kind | null;
  readonly host: string | null;
  readonly error_message: string | null;
  readonly error_category: string | null;
  readonly locations: string | null;
  readonly started_at_ms: number | null;
}

/** By group, in no order. */
export function decidingMembers(
  session: Session,
  groupIds: readonly number[],
  breathe: Breathe,
): Promise<ReadonlyMap<number, readonly DecidingRow[]>> {
  return membersOf<DecidingRow>(session, TO_DECIDE, groupIds, breathe);
}

/** By group, those first that began first. */
export async function presentMembers(
  session: Session,
  groupIds: readonly number[],
  breathe: Breathe,
): Promise<ReadonlyMap<number, readonly PresentRow[]>> {
  const members = await membersOf<PresentRow>(session, TO_SAY, groupIds, breathe);
  for (const rows of members.values()) {
    rows.sort((a, b) => a.since_ms - b.since_ms || (a.subject < b.subject ? -1 : 1));
    if (rows.length > MEMBERS_AT_ONCE) await breathe();
  }
  return members;
}

async function membersOf<Of extends DecidingRow>(
  session: Session,
  { small, page }: Reading,
  groupIds: readonly number[],
  breathe: Breathe,
): Promise<ReadonlyMap<number, Of[]>> {
  const sizes = await session.query<{ group_id: number; total: number }>(
    SIZES[session.dialect],
    JSON.stringify(groupIds),
  );
  const members = new Map<number, Of[]>();
  const keep = (rows: readonly Of[]): void => {
    for (const row of rows) {
      const list = members.get(row.group_id);
      if (list === undefined) members.set(row.group_id, [row]);
      else list.push(row);
    }
  };
  const isLarge = (total: number): boolean => total > MEMBERS_AT_ONCE;
  for (const some of portions(
    sizes.filter(({ total }) => !isLarge(total)),
    ({ total }) => total,
  )) {
    keep(await session.query<Of>(small[session.dialect], JSON.stringify(some.map((group) => group.group_id))));
    await breathe();
  }
  for (const { group_id: id } of sizes.filter(({ total }) => isLarge(total))) {
    let last = "";
    for (let rows: readonly Of[] | undefined; rows === undefined || rows.length === MEMBERS_AT_ONCE; ) {
      rows = await session.query<Of>(page, id, last);
      keep(rows);
      last = rows.at(-1)?.subject ?? last;
      await breathe();
    }
  }
  return members;
}

/** Items in their order, so many together that their sizes are at most MEMBERS_AT_ONCE; a larger one is alone. */
export function* portions<Item>(items: readonly Item[], sizeOf: (item: Item) => number): Generator<readonly Item[]> {
  let some: Item[] = [];
  let total = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (some.length > 0 && total + size > MEMBERS_AT_ONCE) {
      yield some;
      [some, total] = [[], 0];
    }
    some.push(item);
    total += size;
  }
  if (some.length > 0) yield some;
}

/** Deleted monitors are not reported. */
function isGone(row: DecidingRow): boolean {
  return row.monitor_id !== null && (row.known_monitor_id === null || row.deleted_at_ms !== null);
}

function isPaused({ pause_reasons: reasons }: DecidingRow): boolean {
  return reasons !== null && reasons !== "[]" && !isActive({ pauseReasons: fromJson(reasons) });
}

/** What was told of a deleted monitor ends, and so does an incident of a paused one: on resuming it is told anew (joining.ts). */
function isUnwatched(row: DecidingRow): boolean {
  if (row.told === "no" || row.told === "held") return false;
  return isGone(row) || (row.level !== null && isPaused(row));
}

function isFiring(row: DecidingRow): boolean {
  return row.firing === 1 && row.incident_ended_at_ms === null && !isGone(row) && !isUnwatched(row);
}

function isAcknowledged(row: DecidingRow): boolean {
  return row.acknowledged === 1 || row.acknowledged_at_ms !== null;
}

/** Lists of tags and places, by their JSON: many members have the same ones, and parsing them would take most of the time. */
const WORDS = new BoundedMap<string, readonly string[]>(1_000);

function wordsOf(text: string | null): readonly string[] {
  if (text === null) return [];
  const known = WORDS.get(text);
  if (known !== undefined) return known;
  const words = fromJson<string[]>(text);
  WORDS.set(text, words);
  return words;
}

/** As decide() takes it. */
export function toMember(row: DecidingRow, nowMs: number): GroupMember {
  return {
    subject: row.subject,
    firing: isFiring(row),
    told: row.told === "held" && isGone(row) ? "ended" : row.told,
    severity: row.level === "down" ? "critical" : row.severity,
    toldSeverity: row.told_severity,
    tags: wordsOf(row.tags),
    joinedAtMs: row.joined_at_ms,
    acknowledged: isAcknowledged(row),
    heldUntilMs: heldUntil(row, nowMs),
    isUnwatched: isUnwatched(row),
  };
}

function heldUntil(row: DecidingRow, nowMs: number): number | null {
  const { maintenance_from_ms: fromMs, maintenance_until_ms: untilMs } = row;
  if (fromMs !== null && untilMs !== null && fromMs <= nowMs && nowMs < untilMs) return untilMs;
  return row.event !== "sync" && isPaused(row) ? Number.POSITIVE_INFINITY : null;
}

/** As messages say it. @param madeAtMs when the message was made: it is about what was said then */
export function toTold(row: PresentRow, madeAtMs: number): ToldMember {
  const isDown = row.level === "down";
  // One literal: objects that are spread into each other take ten times as long, and there may be ten thousand.
  return {
    subject: row.subject,
    event: isDown ? "down" : row.event,
    severity: isDown ? "critical" : row.severity,
    firing: isFiring(row),
    isTold: row.told !== "no" && row.told !== "held",
    isUnwatched: isUnwatched(row),
    isNew: row.said_at_ms === madeAtMs,
    acknowledged: isAcknowledged(row),
    name: row.monitor_name ?? row.name ?? row.subject,
    monitorId: row.monitor_id,
    incidentId: row.incident_id,
    isTunnel: row.monitor_kind !== null && familyOf(row.monitor_kind) === "tunnel",
    host: row.host,
    tags: wordsOf(row.tags),
    why: row.error_message ?? row.why,
    stage: row.error_category,
    locations: wordsOf(row.locations),
    sinceMs: row.started_at_ms ?? row.since_ms,
    endedAtMs: row.incident_ended_at_ms ?? row.ended_at_ms,
  };
}
