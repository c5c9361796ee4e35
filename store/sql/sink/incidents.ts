/**
 * Incident changes of a batch: folded in memory over the incidents that are open, then written with a few statements, however
 * many monitors fail at once. At most one incident of a monitor is open.
 */

import { SYSTEM_ACTOR } from "../../../model/actor.ts";
import { type EventMonitor, type IncidentEventType, incidentEvent, type NewEvent } from "../../../model/event.ts";
import type { IncidentChange, IncidentLevel } from "../../../model/incident.ts";
import type { ErrorCategory } from "../../../model/verdict.ts";
import { bulkUpdate, chunksOf } from "../db/bulk.ts";
import { type Session, statement } from "../db/database.ts";
import { eventMonitors } from "../events/event-monitors.ts";
import { appendEvents } from "../events/outbox.ts";
import { insertEvents, type NewIncidentEvent } from "../incidents/events.ts";
import { decoder, encoder, type SqlValue, valuesOf } from "../schema/column.ts";
import { INCIDENTS, type Row } from "../schema/tables.ts";

/** An incident while a batch is folded; one without an id is not in the database yet. */
export interface IncidentDraft {
  readonly id: number | null;
  readonly monitorId: number;
  readonly projectId: number;
  readonly startedAtMs: number;
  readonly acknowledgedAtMs: number | null;
  level: IncidentLevel;
  endedAtMs: number | null;
  errorMessage: string;
  errorCategory: ErrorCategory | null;
  locations: readonly string[];
  /** Those that this batch adds. */
  readonly events: NewIncidentEvent[];
  /** Events for webhooks, each with the incident as it was then. */
  readonly turns: IncidentTurn[];
}

interface IncidentTurn {
  readonly type: IncidentEventType;
  readonly atMs: number;
  readonly level: IncidentLevel;
  readonly endedAtMs: number | null;
  readonly errorMessage: string;
}

/** @returns every incident that the changes touch, those of one monitor in the order of their start */
export function foldIncidentChanges(
  changes: readonly IncidentChange[],
  projectOf: ReadonlyMap<number, number>,
  open: ReadonlyMap<number, IncidentDraft>,
): readonly IncidentDraft[] {
  const current = new Map(open);
  const touched = new Set<IncidentDraft>();
  for (const change of changes) {
    const projectId = projectOf.get(change.monitorId);
    if (projectId === undefined) continue;
    const incident = current.get(change.monitorId);
    if (incident === undefined) {
      if (change.type !== "open") continue;
      const opened = openIncident(change, projectId);
      current.set(change.monitorId, opened);
      touched.add(opened);
      continue;
    }
    changeIncident(incident, change);
    touched.add(incident);
    if (incident.endedAtMs !== null) current.delete(change.monitorId);
  }
  return [...touched];
}

type Change<Type extends IncidentChange["type"]> = Extract<IncidentChange, { type: Type }>;

function openIncident(change: Change<"open">, projectId: number): IncidentDraft {
  const { monitorId, atMs, startedAtMs, level, message, category, locations } = change;
  const opened = event("opened", atMs, `Incident opened: ${level}`, { level, error_message: message });
  const incident: IncidentDraft = {
    id: null,
    monitorId,
    projectId,
    startedAtMs: Math.round(startedAtMs),
    acknowledgedAtMs: null,
    level,
    endedAtMs: null,
    errorMessage: message,
    errorCategory: category,
    locations,
    events: [opened],
    turns: [],
  };
  turn(incident, "incident.opened", atMs);
  return incident;
}

function turn(incident: IncidentDraft, type: IncidentEventType, atMs: number): void {
  const { level, endedAtMs, errorMessage } = incident;
  incident.turns.push({ type, atMs: Math.round(atMs), level, endedAtMs, errorMessage });
}

function changeIncident(incident: IncidentDraft, change: IncidentChange): void {
  switch (change.type) {
    // An incident is open already: only a worse level changes it.
    case "open":
      describe(incident, change);
      if (change.level === "down") raise(incident, change);
      return;
    case "raise":
      describe(incident, change);
      raise(incident, change);
      return;
    case "message":
      describe(incident, change);
      return;
    case "location": {
      const data = { status: change.status, error_message: change.message };
      incident.events.push({
        ...event("location_changed", change.atMs, `Location ${change.location}: ${change.status}`, data),
        location: change.location,
      });
      return;
    }
    case "close": {
      incident.endedAtMs = Math.max(Math.round(change.atMs), incident.startedAtMs);
      const durationS = Math.floor((incident.endedAtMs - incident.startedAtMs) / 1_000);
      incident.events.push(event("recovered", change.atMs, "Incident recovered", { duration_seconds: durationS }));
      turn(incident, "incident.recovered", change.atMs);
      return;
    }
  }
}

function raise(incident: IncidentDraft, { atMs }: { readonly atMs: number }): void {
  if (incident.level === "down") return;
  incident.level = "down";
  incident.events.push(
    event("level_changed", atMs, "Level changed from degraded to down", { from: "degraded", to: "down" }),
  );
  turn(incident, "incident.level_changed", atMs);
}

function describe(incident: IncidentDraft, change: Change<"open" | "raise" | "message">): void {
  incident.errorMessage = change.message;
  incident.errorCategory = change.category;
  incident.locations = change.locations;
}

function event(
  type: NewIncidentEvent["type"],
  atMs: number,
  message: string,
  data: Readonly<Record<string, unknown>>,
): NewIncidentEvent {
  return { type, atMs: Math.round(atMs), message, actor: SYSTEM_ACTOR, location: null, data };
}

/** Ids come as one JSON value, so that the statement is one, however many there are. */
const OPEN = {
  sqlite: statement(
    "sink_open_incidents",
    `select * from incidents where ended_at_ms is null and monitor_id in (select value from json_each(?))`,
  ),
  postgres: statement(
    "sink_open_incidents",
    `select * from incidents where ended_at_ms is null
     and monitor_id in (select value::bigint from json_array_elements_text(?::json)) order by id for update`,
  ),
};

const CHANGED = ["level", "ended_at_ms", "error_message", "error_category", "locations"] as const;
const UPDATE = bulkUpdate("sink_update_incident", INCIDENTS, { set: CHANGED, add: ["event_count"], key: "id" });
const changedValues = valuesOf<IncidentDraft, typeof INCIDENTS.columns>(INCIDENTS, CHANGED);
const decode = decoder(INCIDENTS);
const encode = encoder<NewIncident, typeof INCIDENTS.columns>(INCIDENTS);
type NewIncident = Pick<IncidentDraft, "monitorId" | "projectId">;

export async function applyIncidentChanges(session: Session, changes: readonly IncidentChange[]): Promise<void> {
  if (changes.length === 0) return;
  const ids = [...new Set(changes.map((change) => change.monitorId))];
  const monitors = await eventMonitors(session, ids);
  const rows = await session.query<Row<"incidents">>(OPEN[session.dialect], JSON.stringify(ids));
  const projectOf = new Map([...monitors].map(([id, { projectId }]) => [id, projectId]));
  const open = new Map(rows.map((row) => [row.monitor_id, toDraft(row)]));
  const drafts = foldIncidentChanges(changes, projectOf, open);
  // Those that were open end before new ones begin, for the sake of the unique index.
  await session.bulk(
    UPDATE,
    drafts.flatMap((draft) => (draft.id === null ? [] : [updateValues(draft, draft.id)])),
  );
  const made = await insertDrafts(
    session,
    drafts.filter((draft) => draft.id === null),
  );
  const written = drafts.flatMap((draft) => toPair(draft, draft.id ?? made.get(draft)));
  await insertEvents(
    session,
    written.flatMap(([draft, incidentId]) => draft.events.map((added) => ({ incidentId, event: added }))),
  );
  await appendEvents(
    session,
    written.flatMap(([draft, incidentId]) => outwardEvents(draft, incidentId, monitors.get(draft.monitorId))),
  );
}

function outwardEvents(draft: IncidentDraft, id: number, monitor: EventMonitor | undefined): readonly NewEvent[] {
  if (monitor === undefined) return [];
  const { monitorId, startedAtMs, acknowledgedAtMs } = draft;
  return draft.turns.map(({ type, atMs, ...then }) => {
    const incident = { id, monitorId, monitorName: monitor.name, startedAtMs, acknowledgedAtMs, ...then };
    const status = type === "incident.recovered" ? "healthy" : then.level;
    return incidentEvent(type, monitor, status, incident, atMs);
  });
}

function toDraft(row: Row<"incidents">): IncidentDraft {
  const { eventCount: _, acknowledgedBy: __, ...incident } = decode(row);
  return { ...incident, events: [], turns: [] };
}

function updateValues(draft: IncidentDraft, id: number): readonly SqlValue[] {
  return [...changedValues(draft), draft.events.length, id];
}

/** @returns their ids: given in the order of the rows, so those of one monitor are in the order of their start */
async function insertDrafts(
  session: Session,
  drafts: readonly IncidentDraft[],
): Promise<ReadonlyMap<IncidentDraft, number>> {
  const idsOf = new Map<number, number[]>();
  for (const some of chunksOf(drafts)) {
    const rows = some.map((draft) => encode({ ...draft, acknowledgedBy: null, eventCount: draft.events.length }));
    const made = await session.kysely.insertInto("incidents").values(rows).returning(["id", "monitor_id"]).execute();
    for (const row of made) idsOf.set(row.monitor_id, [...(idsOf.get(row.monitor_id) ?? []), row.id]);
  }
  for (const ids of idsOf.values()) ids.sort((a, b) => b - a);
  return new Map(drafts.flatMap((draft) => toPair(draft, idsOf.get(draft.monitorId)?.pop())));
}

function toPair(draft: IncidentDraft, id: number | undefined): readonly (readonly [IncidentDraft, number])[] {
  return id === undefined ? [] : [[draft, id]];
}
