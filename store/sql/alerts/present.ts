/** The present state of groups: members with what is true of their incidents and monitors now, whatever events have come so far. */
import type { GroupMember } from "../../../model/alerting.ts";
import { familyOf, type Kind } from "../../../model/kind.ts";
import { isActive } from "../../../model/monitor.ts";
import { type Session, statement } from "../db/database.ts";
import type { Row } from "../schema/tables.ts";
import { fromJson } from "../schema/text.ts";
import type { ToldMember } from "./port.ts";

const COLUMNS = `m.group_id, m.subject, m.event, m.severity, m.told_severity, m.firing, m.told, m.acknowledged, m.monitor_id, m.incident_id,
  m.channel_id, m.name, m.why, m.since_ms, m.joined_at_ms, m.ended_at_ms, m.said_at_ms,
  n.name as monitor_name, n.kind as monitor_kind, n.host, n.tags, n.pause_reasons, n.deleted_at_ms, n.maintenance_from_ms, n.maintenance_until_ms,
  i.level, i.ended_at_ms as incident_ended_at_ms, i.acknowledged_at_ms, i.error_message, i.error_category, i.locations, i.started_at_ms`;
const FROM = `from alert_members m left join monitors n on n.id = m.monitor_id left join incidents i on i.id = m.incident_id`;

const PRESENT = {
  sqlite: statement(
    "alerts_present",
    `select ${COLUMNS} ${FROM} where m.group_id in (select value from json_each(?)) order by m.since_ms, m.subject`,
  ),
  postgres: statement(
    "alerts_present",
    `select ${COLUMNS} ${FROM} where m.group_id in (select value::bigint from json_array_elements_text(?::json))
     order by m.since_ms, m.subject`,
  ),
};

interface Beside {
  readonly monitor_name: string | null;
  readonly monitor_kind: Kind | null;
  readonly host: string | null;
  readonly tags: string | null;
  readonly pause_reasons: string | null;
  readonly deleted_at_ms: number | null;
  readonly maintenance_from_ms: number | null;
  readonly maintenance_until_ms: number | null;
  readonly level: "down" | "degraded" | null;
  readonly incident_ended_at_ms: number | null;
  readonly acknowledged_at_ms: number | null;
  readonly error_message: string | null;
  readonly error_category: string | null;
  readonly locations: string | null;
  readonly started_at_ms: number | null;
}
export type PresentRow = Row<"alert_members"> & Beside;

/** By group. */
export async function presentMembers(
  session: Session,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, readonly PresentRow[]>> {
  const rows = await session.query<PresentRow>(PRESENT[session.dialect], JSON.stringify(groupIds));
  const members = new Map<number, PresentRow[]>();
  for (const row of rows) {
    const list = members.get(row.group_id);
    if (list === undefined) members.set(row.group_id, [row]);
    else list.push(row);
  }
  return members;
}

/** Of what was deleted nothing is told. */
function isGone(row: PresentRow): boolean {
  return row.monitor_id !== null && (row.monitor_name === null || row.deleted_at_ms !== null);
}

function isFiring(row: PresentRow): boolean {
  return row.firing === 1 && row.incident_ended_at_ms === null && !isGone(row);
}

function isAcknowledged(row: PresentRow): boolean {
  return row.acknowledged === 1 || row.acknowledged_at_ms !== null;
}

/** As decide() takes it. Times that a clock wrote which was ahead count as now. */
export function toMember(row: PresentRow, nowMs: number): GroupMember {
  const gone = isGone(row);
  return {
    subject: row.subject,
    firing: isFiring(row),
    told: gone && row.told !== "no" ? "ended" : row.told,
    severity: row.level === "down" ? "critical" : row.severity,
    toldSeverity: row.told_severity,
    tags: row.tags === null ? [] : fromJson<string[]>(row.tags),
    joinedAtMs: Math.min(row.joined_at_ms, nowMs),
    acknowledged: isAcknowledged(row),
    heldUntilMs: heldUntil(row, nowMs),
  };
}

function heldUntil(row: PresentRow, nowMs: number): number | null {
  const { maintenance_from_ms: fromMs, maintenance_until_ms: untilMs } = row;
  if (fromMs !== null && untilMs !== null && fromMs <= nowMs && nowMs < untilMs) return untilMs;
  const isPaused = row.pause_reasons !== null && !isActive({ pauseReasons: fromJson(row.pause_reasons) });
  return isPaused && row.event !== "sync" ? Number.POSITIVE_INFINITY : null;
}

/** As messages say it. @param madeAtMs when the message was made: it is about what was said then */
export function toTold(row: PresentRow, madeAtMs: number): ToldMember {
  const { subject, event, severity, monitor_id: monitorId, incident_id: incidentId } = row;
  return {
    ...{
      subject,
      event: row.level === "down" ? "down" : event,
      severity: row.level === "down" ? "critical" : severity,
    },
    firing: isFiring(row),
    isTold: row.told === "firing" || row.told === "ended",
    isNew: row.said_at_ms === madeAtMs,
    acknowledged: isAcknowledged(row),
    name: row.monitor_name ?? row.name ?? subject,
    ...{ monitorId, incidentId, host: row.host },
    isTunnel: row.monitor_kind !== null && familyOf(row.monitor_kind) === "tunnel",
    tags: row.tags === null ? [] : fromJson<string[]>(row.tags),
    why: row.error_message ?? row.why,
    stage: row.error_category,
    locations: row.locations === null ? [] : fromJson<string[]>(row.locations),
    sinceMs: row.started_at_ms ?? row.since_ms,
    endedAtMs: row.incident_ended_at_ms ?? row.ended_at_ms,
  };
}
