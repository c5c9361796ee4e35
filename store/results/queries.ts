/**
 * The reads, as SQL. Retention is applied here, because merges are lazy: the last day comes whole from `results`; before it, `results`
 * gives the changes and `recent` the rest of each monitor's newest rows. The three parts do not overlap.
 */

import { PERIOD_MS, PHASES } from "../../model/result.ts";
import { FULL_RETENTION_MS, MAX_RETENTION_MS, NEWEST_KEPT } from "../../model/retention.ts";
import { ROW_STATUSES, type RowStatus } from "../../model/status.ts";
import type { LatencyQuery, ResultStore } from "./result-store.ts";
import { columnsOf, READ_COLUMNS } from "./row.ts";
import { FAILED, OURS } from "./schema.ts";

export type MonitorQuery = Parameters<ResultStore["ofMonitor"]>[0];
export type ProjectQuery = Parameters<ResultStore["ofProject"]>[0];

/**
 * Reads a page from windows that reach further and further back; the first that fills it is the answer, or else the last. A busy project's
 * newest rows are minutes old, and rows of the last day need no read of `recent`.
 */
export type Attempts = readonly string[];

const HOUR_S = 3_600;
const HOUR_MS = HOUR_S * 1_000;
/** The first window of a project's page, ms. */
const PROJECT_FIRST_MS = 30 * 60_000;

const NEWEST_FIRST = "ORDER BY tested_at DESC, id DESC";

/** Which monitors, and which of their rows. The two are separate, because a row's rank counts all rows of its monitor. */
interface Scope {
  readonly owner: string;
  readonly status: RowStatus | null;
}

export function monitorRowsSql(database: string, query: MonitorQuery): Attempts {
  const window = windowOf(query);
  const select = `SELECT ${columnsOf(query.details)} FROM`;
  const page = `${NEWEST_FIRST} LIMIT ${whole(query.limit)} OFFSET ${whole(query.offset)}`;
  const scope = monitorScope(query);
  const today = `${select} ${database}.results WHERE ${conditions(scope)} AND ${window.today} ${page}`;
  return window.hasOlder ? [today, `${select} ${union(database, scope, window)} ${page}`] : [today];
}

export function countMonitorSql(database: string, query: MonitorQuery): string {
  const window = windowOf(query);
  const scope: Scope = { ...monitorScope(query), status: null };
  const source = window.hasOlder
    ? union(database, scope, window)
    : `${database}.results WHERE ${conditions(scope)} AND ${window.today}`;
  const total = query.status === null ? "count()" : `countIf(status = ${word(query.status)})`;
  return `SELECT ${total} AS total, count() AS in_period, countIf(status = 'healthy') AS healthy FROM ${source}`;
}

export function projectRowsSql(database: string, query: ProjectQuery): Attempts {
  const window = windowOf(query);
  const hidden =
    query.withoutMonitorIds.length === 0
      ? ""
      : ` AND monitor_id NOT IN (${query.withoutMonitorIds.map(whole).join(", ")})`;
  const scope: Scope = {
    owner: `project_id = ${whole(query.projectId)}${hidden}`,
    status: query.onlyDown ? "down" : null,
  };
  const select = `SELECT ${columnsOf(query.details)} FROM`;
  const page = `${NEWEST_FIRST} LIMIT ${whole(query.limit)}`;
  const since = (condition: string) =>
    `${select} ${database}.results WHERE ${conditions(scope)} AND ${condition} ${page}`;
  const attempts = [since(window.today)];
  if (PERIOD_MS[query.period] > PROJECT_FIRST_MS)
    attempts.unshift(since(`tested_at >= ${moment(query.nowMs - PROJECT_FIRST_MS)}`));
  if (window.hasOlder) attempts.push(`${select} ${union(database, scope, window)} ${page}`);
  return attempts;
}

/** FINAL and the seq: as in the union below. */
export function newestSql(
  database: string,
  { projectId, monitorIds, nowMs }: { projectId: number; monitorIds: readonly number[]; nowMs: number },
): string {
  const owner = `project_id = ${whole(projectId)} AND monitor_id IN (${monitorIds.map(whole).join(", ")})`;
  return `SELECT ${columnsOf(false)}, seq, duration_ms FROM ${database}.recent FINAL
    WHERE ${owner} AND tested_at >= ${moment(nowMs - MAX_RETENTION_MS)} ORDER BY monitor_id, seq`;
}

/** Rows that leave a window first, in one read. */
export const LEAVING_ROWS = 1_024;

export type CountQuery = Parameters<ResultStore["countsOf"]>[0];

export function statusCountsSql(database: string, query: CountQuery): string {
  const counts = ROW_STATUSES.map((status) => `countIf(status = ${word(status)}) AS ${status}`).join(", ");
  return `SELECT ${counts}, max(seq) AS newest_seq FROM ${windowRows(database, query)}`;
}

export function leavingSql(database: string, query: CountQuery): string {
  return `SELECT toUnixTimestamp64Milli(tested_at) AS tested_at_ms, status FROM ${windowRows(database, query)}
    ORDER BY tested_at LIMIT ${LEAVING_ROWS}`;
}

export function latencySql(database: string, query: LatencyQuery): string {
  const stepS = whole(query.stepS);
  const where = [
    `project_id = ${whole(query.projectId)} AND monitor_id = ${whole(query.monitorId)}`,
    ...(query.location === null ? [] : [`location = ${place(query.location)}`]),
  ].join(" AND ");
  if (query.source === "rows") return rowsLatencySql(database, query, where, stepS);
  const hour = (unixMs: number) => `toDateTime(${whole(Math.floor(unixMs / HOUR_MS) * HOUR_S)}, 'UTC')`;
  return `SELECT intDiv(toUnixTimestamp(hour), ${stepS}) * ${stepS} AS t, min(latency_min) AS least,
      sum(latency_sum) / nullIf(sum(latency_count), 0) AS mean, max(latency_max) AS most, sum(checks) AS all_checks,
      sum(failed) AS all_failed, sum(ours) AS all_ours, quantilesTDigestMerge(0.5, 0.95)(latency_q) AS quantiles
    FROM ${database}.hours WHERE ${where} AND hour >= ${hour(query.fromMs)} AND hour < ${hour(query.toMs + HOUR_MS - 1)}
    GROUP BY t ORDER BY t`;
}

function rowsLatencySql(database: string, { fromMs, toMs }: LatencyQuery, where: string, stepS: string): string {
  const phases = PHASES.map(
    (phase) => `avgOrNullIf(JSONExtractFloat(phases, '${phase}'), JSONHas(phases, '${phase}')) AS ${phase}`,
  ).join(", ");
  return `SELECT intDiv(toUnixTimestamp(tested_at), ${stepS}) * ${stepS} AS t, min(latency_ms) AS least, avg(latency_ms) AS mean,
      max(latency_ms) AS most, count() AS all_checks, ${FAILED} AS all_failed, ${OURS} AS all_ours,
      quantilesTDigest(0.5, 0.95)(latency_ms) AS quantiles, ${phases}
    FROM ${database}.results WHERE ${where} AND tested_at >= ${moment(fromMs)} AND tested_at < ${moment(toMs)}
    GROUP BY t ORDER BY t`;
}

function windowRows(database: string, { projectId, monitorId, period, nowMs }: CountQuery): string {
  const { today, hasOlder } = windowOf({ period, nowMs });
  if (hasOlder) throw new RangeError(`not every row of ${period} is kept`);
  const owner = `project_id = ${whole(projectId)} AND monitor_id = ${whole(monitorId)}`;
  return `${database}.results WHERE ${owner} AND ${today}`;
}

function monitorScope({ projectId, monitorId, status }: MonitorQuery): Scope {
  return { owner: `project_id = ${whole(projectId)} AND monitor_id = ${whole(monitorId)}`, status };
}

function conditions({ owner, status }: Scope): string {
  return status === null ? owner : `${owner} AND status = ${word(status)}`;
}

interface Window {
  /** Rows of the period that are younger than a day. */
  readonly today: string;
  /** Rows of the period that are older. */
  readonly older: string;
  readonly hasOlder: boolean;
}

function windowOf({ period, nowMs }: { period: MonitorQuery["period"]; nowMs: number }): Window {
  const fromMs = nowMs - Math.min(PERIOD_MS[period], MAX_RETENTION_MS);
  const dayMs = nowMs - FULL_RETENTION_MS;
  return {
    today: `tested_at >= ${moment(Math.max(fromMs, dayMs))}`,
    older: `tested_at >= ${moment(fromMs)} AND tested_at < ${moment(dayMs)}`,
    hasOlder: fromMs < dayMs,
  };
}

/** FINAL: of two rows in one slot only the newer counts. The seq says which rows are among the newest, whatever has been merged. */
function union(database: string, scope: Scope, { today, older }: Window): string {
  const newest = `SELECT monitor_id, max(seq) AS newest_seq FROM ${database}.recent WHERE ${scope.owner} GROUP BY monitor_id`;
  return `(
    SELECT ${READ_COLUMNS} FROM ${database}.results WHERE ${conditions(scope)} AND (${today} OR (${older} AND changed = 1))
    UNION ALL
    SELECT ${READ_COLUMNS} FROM ${database}.recent FINAL INNER JOIN (${newest}) AS newest USING (monitor_id)
    WHERE ${conditions(scope)} AND ${older} AND changed = 0 AND seq + ${NEWEST_KEPT} > newest_seq
  )`;
}

function word(status: RowStatus): string {
  if (!ROW_STATUSES.includes(status)) throw new TypeError(`not a status: ${status}`);
  return `'${status}'`;
}

function place(location: string): string {
  if (!/^[a-z]{2,3}$/.test(location)) throw new TypeError(`not a location: ${location}`);
  return `'${location}'`;
}

/** Anything else would be text inside SQL. */
function whole(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`not a whole number: ${value}`);
  return String(value);
}

function moment(unixMs: number): string {
  return `fromUnixTimestamp64Milli(toInt64(${whole(Math.floor(unixMs))}), 'UTC')`;
}
