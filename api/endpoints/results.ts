/** Check results (docs/api-contract.md#results). When the result store is away these answer 503; everything kept in SQL goes on. */
import { z } from "zod";
import { formatId } from "../../model/ids.ts";
import { STATUS_LETTERS } from "../../model/letters.ts";
import type { MaybePromise } from "../../model/maybe-promise.ts";
import { PERIOD_MS, PERIODS } from "../../model/result.ts";
import { NEWEST_KEPT } from "../../model/retention.ts";
import { type Downtime, uptimePercent } from "../../model/uptime.ts";
import { StoreError } from "../../store/errors.ts";
import { rowOfLatest } from "../../store/recent/latest.ts";
import type { Beats, KnownMonitor, OfMonitor } from "../../store/recent/recent-results.ts";
import type { MonitorResults } from "../../store/results/result-store.ts";
import type { CheckedMonitor } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { refusal, resultsAway } from "../errors.ts";
import { type ApiResponse, JSON_HEADERS } from "../http.ts";
import type { Known } from "../known-monitors.ts";
import { listed } from "../listed.ts";
import {
  limitParameter,
  monitorIdsParameter,
  offsetParameter,
  readQuery,
  switchParameter,
  wordParameter,
} from "../query.ts";
import { resultBytes } from "../result-bytes.ts";
import { resultJson } from "../results-json.ts";
import { type ProjectCall, pathId, type Refusal, type ResponseHeader, type Route, shape } from "../route.ts";
import { serverIdParams } from "./params.ts";

const projectQuery = {
  period: wordParameter({
    words: PERIODS,
    fallback: "24h",
    message: "period must be 15m, 1h, 24h or 7d.",
    description: "How far back.",
    lowercase: true,
  }),
  limit: limitParameter(500),
  explain: switchParameter(
    "Adds `explain` to each row: lateness, location, checker, verdict, phases, why it failed; an addition of ours.",
  ),
} as const;

const LONGEST_MS = Math.max(...PERIODS.map((period) => PERIOD_MS[period]));

const monitorQuery = {
  ...projectQuery,
  offset: offsetParameter,
  status: wordParameter({
    words: ["healthy", "down", "degraded"],
    aliases: { up: "healthy" },
    fallback: null,
    message: "status must be healthy, down or degraded.",
    description: "Only results with this status; `up` is healthy.",
  }),
} as const;

type Member = "results" | "failures";

function pageKey({ project, request }: ProjectCall, name: Member): string {
  return `${project.id} ${name} ${request.query}`;
}

function keptPage(api: Api, call: ProjectCall, name: Member): ApiResponse | undefined {
  const kept = api.projectPages.find(pageKey(call, name), call.nowMs);
  return kept === undefined ? undefined : { ...answered(api, kept.body), tag: kept.tag };
}

/** @param name of the member that has the rows */
async function ofProject(api: Api, call: ProjectCall, name: Member): Promise<ApiResponse> {
  const key = pageKey(call, name);
  const { period, limit, explain } = readQuery(projectQuery, call.request.query);
  const { nowMs } = call;
  const projectId = call.project.id;
  const moment = api.projectPages.moment(nowMs);
  const names = await api.projectNames.of(projectId);
  const asked = api.results.ofProject({
    projectId,
    period,
    onlyDown: name === "failures",
    limit,
    nowMs,
    details: explain,
    isShown: (monitorId) => names.has(monitorId),
    more: () => moreOf(api, projectId, nowMs - PERIOD_MS[period], limit),
  });
  const isFromMemory = !(asked instanceof Promise);
  const rows = await reading(api, () => asked);
  // Some are of monitors that were deleted since the names were read.
  const shown = rows.flatMap((row) => {
    const monitor = names.get(row.monitorId);
    return monitor === undefined ? [] : [resultJson(row, monitor)];
  });
  const text = `{"${name}":[${shown.join(",")}],"period":"${period}","total":${shown.length}}`;
  const { body, tag } = api.projectPages.keep(key, { moment, isFromMemory }, text);
  return { ...answered(api, body), tag };
}

/** What only a read of the store needs. */
async function moreOf({ controlPlane: { monitors } }: Api, projectId: number, fromMs: number, limit: number) {
  const [deleted, latest] = await Promise.all([
    monitors.deletedSince(projectId, fromMs),
    monitors.latestChecks(projectId, fromMs, limit),
  ]);
  return { deleted, latest: latest.flatMap((check) => rowOfLatest(check) ?? []) };
}

function all(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ofProject(api, call, "results");
}

function failures(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ofProject(api, call, "failures");
}

function ofMonitorInMemory(api: Api, call: ProjectCall): MaybePromise<ApiResponse | undefined> {
  const id = pathId(call, "server", "invalidServerId");
  const known = api.knownMonitors.find(call.project.id, id, call.nowMs);
  if (known !== undefined && known.downtime !== null) return pageInMemory(api, call, known);
  return readKnown(api, call, id).then((read) => pageInMemory(api, call, read));
}

async function ofMonitor(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { nowMs } = call;
  const { monitor, name, downtime } = await readKnown(api, call, pathId(call, "server", "invalidServerId"));
  const query = { ...readQuery(monitorQuery, call.request.query), monitor, nowMs };
  const { head, tail, nameJson } = frameOf(query, name, downtime);
  const read = await reading(api, () => api.results.ofMonitor({ ...query, details: query.explain }));
  return answered(api, head + read.rows.map((row) => resultJson(row, nameJson)).join(",") + tail(read));
}

/** From SQL. @throws 404 */
async function readKnown(api: Api, { project, nowMs }: ProjectCall, id: number): Promise<Known> {
  const generation = api.authCache.generation();
  const [found] = await api.controlPlane.monitors.findChecked(project.id, [id]);
  if (found === undefined) throw refusal("serverNotFound");
  // Of the longest period: it serves the others, too.
  const downtime = await api.controlPlane.incidents.downtime(found, nowMs - LONGEST_MS);
  api.knownMonitors.keep(found, downtime, generation, nowMs);
  return { monitor: knownMonitor(found), name: found.name, downtime };
}

/** undefined: not all of it is in memory. */
function pageInMemory(api: Api, call: ProjectCall, { monitor, name, downtime }: Known): ApiResponse | undefined {
  const query = { ...readQuery(monitorQuery, call.request.query), monitor, nowMs: call.nowMs };
  const page = api.results.placesOfMonitor({ ...query, details: query.explain });
  if (page === undefined) return undefined;
  const { head, tail, nameJson } = frameOf(query, name, downtime);
  return answered(api, resultBytes(head, { ...page, monitorId: monitor.id, nameJson }, tail(page)));
}

/** What stands around the rows of a monitor. */
function frameOf(
  { monitor, period, nowMs }: Pick<OfMonitor, "monitor" | "period" | "nowMs">,
  name: string,
  downtime: Downtime | null,
) {
  const nameJson = JSON.stringify(name);
  const head = `{"server_id":"${formatId("server", monitor.id)}","server_name":${nameJson},"results":[`;
  const tail = ({ total, inPeriod, healthy }: Omit<MonitorResults, "rows">): string => {
    const window = { fromMs: nowMs - PERIOD_MS[period], toMs: nowMs };
    const uptime = inPeriod === 0 || downtime === null ? null : uptimePercent(downtime, window);
    const rate = inPeriod === 0 ? null : Math.round((healthy / inPeriod) * 100);
    return `],"period":"${period}","total":${total},"success_rate":${rate},"uptime_percent":${uptime}}`;
  };
  return { head, tail, nameJson };
}

function knownMonitor({ id, projectId, seq, latest }: CheckedMonitor): KnownMonitor {
  return { id, projectId, seq, latest: rowOfLatest(latest) };
}

/** Most monitors of one answer. */
const MOST_RECENT = 100;
const RECENT_LIMIT = 40;

const recentQuery = {
  ids: monitorIdsParameter("ids", MOST_RECENT, "Monitors whose results are wanted, separated by commas."),
  limit: limitParameter(RECENT_LIMIT, "How many of each.", NEWEST_KEPT),
} as const;

async function recentInMemory(api: Api, call: ProjectCall): Promise<ApiResponse | undefined> {
  const { ids: wanted, limit } = readQuery(recentQuery, call.request.query);
  const ids = wanted ?? [];
  const beats = api.results.beatsInMemory(await monitorsOf(api, call, ids), limit, call.nowMs);
  return beats === undefined ? undefined : answered(api, beatsText(ids, beats, call.nowMs));
}

async function recent(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { ids: wanted, limit } = readQuery(recentQuery, call.request.query);
  const ids = wanted ?? [];
  const monitors = await monitorsOf(api, call, ids);
  const beats = await reading(api, () => api.results.beats(monitors, limit, call.nowMs));
  return answered(api, beatsText(ids, beats, call.nowMs));
}

/** Those of them that exist. SQL is asked only about those that are not cached. */
async function monitorsOf(api: Api, call: ProjectCall, ids: readonly number[]): Promise<readonly KnownMonitor[]> {
  const { project, nowMs } = call;
  const generation = api.authCache.generation();
  const monitors: KnownMonitor[] = [];
  const unknown: number[] = [];
  for (const id of ids) {
    const known = api.knownMonitors.find(project.id, id, nowMs);
    if (known === undefined) unknown.push(id);
    else monitors.push(known.monitor);
  }
  if (unknown.length === 0) return monitors;
  for (const found of await api.controlPlane.monitors.findChecked(project.id, unknown)) {
    api.knownMonitors.keep(found, null, generation, nowMs);
    monitors.push(knownMonitor(found));
  }
  return monitors;
}

function beatsText(ids: readonly number[], beats: ReadonlyMap<number, Beats>, nowMs: number): string {
  const servers = ids.flatMap((id) => {
    const columns = beats.get(id);
    return columns === undefined ? [] : [[formatId("server", id), viewBeats(columns, nowMs)] as const];
  });
  return JSON.stringify({ servers: Object.fromEntries(servers) });
}

function viewBeats({ statuses, latencyMs, testedAtMs }: Beats, nowMs: number) {
  return {
    status: statuses.map((status) => STATUS_LETTERS[status]).join(""),
    latency_ms: latencyMs,
    tested_s: testedAtMs.map((atMs) => Math.max(0, Math.floor((nowMs - atMs) / 1_000))),
  };
}

async function reading<T>(api: Api, read: () => MaybePromise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "the result store refused");
    throw resultsAway(api.storeCondition());
  }
}

/** The body keeps the contract's shape; that results are late is said in a header. */
function answered(api: Api, body: ApiResponse["body"]): ApiResponse {
  const condition = api.storeCondition();
  const headers = condition === null ? JSON_HEADERS : [...JSON_HEADERS, "X-Results-Delayed", headerText(condition)];
  return { status: 200, headers, body };
}

function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 200);
}

const RESULTS_AWAY: Refusal = [503, "Results are not available right now. Try again in a few seconds."];
const headers: Readonly<Record<string, ResponseHeader>> = {
  "X-Results-Delayed": {
    description: "Why the newest results are late, while they are; an addition of ours",
    schema: z.string(),
    required: false,
    on: [200],
  },
};

const group = { group: "Results", scope: "project", refusals: [RESULTS_AWAY], headers } as const;

export const results: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/results",
    operationId: "listResults",
    summary: "Results of the project, newest first",
    mayBeKept: "when checks are late",
    kept: (api, call) => keptPage(api, call, "results"),
    query: projectQuery,
    responses: { 200: shape("resultList") },
    handle: all,
  }),
  listed({
    ...group,
    method: "GET",
    path: "/results/failures",
    operationId: "listFailures",
    summary: "Results of the project that were down, newest first",
    mayBeKept: "when checks are late",
    kept: (api, call) => keptPage(api, call, "failures"),
    query: projectQuery,
    responses: { 200: shape("failureList") },
    handle: failures,
  }),
  {
    ...group,
    method: "GET",
    path: "/results/recent",
    operationId: "listRecentResults",
    summary: "The newest results of many monitors, as columns",
    description: "An addition of ours.",
    query: recentQuery,
    responses: { 200: shape("recentResults") },
    errors: [400, 403, 404],
    fromMemory: recentInMemory,
    handle: recent,
  },
  listed({
    ...group,
    method: "GET",
    path: "/results/server/{id}",
    operationId: "listMonitorResults",
    summary: "Results of one monitor, newest first",
    params: serverIdParams,
    query: monitorQuery,
    responses: { 200: shape("monitorResults") },
    fromMemory: ofMonitorInMemory,
    handle: ofMonitor,
  }),
];
