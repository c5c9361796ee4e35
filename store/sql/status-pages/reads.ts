/** What status pages show, read for all monitors of a page at once: a page may have ten thousand of them. */
import type { Past } from "../../../model/days.ts";
import type { Family, Kind } from "../../../model/kind.ts";
import type { LiveStatus } from "../../../model/status.ts";
import { chunksOf } from "../db/bulk.ts";
import { isIn } from "../db/conditions.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import type { NoteData } from "../incidents/port.ts";
import { fromJson } from "../schema/text.ts";
import type { PageMember, PublicWords, StatusPages } from "./port.ts";

/** Incidents, changes of pause and windows of one page, each, newest first; a piece has its share. Before the oldest nothing counts as known. */
const MOST_READ = 50_000;
/** Monitors of one piece: a few milliseconds of a thread. */
const MONITORS_AT_ONCE = 250;
/** Public notes of all incidents of one page, newest first. */
const MOST_NOTES = 300;
/** In the JSON of a note; a quote within its text has a backslash before it. */
const IS_PUBLIC = '%"public":true%';

const MEMBERS = statement(
  "status_page_members",
  `select m.id, m.name, m.name_key, m.kind, m.family, m.tags, m.active, m.subscription_id, m.created_at_ms, m.maintenance_from_ms,
     m.maintenance_until_ms, l.status, l.latency_ms, l.last_checked_at_ms, l.certificate_expires_at_ms
   from monitors m join live l on l.monitor_id = m.id
   where m.project_id = ? and m.deleted_at_ms is null and (m.name_key, m.id) > (?, ?) order by m.name_key, m.id limit ?`,
);
interface MemberRow {
  readonly id: number;
  readonly name: string;
  readonly name_key: string;
  readonly kind: Kind;
  readonly family: Family;
  readonly tags: string;
  readonly active: 0 | 1;
  readonly subscription_id: number | null;
  readonly created_at_ms: number;
  readonly maintenance_from_ms: number | null;
  readonly maintenance_until_ms: number | null;
  readonly status: LiveStatus;
  readonly latency_ms: number | null;
  readonly last_checked_at_ms: number | null;
  readonly certificate_expires_at_ms: number | null;
}

export function createPageReads({ read }: Database): Pick<StatusPages, "members" | "pasts" | "words"> {
  return {
    async members(projectId, pause) {
      const members: PageMember[] = [];
      let last: { readonly name_key: string; readonly id: number } | undefined;
      do {
        const rows: readonly MemberRow[] = await read.query<MemberRow>(
          MEMBERS,
          ...[projectId, last?.name_key ?? "", last?.id ?? 0, MONITORS_AT_ONCE],
        );
        for (const row of rows) members.push(memberOf(row));
        last = rows.length === MONITORS_AT_ONCE ? rows.at(-1) : undefined;
        await pause();
      } while (last !== undefined);
      return members;
    },
    async pasts(members, sinceMs, pause) {
      const found = new Map<number, Past>();
      const share = Math.ceil(MOST_READ / Math.max(1, Math.ceil(members.length / MONITORS_AT_ONCE)));
      for (const some of chunksOf(members, MONITORS_AT_ONCE)) {
        for (const [id, past] of await pasts(read, some, { sinceMs, most: share })) found.set(id, past);
        await pause();
      }
      return found;
    },
    words: (incidentIds) => words(read, incidentIds),
  };
}

function memberOf(row: MemberRow): PageMember {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    family: row.family,
    tags: row.tags === "[]" ? [] : fromJson<readonly string[]>(row.tags),
    subscriptionId: row.subscription_id,
    isPaused: row.active === 0,
    maintenance:
      row.maintenance_from_ms === null || row.maintenance_until_ms === null
        ? null
        : { fromMs: row.maintenance_from_ms, untilMs: row.maintenance_until_ms },
    createdAtMs: row.created_at_ms,
    status: row.status,
    latencyMs: row.latency_ms,
    lastCheckedAtMs: row.last_checked_at_ms,
    certificateExpiresAtMs: row.certificate_expires_at_ms,
  };
}

interface Reading {
  readonly sinceMs: number;
  /** Rows of each kind. */
  readonly most: number;
}

async function pasts(
  session: Session,
  members: Parameters<StatusPages["pasts"]>[0],
  { sinceMs, most }: Reading,
): Promise<ReadonlyMap<number, Past>> {
  const ids = members.map(({ id }) => id);
  const incidents = await incidentsOf(session, ids, { sinceMs, most });
  const pauseEvents = await pauseEventsOf(session, ids, most);
  const windows = await windowsOf(session, ids, { sinceMs, most });
  const readFromMs = Math.max(
    incidents.at(most - 1)?.started_at_ms ?? 0,
    pauseEvents.at(most - 1)?.at_ms ?? 0,
    windows.at(most - 1)?.ends_at_ms ?? 0,
  );
  const found = new Map<
    number,
    {
      incidents: Past["incidents"][number][];
      pauseEvents: Past["pauseEvents"][number][];
      maintenance: Past["maintenance"][number][];
      knownFromMs: number;
    }
  >();
  const created = new Map(members.map(({ id, createdAtMs }) => [id, createdAtMs]));
  const of = (id: number) => {
    const known = found.get(id);
    if (known !== undefined) return known;
    const knownFromMs = Math.max(created.get(id) ?? 0, readFromMs);
    const made = { incidents: [], pauseEvents: [], maintenance: [], knownFromMs };
    found.set(id, made);
    return made;
  };
  for (const { monitor_id, level, started_at_ms, ended_at_ms, raised_at_ms } of incidents)
    of(monitor_id).incidents.push({
      fromMs: started_at_ms,
      toMs: ended_at_ms,
      downFromMs: level === "down" ? (raised_at_ms ?? started_at_ms) : null,
    });
  for (const { monitor_id, type, at_ms } of pauseEvents)
    of(monitor_id).pauseEvents.push({ type: type === "paused" ? "paused" : "resumed", atMs: at_ms });
  for (const { monitor_id, starts_at_ms, ends_at_ms } of windows)
    of(monitor_id).maintenance.push({ fromMs: starts_at_ms, toMs: ends_at_ms });
  // Where not all was read, every monitor is known from then on only.
  if (readFromMs > 0) for (const id of ids) of(id);
  return found;
}

function incidentsOf({ kysely, dialect }: Session, ids: readonly number[], { sinceMs, most }: Reading) {
  return (
    kysely
      .selectFrom("incidents as i")
      // An incident may begin as degraded; it is down from then on when its level changed.
      .leftJoin("incident_events as e", (join) =>
        join.onRef("e.incident_id", "=", "i.id").on("e.type", "=", "level_changed"),
      )
      .select(["i.monitor_id", "i.level", "i.started_at_ms", "i.ended_at_ms", "e.at_ms as raised_at_ms"])
      .where(isIn(dialect, "i.monitor_id", ids))
      .where((of) => of.or([of("i.ended_at_ms", "is", null), of("i.ended_at_ms", ">", sinceMs)]))
      .orderBy("i.started_at_ms", "desc")
      .limit(most)
      .execute()
  );
}

function pauseEventsOf({ kysely, dialect }: Session, ids: readonly number[], most: number) {
  return kysely
    .selectFrom("history as h")
    .innerJoin("monitors as m", "m.id", "h.monitor_id")
    .select(["h.monitor_id", "h.type", "h.at_ms"])
    .where(isIn(dialect, "m.id", ids))
    .where("h.type", "in", ["paused", "resumed"])
    .orderBy("h.at_ms", "desc")
    .orderBy("h.id", "desc")
    .limit(most)
    .execute();
}

function windowsOf({ kysely, dialect }: Session, ids: readonly number[], { sinceMs, most }: Reading) {
  return kysely
    .selectFrom("maintenance_windows as w")
    .innerJoin("monitors as m", "m.id", "w.monitor_id")
    .select(["w.monitor_id", "w.starts_at_ms", "w.ends_at_ms"])
    .where(isIn(dialect, "m.id", ids))
    .where("w.ends_at_ms", ">", sinceMs)
    .orderBy("w.ends_at_ms", "desc")
    .limit(most)
    .execute();
}

async function words(
  { kysely, dialect }: Session,
  incidentIds: readonly number[],
): Promise<ReadonlyMap<number, PublicWords>> {
  if (incidentIds.length === 0) return new Map();
  const reports = await kysely
    .selectFrom("incidents as i")
    .select(["i.id", "i.public_title", "i.postmortem"])
    .where(isIn(dialect, "i.id", incidentIds))
    .where("i.postmortem_public", "=", 1)
    .execute();
  const events = await kysely
    .selectFrom("incident_events as e")
    .innerJoin("incidents as i", "i.id", "e.incident_id")
    .select(["e.incident_id", "e.at_ms", "e.data"])
    .where(isIn(dialect, "i.id", incidentIds))
    .where("e.type", "=", "note")
    .where("e.data", "like", IS_PUBLIC)
    .orderBy("e.id", "desc")
    .limit(MOST_NOTES)
    .execute();
  const found = new Map<number, PublicWords>(
    reports.map(({ id, public_title, postmortem }) => [id, { title: public_title, postmortem, notes: [] }]),
  );
  for (const { incident_id, at_ms, data } of events.reverse()) {
    const { text, phase } = fromJson<NoteData>(data);
    const before = found.get(incident_id) ?? { title: null, postmortem: null, notes: [] };
    found.set(incident_id, { ...before, notes: [...before.notes, { text, phase, atMs: at_ms }] });
  }
  return found;
}
