/** Monitors, read: one, pages, searches, what the plan asks. Changes are in writes.ts. */
import { type SelectQueryBuilder, sql } from "kysely";
import { familyOf, type Kind, WEBSITE_KINDS } from "../../../model/kind.ts";
import type { Engines } from "../../../model/subscription.ts";
import { Slices } from "../../slices.ts";
import { toProject } from "../accounts/projects.ts";
import { isInShards } from "../coordination/shard-filter.ts";
import type { ShardFilter } from "../coordination/shards-port.ts";
import { contains } from "../db/conditions.ts";
import { type Database, type Session, type Statement, statement } from "../db/database.ts";
import { readGeneration } from "../db/generation.ts";
import type { Dialect } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import { caseKey, searchable, storable } from "../schema/text.ts";
import { sealedConfigs } from "./imports.ts";
import type { MonitorFilter, Monitors, MonitorWithLive } from "./port.ts";
import {
  CHECKED_COLUMNS,
  type CheckedRow,
  LIVE_COLUMNS,
  MONITOR_COLUMNS,
  type MonitorWithLiveRow,
  SEALED_COLUMN,
  SHOWN_COLUMNS,
  type ShownRow,
  toChecked,
  toMonitorWithLive,
  toShown,
} from "./rows.ts";
import { isSelected } from "./selecting.ts";
import { slotsUsed } from "./slots.ts";
import { createMonitorWrites } from "./writes.ts";

const FIND = statement(
  "find_monitor",
  `select ${[...MONITOR_COLUMNS, ...LIVE_COLUMNS].join(", ")} from monitors m join live l on l.monitor_id = m.id
   where m.id = ? and m.project_id = ? and m.deleted_at_ms is null`,
);

/** Ids come as one JSON value, so that the statement is one however many there are. By their ids, not by the index of the project (`+`). */
function byIds(name: string, columns: readonly string[]): Statement {
  const select = `select ${columns.join(", ")} from monitors m join live l on l.monitor_id = m.id where m.deleted_at_ms is null`;
  return {
    name: `sonde_${name}`,
    sqlite: `${select} and +m.project_id = ? and m.id in (select value from json_each(?))`,
    postgres: `${select} and m.project_id = $1 and m.id in (select value::bigint from json_array_elements_text($2::json))`,
  };
}

const FIND_ALL = byIds("find_monitors", [...MONITOR_COLUMNS, ...LIVE_COLUMNS]);
const FIND_LIVES = byIds("find_lives", SHOWN_COLUMNS);
const FIND_CHECKED = byIds("find_checked", CHECKED_COLUMNS);

/**
 * All website checks of a host have the same settings, but an http address cannot have certificate days. So the check that has most is read, which is the
 * first of the index of hosts (migration 0033).
 */
const HOST_EXPIRY = statement(
  "host_expiry",
  `select ssl_expiration_days as ssl_days, domain_expiration_days as domain_days from monitors
   where project_id = ? and host = ? and deleted_at_ms is null and kind in (${WEBSITE_KINDS.map((kind) => `'${kind}'`).join(", ")})
   order by coalesce(ssl_expiration_days, 0) + coalesce(domain_expiration_days, 0) desc, id limit 1`,
);

interface HostExpiryRow {
  readonly ssl_days: number | null;
  readonly domain_days: number | null;
}

/** Of the subscription that a monitor follows. */
const WORKERS = "(select s.max_workers from subscriptions s where s.id = m.subscription_id)";
const ALERT_PERCENT = "(select s.config_alert_percent from subscriptions s where s.id = m.subscription_id)";
const ENGINE = "(select s.engine from subscriptions s where s.id = m.subscription_id)";

const RECALL = statement(
  "recall_monitor",
  `select ${[...MONITOR_COLUMNS, SEALED_COLUMN, ...LIVE_COLUMNS].join(", ")}, ${WORKERS} as subscription_workers,
     ${ALERT_PERCENT} as subscription_alert_percent, ${ENGINE} as subscription_engine
   from monitors m join live l on l.monitor_id = m.id
   where m.id = ? and m.deleted_at_ms is null`,
);

type MonitorQuery = SelectQueryBuilder<Tables & { m: Tables["monitors"]; l: Tables["live"] }, "m" | "l", object>;

export function createMonitors(database: Database): Monitors {
  const { read } = database;
  return {
    ...createMonitorWrites(database),
    async find(projectId, id) {
      const row = (await read.query<MonitorWithLiveRow>(FIND, id, projectId))[0];
      return row && toMonitorWithLive(row);
    },
    findAll: async (projectId, ids) =>
      (await rowsOf<MonitorWithLiveRow>(read, FIND_ALL, projectId, ids)).map(toMonitorWithLive),
    lives: async (projectId, ids) => (await rowsOf<ShownRow>(read, FIND_LIVES, projectId, ids)).map(toShown),
    findChecked: async (projectId, ids) =>
      (await rowsOf<CheckedRow>(read, FIND_CHECKED, projectId, ids)).map(toChecked),
    ids: (projectId, filter) => inNameOrder(read, projectId, filter),
    list: (projectId, filter) => list(read, projectId, filter),
    search: (projectIds, text, id, limit, offset) => search(read, projectIds, text, id, limit, offset),
    async hostExpiry(projectId, host) {
      const [row] = await read.query<HostExpiryRow>(HOST_EXPIRY, projectId, host);
      return row === undefined ? null : { sslExpirationDays: row.ssl_days, domainExpirationDays: row.domain_days };
    },
    slotsUsed: (organizationId) => slotsUsed(read, organizationId),
    async names(projectId) {
      const rows = await read.kysely
        .selectFrom("monitors")
        .select(["id", "name"])
        .where("project_id", "=", projectId)
        .where("deleted_at_ms", "is", null)
        .execute();
      return new Map(rows.map((row) => [row.id, row.name]));
    },
    figures: (limit) => figures(read, limit),
    latestChecks: (projectId, sinceMs, limit) => latestChecks(read, projectId, sinceMs, limit),
    async deletedSince(projectId, sinceMs) {
      const rows = await read.kysely
        .selectFrom("monitors")
        .select("id")
        .where("project_id", "=", projectId)
        .where("deleted_at_ms", ">=", sinceMs)
        .orderBy("id")
        .execute();
      return rows.map((row) => row.id);
    },
    async recall(id) {
      const row = (await read.query<MonitorWithLiveRow>(RECALL, id))[0];
      return row && (await withConfigs(read, [toMonitorWithLive(row)]))[0];
    },
    changedSince: (generation, filter) => changedSince(read, generation, filter),
  };
}

async function rowsOf<Row>(
  session: Session,
  wanted: Statement,
  projectId: number,
  ids: readonly number[],
): Promise<readonly Row[]> {
  return ids.length === 0 ? [] : session.query<Row>(wanted, projectId, JSON.stringify(ids));
}

/** Of all pages, where neither the order nor the filter asks for what checks move. */
async function inNameOrder(session: Session, projectId: number, filter: MonitorFilter): Promise<readonly number[]> {
  const rows = await filtered(monitorsWithoutLive(session), session.dialect, projectId, filter)
    .select("m.id")
    .orderBy("m.name_key")
    .orderBy("m.id")
    .execute();
  return rows.map(({ id }) => id);
}

function latestChecks(session: Session, projectId: number, sinceMs: number, limit: number) {
  return session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select([
      "m.id as monitorId",
      "m.kind",
      "l.last_row_id as lastRowId",
      "l.last_row_status as lastRowStatus",
      "l.last_checked_at_ms as lastCheckedAtMs",
      "l.latency_ms as latencyMs",
      "l.connect_ms as connectMs",
      "l.error_message as errorMessage",
    ])
    .where("m.project_id", "=", projectId)
    .where("m.deleted_at_ms", "is", null)
    .where("l.last_checked_at_ms", ">", sinceMs)
    .where("l.last_row_id", "is not", null)
    .orderBy("l.last_checked_at_ms", "desc")
    .limit(limit)
    .execute();
}

async function figures(session: Session, limit: number) {
  const rows = await monitorsWithLive(session)
    .where("m.active", "=", 1)
    .select([
      ...(["m.id", "m.project_id as projectId", "m.name", "m.kind", "l.status", "l.latency_ms as latencyMs"] as const),
      "l.certificate_expires_at_ms as certificateExpiresAtMs",
    ])
    .orderBy("m.id")
    .limit(limit)
    .execute();
  const active = monitorsWithoutLive(session).where("m.active", "=", 1);
  return { rows, total: await countAll(active, rows.length, { limit, offset: 0 }) };
}

/** Rows that are read before others have their turn: SQLite runs on the thread that calls it, and takes 30 µs for each. */
const ROWS_AT_ONCE = 100;

async function list(session: Session, projectId: number, filter: MonitorFilter) {
  const page = filtered(monitorsWithLive(session), session.dialect, projectId, filter)
    .$call((query) => inOrder(query, filter))
    .orderBy("m.name_key")
    .orderBy("m.id")
    .limit(filter.limit)
    .offset(filter.offset);
  const rows =
    filter.limit > ROWS_AT_ONCE && session.dialect === "sqlite"
      ? await inParts(
          session,
          projectId,
          (await page.select("m.id").execute()).map(({ id }) => id),
        )
      : await page.select([...MONITOR_COLUMNS, ...LIVE_COLUMNS]).execute();
  const isLiveAsked = filter.select?.status !== undefined || (filter.status !== null && filter.status !== "paused");
  const base = isLiveAsked ? monitorsWithLive(session) : monitorsWithoutLive(session);
  const counted = filtered(base, session.dialect, projectId, filter);
  return { rows: rows.map(toMonitorWithLive), total: await countAll(counted, rows.length, filter) };
}

/** @returns those of them that there are, in their order */
async function inParts(session: Session, projectId: number, ids: readonly number[]) {
  const slices = new Slices();
  const rows = new Map<number, MonitorWithLiveRow>();
  for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
    const some = await rowsOf<MonitorWithLiveRow>(session, FIND_ALL, projectId, ids.slice(from, from + ROWS_AT_ONCE));
    for (const row of some) rows.set(row.id, row);
    await slices.rest();
  }
  return ids.flatMap((id) => rows.get(id) ?? []);
}

/** Worst first. */
const STATUS_RANK = sql<number>`case when m.active = 0 then 5 when l.status = 'down' then 0 when l.status = 'degraded' then 1
  when l.status = 'partial' then 2 when l.status = 'unknown' then 3 else 4 end`;

/** What has no value for it comes last, whichever the order; ties go by name. */
function inOrder<Row>(
  query: SelectQueryBuilder<Tables & { m: Tables["monitors"]; l: Tables["live"] }, "m" | "l", Row>,
  { sort = "name", order = "asc" }: Pick<MonitorFilter, "sort" | "order">,
) {
  switch (sort) {
    case "name":
      return order === "asc" ? query : query.orderBy("m.name_key", order).orderBy("m.id", order);
    case "status":
      return query.orderBy(STATUS_RANK, order);
    case "latency":
      return query.orderBy("l.latency_ms", (by) => (order === "asc" ? by.asc().nullsLast() : by.desc().nullsLast()));
    case "checked":
      return query.orderBy("l.last_checked_at_ms", (by) =>
        order === "asc" ? by.asc().nullsLast() : by.desc().nullsLast(),
      );
  }
}

function filtered(base: MonitorQuery, dialect: Dialect, projectId: number, filter: MonitorFilter): MonitorQuery {
  const { family, activeOnly, status, protocol, nameContains, select } = filter;
  let query = base.where("m.project_id", "=", projectId);
  if (family !== "all") query = query.where("m.family", "=", family);
  if (activeOnly) query = query.where("m.active", "=", 1);
  if (protocol !== null) query = query.where("m.kind", "=", storable(protocol) as Kind);
  if (status === "paused") query = query.where("m.active", "=", 0);
  else if (status !== null) query = query.where("m.active", "=", 1).where("l.status", "=", status);
  if (nameContains !== null) query = query.where(contains(dialect, "m.name_key", caseKey(nameContains)));
  if (select !== undefined) query = query.where((of) => isSelected(of, dialect, select));
  return query;
}

async function search(
  session: Session,
  projectIds: readonly number[],
  text: string,
  id: number | null,
  limit: number,
  offset: number,
) {
  if (projectIds.length === 0) return { rows: [], total: 0 };
  const isMatch = contains(session.dialect, "m.search_key", searchable(text));
  const matching = (base: MonitorQuery): MonitorQuery =>
    base
      .where("m.project_id", "in", projectIds)
      .where((of) => (id === null ? isMatch : of.or([isMatch, of("m.id", "=", id)])));
  const rows = await matching(monitorsWithLive(session))
    .select([...MONITOR_COLUMNS, ...LIVE_COLUMNS])
    .orderBy("m.name_key")
    .orderBy("m.id")
    .limit(limit)
    .offset(offset)
    .execute();
  const projects = await session.kysely.selectFrom("projects").selectAll().where("id", "in", projectIds).execute();
  const byId = new Map(projects.map((row) => [row.id, toProject(row)]));
  return {
    rows: rows.map(toMonitorWithLive).flatMap((row) => {
      const project = byId.get(row.monitor.projectId);
      return project === undefined ? [] : [{ ...row, project }];
    }),
    total: await countAll(matching(monitorsWithoutLive(session)), rows.length, { limit, offset }),
  };
}

function monitorsWithLive(session: Session): MonitorQuery {
  return session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .where("m.deleted_at_ms", "is", null);
}

/** To count what the index alone can count: every monitor that is not deleted has a live row, so the join changes no number. */
function monitorsWithoutLive(session: Session): MonitorQuery {
  const query = session.kysely.selectFrom("monitors as m").where("m.deleted_at_ms", "is", null);
  return query as unknown as MonitorQuery;
}

/** Matches across all pages; a page that is not full shows the number already. */
async function countAll(
  matching: MonitorQuery,
  found: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<number> {
  if (found < page.limit && (found > 0 || page.offset === 0)) return page.offset + found;
  const { total } = await matching.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return total;
}

/** What is checked, with everything that a check needs. */
function planned(session: Session, filter: ShardFilter | undefined) {
  return monitorsWithLive(session)
    .select([...MONITOR_COLUMNS, SEALED_COLUMN, ...LIVE_COLUMNS])
    .select(sql<number | null>`${sql.raw(WORKERS)}`.as("subscription_workers"))
    .select(sql<number | null>`${sql.raw(ALERT_PERCENT)}`.as("subscription_alert_percent"))
    .select(sql<Engines | null>`${sql.raw(ENGINE)}`.as("subscription_engine"))
    .where("m.active", "=", 1)
    .where("m.project_id", "not in", inactiveProjects(session))
    .where(isInShards("m.id", filter))
    .orderBy("m.id");
}

async function changedSince(session: Session, generation: number, filter: ShardFilter | undefined) {
  // The generation is read first. A change that commits in between is reported now and once more next time.
  const current = await readGeneration(session);
  if (!Number.isFinite(generation)) {
    const rows = await planned(session, filter).execute();
    return { generation: current, changed: await withConfigs(session, rows.map(toMonitorWithLive)), removedIds: [] };
  }
  if (current <= generation) return { generation: current, changed: [], removedIds: [] };
  const removedIds: number[] = [];
  const states = await session.kysely
    .selectFrom("monitors")
    .select("id")
    .where("generation", ">", generation)
    .where(isInShards("id", filter))
    .where((of) =>
      of.or([
        of("active", "=", 0),
        of("deleted_at_ms", "is not", null),
        of("project_id", "in", inactiveProjects(session)),
      ]),
    )
    .orderBy("id")
    .execute();
  for (const { id } of states) removedIds.push(id);
  const rows = await planned(session, filter).where("m.generation", ">", generation).execute();
  const changed = await withConfigs(session, rows.map(toMonitorWithLive));
  return { generation: current, changed, removedIds: notIn(removedIds, changed) };
}

/** A tunnel without fields of its own was imported, and runs the configs of its server. */
async function withConfigs(session: Session, rows: readonly MonitorWithLive[]): Promise<readonly MonitorWithLive[]> {
  const imported = rows.flatMap(({ monitor: { id, kind, sealed } }) =>
    sealed === undefined && familyOf(kind) === "tunnel" ? [id] : [],
  );
  if (imported.length === 0) return rows;
  const configs = await sealedConfigs(session, imported);
  return rows.map((row) => {
    const own = configs.get(row.monitor.id);
    return own === undefined ? row : { ...row, monitor: { ...row.monitor, configs: own } };
  });
}

function inactiveProjects(session: Session) {
  return session.kysely.selectFrom("projects").select("id").where("active", "=", 0);
}

/** A monitor that was resumed between the two questions is in both answers: the later one holds. */
function notIn(ids: readonly number[], changed: readonly MonitorWithLive[]): readonly number[] {
  const back = new Set(changed.map(({ monitor }) => monitor.id));
  return ids.filter((id) => !back.has(id));
}
