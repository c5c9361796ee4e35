/** What happened during an incident (docs/api-contract.md#incidents). */
import { bulkInsert, insertRows } from "../db/bulk.ts";
import { type Session, statement } from "../db/database.ts";
import { decoder, encoder } from "../schema/column.ts";
import { INCIDENT_EVENTS, type Row } from "../schema/tables.ts";
import type { IncidentEvent } from "./port.ts";

export type NewIncidentEvent = Omit<IncidentEvent, "id">;

export const toEvent = decoder(INCIDENT_EVENTS) as (row: Row<"incident_events">) => IncidentEvent;
const fromEvent = encoder<NewIncidentEvent, typeof INCIDENT_EVENTS.columns>(INCIDENT_EVENTS);

const ADD_EVENTS = bulkInsert(INCIDENT_EVENTS);

export async function insertEvents(
  session: Session,
  events: readonly { readonly incidentId: number; readonly event: NewIncidentEvent }[],
): Promise<void> {
  if (events.length === 0) return;
  await insertRows(
    session,
    ADD_EVENTS,
    events.map(({ incidentId, event }) => ({ ...fromEvent(event), incident_id: incidentId })),
  );
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

/** Writes the event of many monitors at once; monitors without an open incident are left out. */
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
