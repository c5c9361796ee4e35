/** Incidents, read and acknowledged; the sink opens and closes them (incidents.ts). */
import type { Actor } from "../../../model/actor.ts";
import { acknowledgedEvent, type EventMonitor } from "../../../model/event.ts";
import { hasTag, isIn } from "../db/conditions.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import { eventMonitors } from "../events/event-monitors.ts";
import { appendEvents } from "../events/outbox.ts";
import { decoder } from "../schema/column.ts";
import { INCIDENTS, type Row } from "../schema/tables.ts";
import { storableOrNull, toJson } from "../schema/text.ts";
import { readDowntime, readPast } from "./downtime.ts";
import { insertEvents, toEvent } from "./events.ts";
import { addNote, changeNote } from "./notes.ts";
import type { IncidentFilter, IncidentRecord, Incidents } from "./port.ts";
import { readReport, setReport } from "./report.ts";

type IncidentRow = Row<"incidents"> & {
  readonly monitor_name: string;
  readonly monitor_kind: string;
  readonly monitor_active: 0 | 1;
};
const decode = decoder(INCIDENTS);

const FIND = statement(
  "find_incident",
  `select i.*, m.name as monitor_name, m.kind as monitor_kind, m.active as monitor_active
   from incidents i join monitors m on m.id = i.monitor_id where i.id = ? and i.project_id = ?`,
);

const COUNT_OPEN = statement(
  "count_open_incidents",
  `select count(*) as total from incidents i join monitors m on m.id = i.monitor_id
   where i.ended_at_ms is null and m.active = 1`,
);

export function createIncidents({ read, write }: Database): Incidents {
  return {
    list: (projectId, filter) => list(read, projectId, filter),
    named: (projectId, wanted) => named(read, projectId, wanted),
    find: (projectId, id) => find(read, projectId, id),
    async events(incidentId, limit, offset) {
      const ofIncident = read.kysely.selectFrom("incident_events").where("incident_id", "=", incidentId);
      const rows = await ofIncident.selectAll().orderBy("at_ms").orderBy("id").limit(limit).offset(offset).execute();
      const { total } = await ofIncident.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return { rows: rows.map(toEvent), total };
    },
    acknowledge: (projectId, id, nowMs, actor, note) =>
      write(async (session) => {
        const before = await find(session, projectId, id);
        if (before === undefined) return undefined;
        // A transaction that needs both locks the monitor before the incident.
        const monitor = (await eventMonitors(session, [before.monitorId])).get(before.monitorId);
        const isFirst = await acknowledge(session, projectId, id, { nowMs, actor, note });
        const incident = await find(session, projectId, id);
        if (isFirst && incident !== undefined && monitor !== undefined) {
          await tell(session, monitor, incident, actor, nowMs);
        }
        return incident;
      }),
    acknowledgeAll: (projectId, ids, nowMs, actor, note) =>
      write((session) => acknowledgeAll(session, projectId, ids, { nowMs, actor, note })),
    addNote: (projectId, incidentId, note, nowMs, actor) =>
      write((session) => addNote(session, { projectId, incidentId }, { note, nowMs, actor })),
    changeNote: (incidentId, eventId, decide) => write((session) => changeNote(session, incidentId, eventId, decide)),
    report: (incidentId) => readReport(read, incidentId),
    setReport: (projectId, incidentId, report) => write((session) => setReport(session, projectId, incidentId, report)),
    async countOpen() {
      return (await read.query<{ total: number }>(COUNT_OPEN))[0]?.total ?? 0;
    },
    downtime: (monitor, sinceMs) => readDowntime(read, monitor, sinceMs),
    past: (monitor, sinceMs) => readPast(read, monitor, sinceMs),
  };
}

async function find(session: Session, projectId: number, id: number): Promise<IncidentRecord | undefined> {
  const row = (await session.query<IncidentRow>(FIND, id, projectId))[0];
  return row && toIncident(row);
}

async function named(
  { kysely, dialect }: Session,
  projectId: number,
  { incidentIds, monitorIds, sinceMs, limit }: Parameters<Incidents["named"]>[1],
): Promise<readonly IncidentRecord[]> {
  const rows = await kysely
    .selectFrom("incidents as i")
    .innerJoin("monitors as m", "m.id", "i.monitor_id")
    .selectAll("i")
    .select(["m.name as monitor_name", "m.kind as monitor_kind", "m.active as monitor_active"])
    .where("i.project_id", "=", projectId)
    .where((of) =>
      of.or([
        isIn(dialect, "i.id", incidentIds),
        of.and([
          isIn(dialect, "i.monitor_id", monitorIds),
          of.or([of("i.ended_at_ms", "is", null), of("i.ended_at_ms", ">=", sinceMs)]),
        ]),
      ]),
    )
    .orderBy("i.id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toIncident);
}

/** Two questions, so that each walks its index and stops at the limit, however many incidents there were. */
async function list(session: Session, projectId: number, filter: IncidentFilter): Promise<readonly IncidentRecord[]> {
  const { limit, offset = 0 } = filter;
  const openOnes = ofActiveMonitors(session, projectId, filter).where("i.ended_at_ms", "is", null);
  const open = await openOnes
    .orderBy((of) => of.case().when("i.level", "=", "down").then(0).else(1).end())
    .orderBy((of) => of.case().when("i.acknowledged_at_ms", "is", null).then(0).else(1).end())
    .orderBy("i.started_at_ms", "desc")
    .orderBy("i.id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
  const left = limit - open.length;
  if (left <= 0) return open.map(toIncident);
  const passed = offset === 0 || open.length > 0 ? 0 : offset - (await countOf(openOnes));
  const closed = await ofActiveMonitors(session, projectId, filter)
    .where("i.ended_at_ms", "is not", null)
    .orderBy("i.started_at_ms", "desc")
    .orderBy("i.id", "desc")
    .limit(left)
    .offset(passed)
    .execute();
  // One that closed between the two questions is in both: it is listed where it was met first.
  const seen = new Set(open.map((row) => row.id));
  return [...open, ...closed.filter((row) => !seen.has(row.id))].map(toIncident);
}

async function countOf(query: ReturnType<typeof ofActiveMonitors>): Promise<number> {
  const { total } = await query
    .clearSelect()
    .select((of) => of.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}

function ofActiveMonitors(session: Session, projectId: number, filter: IncidentFilter) {
  const { monitorId, fromMs = null, toMs = null, tag = null, acknowledged = null, level = null } = filter;
  let query = session.kysely
    .selectFrom("incidents as i")
    .innerJoin("monitors as m", "m.id", "i.monitor_id")
    .selectAll("i")
    .select(["m.name as monitor_name", "m.kind as monitor_kind", "m.active as monitor_active"])
    .where("i.project_id", "=", projectId)
    .where("m.active", "=", 1);
  if (monitorId !== null) query = query.where("i.monitor_id", "=", monitorId);
  if (fromMs !== null)
    query = query.where((of) => of.or([of("i.ended_at_ms", "is", null), of("i.ended_at_ms", ">=", fromMs)]));
  if (toMs !== null) query = query.where("i.started_at_ms", "<=", toMs);
  if (tag !== null) query = query.where(hasTag(session.dialect, tag));
  if (acknowledged !== null) query = query.where("i.acknowledged_at_ms", acknowledged ? "is not" : "is", null);
  return level === null ? query : query.where("i.level", "=", level);
}

/** Who acknowledges, when, and with which words. */
interface Acknowledgement {
  readonly nowMs: number;
  readonly actor: Actor;
  readonly note: string | null;
}

async function acknowledgeAll(
  session: Session,
  projectId: number,
  ids: readonly number[],
  acknowledgement: Acknowledgement,
): ReturnType<Incidents["acknowledgeAll"]> {
  const rows = session.kysely.selectFrom("incidents").select(["id", "monitor_id"]).where("project_id", "=", projectId);
  const found = await rows
    .where("id", "in", [...ids])
    .orderBy("id")
    .execute();
  // A transaction that needs both locks monitors before incidents, each in the order of ids.
  const monitors = await eventMonitors(session, [...new Set(found.map((row) => row.monitor_id))]);
  const acknowledged: Pick<IncidentRecord, "id" | "monitorId">[] = [];
  for (const { id, monitor_id: monitorId } of found) {
    if (!(await acknowledge(session, projectId, id, acknowledgement))) continue;
    acknowledged.push({ id, monitorId });
    const [incident, monitor] = [await find(session, projectId, id), monitors.get(monitorId)];
    if (incident !== undefined && monitor !== undefined)
      await tell(session, monitor, incident, acknowledgement.actor, acknowledgement.nowMs);
  }
  return { acknowledged, unchanged: found.length - acknowledged.length };
}

/** Changes nothing when the incident is acknowledged already. @returns whether this call did it */
async function acknowledge(
  session: Session,
  projectId: number,
  id: number,
  { nowMs, actor, note }: Acknowledgement,
): Promise<boolean> {
  const done = await session.kysely
    .updateTable("incidents")
    .set((of) => ({
      acknowledged_at_ms: nowMs,
      acknowledged_by: toJson(actor),
      event_count: of("event_count", "+", 1),
    }))
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .where("acknowledged_at_ms", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (done === undefined) return false;
  const data = { note: storableOrNull(note) };
  await insertEvents(session, [
    {
      incidentId: id,
      event: { type: "acknowledged", atMs: nowMs, message: "Incident acknowledged", actor, location: null, data },
    },
  ]);
  return true;
}

async function tell(
  session: Session,
  monitor: EventMonitor,
  incident: IncidentRecord,
  actor: Actor,
  nowMs: number,
): Promise<void> {
  const ofMonitor = session.kysely.selectFrom("live").where("monitor_id", "=", monitor.id);
  const { status } = await ofMonitor.select("status").executeTakeFirstOrThrow();
  await appendEvents(session, [acknowledgedEvent(monitor, status, incident, actor, nowMs)]);
}

function toIncident(row: IncidentRow): IncidentRecord {
  return {
    ...decode(row),
    monitorName: row.monitor_name,
    monitorKind: row.monitor_kind,
    monitorPaused: row.monitor_active === 0,
  };
}
