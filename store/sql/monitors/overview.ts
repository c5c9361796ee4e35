/**
 * The overview's reads, which answer ten thousand rows and are asked once a second. The database writes all rows as one JSON text: each value that a
 * driver hands over by itself costs more than to parse it (measured on SQLite with 10,000 monitors: 15 ms in place of 34, 22 in place of 47).
 */
import type { Kind } from "../../../model/kind.ts";
import type { LiveStatus } from "../../../model/status.ts";
import { type Database, type Session, type Statement, statement } from "../db/database.ts";
import { fromJson } from "../schema/text.ts";
import type { OverviewMonitor, OverviewRead, OverviewState } from "./overview-port.ts";

/** One row with one text, on both databases. @param from what follows `from` */
function rowsAsJson(name: string, columns: string, from: string, order = ""): Statement {
  const { sqlite } = statement(name, `select json_group_array(json_array(${columns})${order}) as json from ${from}`);
  const array = `json_agg(json_build_array(${columns})${order})`;
  return { ...statement(name, `select coalesce(${array}, '[]')::text as json from ${from}`), sqlite };
}

const MONITORS = rowsAsJson(
  "overview_monitors",
  "id, name, kind, tags, active, paused_at_ms, maintenance_from_ms, maintenance_until_ms, subscription_id, interval_s",
  "monitors where project_id = ? and deleted_at_ms is null",
  " order by name_key, id",
);
type MonitorRow = readonly [
  id: number,
  name: string,
  kind: Kind,
  tags: string,
  active: 0 | 1,
  pausedAtMs: number | null,
  maintenanceFromMs: number | null,
  maintenanceUntilMs: number | null,
  subscriptionId: number | null,
  intervalS: number,
];

/** In the order of ids, in which the table is kept. */
const STATES = rowsAsJson(
  "overview_states",
  "monitor_id, status, status_since_ms, last_checked_at_ms, latency_ms, lateness_ms",
  "live where monitor_id in (select id from monitors where project_id = ? and deleted_at_ms is null)",
);
type StateRow = readonly [
  monitorId: number,
  status: LiveStatus,
  statusSinceMs: number | null,
  lastCheckedAtMs: number | null,
  latencyMs: number | null,
  latenessMs: number | null,
];

const INCIDENTS = statement(
  "overview_incidents",
  `select count(*) as active, count(case when i.acknowledged_at_ms is null then 1 end) as unacknowledged
   from incidents i join monitors m on m.id = i.monitor_id
   where i.project_id = ? and i.ended_at_ms is null and m.active = 1`,
);

const NO_TAGS: readonly string[] = [];

export function createOverview({ read }: Database): OverviewRead {
  return {
    monitors: async (projectId) => (await rows<MonitorRow>(read, MONITORS, projectId)).map(toMonitor),
    states: async (projectId) => (await rows<StateRow>(read, STATES, projectId)).map(toState),
    subscriptions: (projectId) =>
      read.kysely
        .selectFrom("subscriptions")
        .select(["id", "name"])
        .where("project_id", "=", projectId)
        .orderBy("id")
        .execute(),
    expiring: (projectId, untilMs, limit) =>
      read.kysely
        .selectFrom("live as l")
        .innerJoin("monitors as m", "m.id", "l.monitor_id")
        .where("m.project_id", "=", projectId)
        .where("m.deleted_at_ms", "is", null)
        .where("m.active", "=", 1)
        .where("l.certificate_expires_at_ms", "<", untilMs)
        .orderBy("l.certificate_expires_at_ms")
        .orderBy("m.id")
        .limit(limit)
        .select(["m.id as monitorId", "l.certificate_expires_at_ms as expiresAtMs"])
        .$narrowType<{ expiresAtMs: number }>()
        .execute(),
    async openIncidents(projectId) {
      const row = (await read.query<{ active: number; unacknowledged: number }>(INCIDENTS, projectId))[0];
      return { active: row?.active ?? 0, unacknowledged: row?.unacknowledged ?? 0 };
    },
  };
}

async function rows<Row>(read: Session, wanted: Statement, projectId: number): Promise<readonly Row[]> {
  const [row] = await read.query<{ readonly json: string }>(wanted, projectId);
  return fromJson<readonly Row[]>(row?.json ?? "[]");
}

function toMonitor([
  id,
  name,
  kind,
  tags,
  active,
  pausedAtMs,
  fromMs,
  untilMs,
  subscriptionId,
  intervalS,
]: MonitorRow): OverviewMonitor {
  return {
    id,
    name,
    kind,
    tags: tags === "[]" ? NO_TAGS : fromJson<readonly string[]>(tags),
    subscriptionId,
    intervalS,
    isPaused: active === 0,
    pausedAtMs,
    maintenance: fromMs === null || untilMs === null ? null : { fromMs, untilMs },
  };
}

function toState([monitorId, status, statusSinceMs, lastCheckedAtMs, latencyMs, latenessMs]: StateRow): OverviewState {
  return { monitorId, status, statusSinceMs, lastCheckedAtMs, latencyMs, latenessMs };
}
