/** When a monitor was down, degraded, paused and in maintenance, from incidents, history and windows. */
import type { Past } from "../../../model/days.ts";
import type { Downtime } from "../../../model/uptime.ts";
import { type Session, statement } from "../db/database.ts";

/** Most incidents, changes of pause and windows that one answer reads, newest first. Of a monitor with more only the time that they cover is known. */
const MAX_READ = 2_000;

interface MonitorAge {
  readonly id: number;
  readonly createdAtMs: number;
}

/** Prepared, as the next: both are asked with every list of a monitor's results. */
const DOWN = statement(
  "downtime",
  `select i.started_at_ms, i.ended_at_ms, e.at_ms as raised_at_ms from incidents i
   left join incident_events e on e.incident_id = i.id and e.type = 'level_changed'
   where i.monitor_id = ? and i.level = 'down' and (i.ended_at_ms is null or i.ended_at_ms > ?)
   order by i.started_at_ms desc limit ${MAX_READ}`,
);
const TURNS = statement(
  "pause_turns",
  `select type, at_ms from history where monitor_id = ? and type in ('paused', 'resumed')
   order by at_ms desc, id desc limit ${MAX_READ}`,
);

interface DownColumns {
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly raised_at_ms: number | null;
}

interface TurnColumns {
  readonly type: "paused" | "resumed";
  readonly at_ms: number;
}

export async function readDowntime(session: Session, monitor: MonitorAge, sinceMs: number): Promise<Downtime> {
  const incidents = await session.query<DownColumns>(DOWN, monitor.id, sinceMs);
  const pauseEvents = await readPauseEvents(session, monitor.id);
  return {
    down: incidents.map((row) => ({ fromMs: row.raised_at_ms ?? row.started_at_ms, toMs: row.ended_at_ms })),
    pauseEvents,
    knownFromMs: knownFrom(monitor, incidents.at(MAX_READ - 1)?.started_at_ms, pauseEvents.at(MAX_READ - 1)?.atMs),
  };
}

export async function readPast(session: Session, monitor: MonitorAge, sinceMs: number): Promise<Past> {
  const incidents = await incidentsSince(session, monitor.id, sinceMs).execute();
  const pauseEvents = await readPauseEvents(session, monitor.id);
  const maintenance = await session.kysely
    .selectFrom("maintenance_windows")
    .select(["starts_at_ms as fromMs", "ends_at_ms as toMs"])
    .where("monitor_id", "=", monitor.id)
    .where("ends_at_ms", ">", sinceMs)
    .orderBy("ends_at_ms", "desc")
    .limit(MAX_READ)
    .execute();
  return {
    incidents: incidents.map(({ level, started_at_ms, ended_at_ms, raised_at_ms }) => ({
      fromMs: started_at_ms,
      toMs: ended_at_ms,
      downFromMs: level === "down" ? (raised_at_ms ?? started_at_ms) : null,
    })),
    pauseEvents,
    maintenance,
    knownFromMs: knownFrom(
      monitor,
      incidents.at(MAX_READ - 1)?.started_at_ms,
      pauseEvents.at(MAX_READ - 1)?.atMs,
      maintenance.at(MAX_READ - 1)?.toMs,
    ),
  };
}

function incidentsSince({ kysely }: Session, monitorId: number, sinceMs: number) {
  return (
    kysely
      .selectFrom("incidents as i")
      // An incident may begin as degraded; it is down from then on when its level changed.
      .leftJoin("incident_events as e", (join) =>
        join.onRef("e.incident_id", "=", "i.id").on("e.type", "=", "level_changed"),
      )
      .select(["i.level", "i.started_at_ms", "i.ended_at_ms", "e.at_ms as raised_at_ms"])
      .where("i.monitor_id", "=", monitorId)
      .where((of) => of.or([of("i.ended_at_ms", "is", null), of("i.ended_at_ms", ">", sinceMs)]))
      .orderBy("i.started_at_ms", "desc")
      .limit(MAX_READ)
  );
}

async function readPauseEvents(session: Session, monitorId: number): Promise<Past["pauseEvents"]> {
  const rows = await session.query<TurnColumns>(TURNS, monitorId);
  return rows.map(({ type, at_ms }) => ({ type, atMs: at_ms }));
}

function knownFrom({ createdAtMs }: MonitorAge, ...oldestRead: readonly (number | undefined)[]): number {
  return Math.max(createdAtMs, ...oldestRead.map((atMs) => atMs ?? 0));
}
