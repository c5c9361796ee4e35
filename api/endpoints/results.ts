/** Check results (docs/api-contract.md#results). When the result store is away these answer 503; everything kept in SQL goes on. */
import { z } from "zod";
import { formatId, formatResultId } from "../../model/ids.ts";
import { familyOf, type Kind } from "../../model/kind.ts";
import { PERIOD_MS, PERIODS } from "../../model/result.ts";
import { formatIso, formatUtc } from "../../model/time.ts";
import { uptimePercent } from "../../model/uptime.ts";
import { StoreError } from "../../store/errors.ts";
import type { ResultDetails, StoredResult } from "../../store/results/result-store.ts";
import type { Api } from "../api.ts";
import { refusal, resultsAway } from "../errors.ts";
import { type ApiResponse, JSON_HEADERS, json } from "../http.ts";
import { rowOfLatest, withLatest } from "../latest-results.ts";
import { listed } from "../listed.ts";
import { limitParameter, offsetParameter, readQuery, switchParameter, wordParameter } from "../query.ts";
import { type ProjectCall, pathId, type Refusal, type ResponseHeader, type Route } from "../route.ts";
import * as schemas from "../schemas/index.ts";
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

async function ofProject(api: Api, call: ProjectCall, onlyDown: boolean) {
  const query = readQuery(projectQuery, call.request.query);
  const { monitors } = api.controlPlane;
  const projectId = call.project.id;
  const fromMs = call.nowMs - PERIOD_MS[query.period];
  // Before the rows are read: what is stored in between is in both, and what is in neither was checked later.
  const [names, deleted, latest] = await Promise.all([
    monitors.names(projectId),
    monitors.deletedSince(projectId, fromMs),
    monitors.latestChecks(projectId, fromMs, query.limit),
  ]);
  const rows = await reading(api, () =>
    api.results.ofProject({
      projectId,
      period: query.period,
      onlyDown,
      limit: query.limit,
      nowMs: call.nowMs,
      withoutMonitorIds: deleted,
      details: query.explain,
    }),
  );
  // A live state has no details: with them only stored rows are shown.
  const latestRows = query.explain ? [] : latest.flatMap((check) => rowOfLatest(check) ?? []);
  const wanted = onlyDown ? latestRows.filter(({ status }) => status === "down") : latestRows;
  const results: Record<string, unknown>[] = [];
  for (const row of withLatest(rows, wanted, query.limit).rows) {
    const name = names.get(row.monitorId);
    // Deleted since the two questions were asked.
    if (name !== undefined) results.push(viewResult(row, name));
  }
  return { results, period: query.period };
}

async function all(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { results, period } = await ofProject(api, call, false);
  return answered(api, { results, period, total: results.length });
}

async function failures(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { results, period } = await ofProject(api, call, true);
  return answered(api, { failures: results, period, total: results.length });
}

async function ofMonitor(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "server", "invalidServerId");
  const found = await api.controlPlane.monitors.find(call.project.id, id);
  if (found === undefined) throw refusal("serverNotFound");
  const { period, limit, offset, status, explain } = readQuery(monitorQuery, call.request.query);
  const fromMs = call.nowMs - PERIOD_MS[period];
  const stored = await reading(api, () =>
    api.results.ofMonitor({
      projectId: call.project.id,
      monitorId: id,
      period,
      status,
      limit,
      offset,
      nowMs: call.nowMs,
      details: explain,
    }),
  );
  const latest = rowOfLatest({ ...found.live, kind: found.monitor.kind });
  const isWanted = latest !== undefined && latest.testedAtMs > fromMs && (status === null || latest.status === status);
  // Of later pages nothing can be told, and a live state has no details.
  const isAdded = isWanted && offset === 0 && !explain;
  const { rows, added } = withLatest(stored.rows, isAdded ? [latest] : [], limit);
  const total = stored.total + added.length;
  const inPeriod = stored.inPeriod + added.length;
  const healthy = stored.healthy + added.filter((row) => row.status === "healthy").length;
  const { name } = found.monitor;
  const downtime = await api.controlPlane.incidents.downtime(found.monitor, fromMs);
  return answered(api, {
    server_id: formatId("server", id),
    server_name: name,
    results: rows.map((row) => viewResult(row, name)),
    period,
    total,
    success_rate: inPeriod === 0 ? null : Math.round((healthy / inPeriod) * 100),
    uptime_percent: inPeriod === 0 ? null : uptimePercent(downtime, { fromMs, toMs: call.nowMs }),
  });
}

async function reading<T>(api: Api, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "the result store refused");
    throw resultsAway(api.storeCondition());
  }
}

/** The body keeps the contract's shape; that results are late is said in a header. */
function answered(api: Api, body: unknown): ApiResponse {
  const condition = api.storeCondition();
  return json(
    200,
    body,
    condition === null ? JSON_HEADERS : [...JSON_HEADERS, "X-Results-Delayed", headerText(condition)],
  );
}

function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 200);
}

function viewResult(row: StoredResult, serverName: string): Record<string, unknown> {
  const view: Record<string, unknown> = {
    id: formatResultId(row.id),
    server_id: formatId("server", row.monitorId),
    server_name: serverName,
    status: row.status,
    latency_ms: row.latencyMs,
    protocol: row.kind,
    tested_at: formatUtc(row.testedAtMs),
    error_message: row.errorMessage,
  };
  if (familyOf(row.kind as Kind) === "tunnel") view.connect_ms = row.connectMs;
  if (row.details !== null) view.explain = { started_at: formatIso(row.testedAtMs), ...viewDetails(row.details) };
  return view;
}

function viewDetails(details: ResultDetails): Record<string, unknown> {
  const why = readObject(details.explanation);
  return {
    lateness_ms: details.lateness_ms,
    location: details.location,
    checker: details.checker,
    verdict: details.verdict,
    attempt: details.attempt,
    duration_ms: details.duration_ms,
    error_category: details.error_category,
    phases: readObject(details.phases),
    stage: why.stage ?? null,
    address: why.address ?? null,
    peer: why.peer ?? null,
    hint: why.hint ?? null,
  };
}

/** JSON that we wrote ourselves; empty when there is nothing. */
function readObject(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
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

export const results: readonly Route[] = [
  listed({
    method: "GET",
    path: "/results",
    operationId: "listResults",
    group: "Results",
    summary: "Results of the project, newest first",
    scope: "project",
    query: projectQuery,
    responses: { 200: schemas.resultList },
    refusals: [RESULTS_AWAY],
    headers,
    handle: all,
  }),
  listed({
    method: "GET",
    path: "/results/failures",
    operationId: "listFailures",
    group: "Results",
    summary: "Results of the project that were down, newest first",
    scope: "project",
    query: projectQuery,
    responses: { 200: schemas.failureList },
    refusals: [RESULTS_AWAY],
    headers,
    handle: failures,
  }),
  listed({
    method: "GET",
    path: "/results/server/{id}",
    operationId: "listMonitorResults",
    group: "Results",
    summary: "Results of one monitor, newest first",
    scope: "project",
    params: serverIdParams,
    query: monitorQuery,
    responses: { 200: schemas.monitorResults },
    refusals: [RESULTS_AWAY],
    headers,
    handle: ofMonitor,
  }),
];
