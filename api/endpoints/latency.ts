/** What the checks of a monitor took, as columns for a chart (docs/api-contract.md#latency). */
import { z } from "zod";
import { formatId } from "../../model/ids.ts";
import { PHASES } from "../../model/result.ts";
import { FULL_RETENTION_MS } from "../../model/retention.ts";
import { formatIso } from "../../model/time.ts";
import { StoreError } from "../../store/errors.ts";
import type { LatencyPoint, LatencyQuery } from "../../store/results/result-store.ts";
import type { Api } from "../api.ts";
import { badRequest, refusal, resultsAway } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { findMonitor } from "../monitors/find.ts";
import { type QueryParameter, readQuery, timeParameter } from "../query.ts";
import { type ProjectCall, type Route, shape } from "../route.ts";
import { serverIdParams } from "./params.ts";

const DAY_S = 86_400;
const HOUR_S = 3_600;
const MOST_POINTS = 500;
/** Points of a chart whose step was not chosen. */
const USUAL_POINTS = 300;
const STEPS_S = [10, 30, 60, 300, 600, 900, 1_800, HOUR_S, 2 * HOUR_S, 4 * HOUR_S, 12 * HOUR_S, DAY_S] as const;
const STEP_MESSAGE = `step must be a whole number of seconds from 1 to ${DAY_S}.`;
const LOCATION_MESSAGE = "location must be any or a lowercase two-letter country.";

const latencyQuery = {
  from: timeParameter("from", "Checks that began then or later; 24 hours before `to` when absent."),
  to: timeParameter("to", "Checks that began before; now when absent."),
  step: {
    schema: z.int().min(1).max(DAY_S).optional().describe("Seconds of a point; chosen by the length when absent."),
    refusal: STEP_MESSAGE,
    read(text) {
      if (text === "") return null;
      const step = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
      if (step < 1 || step > DAY_S) throw badRequest(STEP_MESSAGE);
      return step;
    },
  } satisfies QueryParameter<number | null>,
  location: {
    schema: z
      .string()
      .regex(/^(any|[a-z]{2})$/)
      .optional()
      .describe("Only checks from there."),
    refusal: LOCATION_MESSAGE,
    read(text) {
      if (text === "") return null;
      if (!/^(any|[a-z]{2})$/.test(text)) throw badRequest(LOCATION_MESSAGE);
      return text;
    },
  } satisfies QueryParameter<string | null>,
} as const;

async function latency(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { monitor } = await findMonitor(api, call);
  const { from, to, step, location } = readQuery(latencyQuery, call.request.query);
  const toMs = to ?? call.nowMs;
  const fromMs = from ?? toMs - DAY_S * 1_000;
  if (fromMs > toMs) throw refusal("fromAfterTo");
  const source = fromMs >= call.nowMs - FULL_RETENTION_MS ? "rows" : "hours";
  const stepS = stepOf((toMs - fromMs) / 1_000, step, source);
  const span = { fromMs: Math.max(0, fromMs), toMs, stepS, source } as const;
  const asked = { projectId: call.project.id, monitorId: monitor.id, location, ...span };
  // The result store knows no time before 1970, and nothing was checked then.
  const points = toMs <= 0 ? [] : await reading(api, asked, call.nowMs);
  return ok({ server_id: formatId("server", monitor.id), step_s: stepS, ...columnsOf(points) });
}

/** @throws 400 */
function stepOf(lengthS: number, wanted: number | null, source: LatencyQuery["source"]): number {
  const least = source === "hours" ? HOUR_S : 1;
  const usual = STEPS_S.find((step) => step >= least && lengthS / step <= USUAL_POINTS) ?? DAY_S;
  const step = wanted === null ? usual : Math.ceil(wanted / least) * least;
  // The first and the last step may begin before and end behind the stretch.
  if (lengthS / step > MOST_POINTS - 1) throw refusal("latencyPoints");
  return step;
}

async function reading(api: Api, query: LatencyQuery, nowMs: number): Promise<readonly LatencyPoint[]> {
  try {
    return await api.results.latencyOf(query, nowMs);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "the result store refused");
    throw resultsAway(api.storeCondition());
  }
}

function columnsOf(points: readonly LatencyPoint[]) {
  const column = (name: "min" | "avg" | "p50" | "p95" | "max") => points.map((point) => rounded(point[name]));
  const phases = PHASES.filter((phase) => points.some((point) => point.phases[phase] !== undefined));
  return {
    t: points.map(({ atMs }) => formatIso(atMs)),
    min: column("min"),
    avg: column("avg"),
    p50: column("p50"),
    p95: column("p95"),
    max: column("max"),
    checks: points.map(({ checks }) => checks),
    failed: points.map(({ failed }) => failed),
    ours: points.map(({ ours }) => ours),
    phases: Object.fromEntries(
      phases.map((phase) => [phase, points.map((point) => rounded(point.phases[phase] ?? null))]),
    ),
  };
}

/** To a tenth of a millisecond. */
function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}

export const latencies: readonly Route[] = [
  listed({
    method: "GET",
    path: "/servers/{id}/latency",
    operationId: "getMonitorLatency",
    group: "Results",
    summary: "What a monitor's checks took, as columns",
    description:
      "An addition of ours, of at most 500 points. Of the last 24 hours every check counts and phases are there; before, points are of whole hours, up to 400 days.",
    scope: "project",
    params: serverIdParams,
    query: latencyQuery,
    responses: { 200: shape("latency") },
    refusals: [
      "invalidServerId",
      "serverNotFound",
      "fromAfterTo",
      "latencyPoints",
      [503, "Results are not available right now. Try again in a few seconds."],
    ],
    handle: latency,
  }),
];
