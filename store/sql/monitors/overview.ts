/** The overview's reads: prepared statements, because they answer ten thousand rows and are asked once a second. */
import type { Kind } from "../../../model/kind.ts";
import { type Database, statement } from "../db/database.ts";
import { fromJson } from "../schema/text.ts";
import type { OverviewRead, OverviewState } from "./overview-port.ts";

const MONITORS = statement(
  "overview_monitors",
  `select id, name, kind, tags, active, paused_at_ms, maintenance_from_ms, maintenance_until_ms, subscription_id
   from monitors where project_id = ? and deleted_at_ms is null order by name_key, id`,
);
interface MonitorColumns {
  readonly id: number;
  readonly name: string;
  readonly kind: Kind;
  readonly tags: string;
  readonly active: 0 | 1;
  readonly paused_at_ms: number | null;
  readonly maintenance_from_ms: number | null;
  readonly maintenance_until_ms: number | null;
  readonly subscription_id: number | null;
}

const STATES = statement(
  "overview_states",
  `select l.monitor_id as "monitorId", l.status, l.status_since_ms as "statusSinceMs", l.last_checked_at_ms as "lastCheckedAtMs",
     l.latency_ms as "latencyMs", l.lateness_ms as "latenessMs"
   from monitors m join live l on l.monitor_id = m.id where m.project_id = ? and m.deleted_at_ms is null`,
);

const INCIDENTS = statement(
  "overview_incidents",
  `select count(*) as active, count(case when i.acknowledged_at_ms is null then 1 end) as unacknowledged
   from incidents i join monitors m on m.id = i.monitor_id
   where i.project_id = ? and i.ended_at_ms is null and m.active = 1`,
);

const NO_TAGS: readonly string[] = [];

export function createOverview({ read }: Database): OverviewRead {
  return {
    async monitors(projectId) {
      const rows = await read.query<MonitorColumns>(MONITORS, projectId);
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        kind: row.kind,
        tags: row.tags === "[]" ? NO_TAGS : fromJson<readonly string[]>(row.tags),
        subscriptionId: row.subscription_id,
        isPaused: row.active === 0,
        pausedAtMs: row.paused_at_ms,
        maintenance:
          row.maintenance_from_ms === null || row.maintenance_until_ms === null
            ? null
            : { fromMs: row.maintenance_from_ms, untilMs: row.maintenance_until_ms },
      }));
    },
    states: (projectId) => read.query<OverviewState>(STATES, projectId),
    subscriptions: (projectId) =>
      read.kysely
        .selectFrom("subscriptions")
        .select(["id", "name"])
        .where("project_id", "=", projectId)
        .orderBy("id")
        .execute(),
    async openIncidents(projectId) {
      const row = (await read.query<{ active: number; unacknowledged: number }>(INCIDENTS, projectId))[0];
      return { active: row?.active ?? 0, unacknowledged: row?.unacknowledged ?? 0 };
    },
  };
}
