/** What happened during an incident (docs/api-contract.md#incidents). */
import type { Selectable } from "kysely";
import type { Actor, IncidentEvent } from "./control-plane.ts";
import { type Session, statement } from "./database.ts";
import type { IncidentEventTable } from "./tables.ts";
import { fromJson, storable, storableOrNull, toJson } from "./text.ts";

export type NewIncidentEvent = Omit<IncidentEvent, "id">;

/** Rows of one insert; eight values each stay far below SQLite's 32,766 parameters. */
const ROWS_PER_INSERT = 500;

export async function insertEvents(
  session: Session,
  events: readonly { readonly incidentId: number; readonly event: NewIncidentEvent }[],
): Promise<void> {
  for (let start = 0; start < events.length; start += ROWS_PER_INSERT) {
    const rows = events.slice(start, start + ROWS_PER_INSERT).map(({ incidentId, event }) => ({
      incident_id: incidentId,
      type: event.type,
      at_ms: Math.round(event.atMs),
      message: storable(event.message),
      actor: toJson(event.actor),
      location: storableOrNull(event.location),
      data: toJson(event.data),
    }));
    await session.kysely.insertInto("incident_events").values(rows).execute();
  }
}

/** Does nothing when the monitor has no open incident. */
export async function addEventToOpenIncident(
  session: Session,
  monitorId: number,
  event: NewIncidentEvent,
): Promise<void> {
  const open = await session.kysely
    .updateTable("incidents")
    .set((of) => ({ event_count: of("event_count", "+", 1) }))
    .where("monitor_id", "=", monitorId)
    .where("ended_at_ms", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (open !== undefined) await insertEvents(session, [{ incidentId: open.id, event }]);
}

const COUNT_OF_OPEN = {
  sqlite: statement(
    "count_open_events",
    `update incidents set event_count = event_count + 1
     where ended_at_ms is null and monitor_id in (select value from json_each(?)) returning id, monitor_id`,
  ),
  postgres: statement(
    "count_open_events",
    `update incidents set event_count = event_count + 1 where ended_at_ms is null
     and monitor_id in (select value::bigint from json_array_elements_text(?::json)) returning id, monitor_id`,
  ),
};

/** Of many monitors at once; those without an open incident are passed over. */
export async function addEventsToOpenIncidents(
  session: Session,
  events: ReadonlyMap<number, NewIncidentEvent>,
): Promise<void> {
  if (events.size === 0) return;
  const ids = JSON.stringify([...events.keys()]);
  const open = await session.query<{ id: number; monitor_id: number }>(COUNT_OF_OPEN[session.dialect], ids);
  await insertEvents(
    session,
    open.flatMap(({ id, monitor_id: monitorId }) => {
      const event = events.get(monitorId);
      return event === undefined ? [] : [{ incidentId: id, event }];
    }),
  );
}

/** Does nothing when the incident is gone with its monitor. */
export async function addEventToIncident(session: Session, incidentId: number, event: NewIncidentEvent): Promise<void> {
  const found = await session.kysely
    .updateTable("incidents")
    .set((of) => ({ event_count: of("event_count", "+", 1) }))
    .where("id", "=", incidentId)
    .returning("id")
    .executeTakeFirst();
  if (found !== undefined) await insertEvents(session, [{ incidentId, event }]);
}

export function toEvent(row: Selectable<IncidentEventTable>): IncidentEvent {
  return {
    id: row.id,
    type: row.type as IncidentEvent["type"],
    atMs: row.at_ms,
    message: row.message,
    actor: fromJson<Actor>(row.actor),
    location: row.location,
    data: fromJson(row.data),
  };
}
