/** What became of a monitor's days, and its uptime over longer stretches (docs/api-contract.md#days). */
import { z } from "zod";
import { DAY_MS, daysOf, uptimeOf } from "../../model/days.ts";
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import { Slices } from "../../store/slices.ts";
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { badRequest } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { findMonitor } from "../monitors/find.ts";
import { monitorIdsParameter, type QueryParameter, readQuery } from "../query.ts";
import { type ProjectCall, type Route, shape } from "../route.ts";
import { serverIdParams } from "./params.ts";

const MOST_DAYS = 365;
const DAYS = 90;
/** Monitors of one answer. */
const MOST_IDS = 100;
const DAYS_MESSAGE = `days must be a whole number from 1 to ${MOST_DAYS}.`;

const daysParameter: QueryParameter<number> = {
  schema: z.int().min(1).max(MOST_DAYS).default(DAYS).describe("How many days, the running one included."),
  refusal: DAYS_MESSAGE,
  read(text) {
    if (text === "") return DAYS;
    const days = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
    if (days < 1 || days > MOST_DAYS) throw badRequest(DAYS_MESSAGE);
    return days;
  },
};
const oneQuery = { days: daysParameter } as const;
const manyQuery = {
  ids: monitorIdsParameter("ids", MOST_IDS, "Monitors whose days are wanted, between commas."),
  days: daysParameter,
} as const;

/** Stretches that end now, by what the answer calls them. */
const STRETCHES = { "24h": 1, "7d": 7, "30d": 30, "90d": 90, "365d": 365 } as const;

async function ofOne(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const found = await findMonitor(api, call);
  const { days } = readQuery(oneQuery, call.request.query);
  return ok({ server_id: formatId("server", found.monitor.id), ...(await view(api, found, days, call.nowMs)) });
}

async function ofMany(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { ids, days } = readQuery(manyQuery, call.request.query);
  const wanted = ids ?? [];
  const found = await api.controlPlane.monitors.findAll(call.project.id, wanted);
  const byId = new Map(found.map((one) => [one.monitor.id, one]));
  const servers: Record<string, unknown> = {};
  const slices = new Slices();
  // One after another: they are many reads, and checks are written meanwhile.
  for (const id of wanted) {
    const one = byId.get(id);
    await slices.rest();
    if (one !== undefined) servers[formatId("server", id)] = await view(api, one, days, call.nowMs);
  }
  await slices.rest();
  return ok({ servers });
}

async function view(api: Api, { monitor, live }: MonitorWithLive, days: number, nowMs: number) {
  const read = await api.controlPlane.incidents.past(monitor, nowMs - MOST_DAYS * DAY_MS);
  // A heartbeat that was never called is not healthy: nothing is known of it.
  const past = live.lastCheckedAtMs === null ? { ...read, knownFromMs: nowMs } : read;
  return {
    days: daysOf(past, days, nowMs).map((day) => ({
      date: formatIso(day.fromMs).slice(0, 10),
      down_s: day.downS,
      degraded_s: day.degradedS,
      maintenance_s: day.maintenanceS,
      paused_s: day.pausedS,
      unwatched_s: day.unwatchedS,
      incidents: day.incidents,
    })),
    uptime: Object.fromEntries(
      Object.entries(STRETCHES).map(([word, length]) => [word, uptimeOf(past, length * DAY_MS, nowMs)]),
    ),
  };
}

export const days: readonly Route[] = [
  listed({
    method: "GET",
    path: "/servers/{id}/days",
    operationId: "getMonitorDays",
    group: "Results",
    summary: "A monitor day by day, and its uptime",
    description: "An addition of ours. Days are of UTC, the oldest first.",
    scope: "project",
    params: serverIdParams,
    query: oneQuery,
    responses: { 200: shape("monitorDays") },
    refusals: ["invalidServerId", "serverNotFound"],
    handle: ofOne,
  }),
  listed({
    method: "GET",
    path: "/days",
    operationId: "listDays",
    group: "Results",
    summary: "Many monitors day by day, and their uptime",
    description: "An addition of ours. Ids that are not there are left out.",
    scope: "project",
    query: manyQuery,
    responses: { 200: shape("manyDays") },
    handle: ofMany,
  }),
];
