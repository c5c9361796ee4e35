/** What people write beside an incident: events of the type `note`. */
import type { Actor } from "../../../model/actor.ts";
import type { Session } from "../db/database.ts";
import { storable, toJson } from "../schema/text.ts";
import { toEvent } from "./events.ts";
import type { IncidentEvent, Incidents, NoteData } from "./port.ts";

export async function addNote(
  { kysely }: Session,
  { projectId, incidentId }: { readonly projectId: number; readonly incidentId: number },
  { note, nowMs, actor }: { readonly note: NoteData; readonly nowMs: number; readonly actor: Actor },
): Promise<IncidentEvent | undefined> {
  const found = await kysely
    .updateTable("incidents")
    .set((of) => ({ event_count: of("event_count", "+", 1) }))
    .where("id", "=", incidentId)
    .where("project_id", "=", projectId)
    .returning("id")
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const row = await kysely
    .insertInto("incident_events")
    .values({
      incident_id: incidentId,
      type: "note",
      at_ms: Math.round(nowMs),
      message: "Note",
      actor: toJson(actor),
      location: null,
      data: dataOf(note),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toEvent(row);
}

export async function changeNote(
  { kysely, dialect }: Session,
  incidentId: number,
  eventId: number,
  decide: Parameters<Incidents["changeNote"]>[2],
): Promise<IncidentEvent | undefined> {
  let query = kysely
    .selectFrom("incident_events")
    .selectAll()
    .where("id", "=", eventId)
    .where("incident_id", "=", incidentId)
    .where("type", "=", "note");
  if (dialect === "postgres") query = query.forUpdate();
  const row = await query.executeTakeFirst();
  if (row === undefined) return undefined;
  const before = toEvent(row);
  const note = decide(before);
  if (note !== null) {
    await kysely
      .updateTable("incident_events")
      .set({ data: dataOf(note) })
      .where("id", "=", eventId)
      .execute();
    return { ...before, data: { ...note } };
  }
  await kysely.deleteFrom("incident_events").where("id", "=", eventId).execute();
  await kysely
    .updateTable("incidents")
    .set((of) => ({ event_count: of("event_count", "-", 1) }))
    .where("id", "=", incidentId)
    .execute();
  return before;
}

function dataOf(note: NoteData): string {
  return toJson({ ...note, text: storable(note.text) });
}
