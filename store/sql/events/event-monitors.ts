/** Monitors for the data of events. They are read, and locked until the end of the transaction, only when there is an event. */
import type { EventMonitor } from "../../../model/event.ts";
import type { Kind } from "../../../model/kind.ts";
import type { PauseReason } from "../../../model/monitor.ts";
import { type Session, statement } from "../db/database.ts";
import { fromJson } from "../schema/text.ts";

/** Ids come as one JSON value, so that the statement is one, however many there are. */
const MONITORS = {
  sqlite: statement(
    "sink_monitors",
    `select id, project_id, name, kind, tags, pause_reasons from monitors
     where id in (select value from json_each(?)) and deleted_at_ms is null`,
  ),
  // Locked, so that a monitor that is being deleted gets no incident afterwards; in the order of ids, so that no deadlock is possible.
  postgres: statement(
    "sink_monitors",
    `select id, project_id, name, kind, tags, pause_reasons from monitors
     where id in (select value::bigint from json_array_elements_text(?::json)) and deleted_at_ms is null order by id for share`,
  ),
};

interface MonitorColumns {
  readonly id: number;
  readonly project_id: number;
  readonly name: string;
  readonly kind: string;
  readonly tags: string;
  readonly pause_reasons: string;
}

/** @returns by id, those that are not deleted */
export async function eventMonitors(
  session: Session,
  ids: readonly number[],
): Promise<ReadonlyMap<number, EventMonitor>> {
  const rows = await session.query<MonitorColumns>(MONITORS[session.dialect], JSON.stringify(ids));
  return new Map(rows.map((row) => [row.id, toMonitor(row)]));
}

function toMonitor(row: MonitorColumns): EventMonitor {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    kind: row.kind as Kind,
    tags: fromJson(row.tags),
    pauseReasons: fromJson<PauseReason[]>(row.pause_reasons),
  };
}
