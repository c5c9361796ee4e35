/** Maintenance: listed, planned for monitors or a tag, ended (docs/api-contract.md#maintenance). */
import { z } from "zod";
import { formatId, parseId } from "../../model/ids.ts";
import { formatIso, parseTime } from "../../model/time.ts";
import { MaintenanceGapError, type MaintenanceWindow } from "../../store/sql/monitors/maintenance-port.ts";
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { limitParameter, offsetParameter, readQuery, textParameter, wordParameter } from "../query.ts";
import { EDITORS_ONLY, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { MAINTENANCE_STATES } from "../schemas/maintenances.ts";
import { maintenanceIdParams } from "./params.ts";
import { createSchedule, endScheduled, SCHEDULE_REFUSALS, scheduleBody, viewSchedule } from "./schedules.ts";

/** In one request. */
const MOST_MONITORS = 1_000;
const LONGEST_MS = 365 * 24 * 3_600_000;

const listQuery = {
  server_id: textParameter("Only of this monitor, `srv_<n>` or `<n>`."),
  state: wordParameter({
    words: MAINTENANCE_STATES,
    fallback: null,
    message: "state must be active, next or ended.",
    description: "Without it: what is on and what comes.",
  }),
  limit: limitParameter(500),
  offset: offsetParameter,
} as const;

const createBody = z
  .object({
    server_ids: z.array(z.string()).max(MOST_MONITORS).optional().describe("Monitors, `srv_<n>` or `<n>`"),
    tag: z.string().optional().describe("Every monitor that has this tag now"),
    starts_at: z.string().optional().describe("ISO time; now when absent or in the past"),
    ends_at: z.string().describe("ISO time, at most a year from now"),
  })
  .meta({ id: "CreateMaintenance", examples: [{ tag: "prod", ends_at: "2026-11-21T08:00:00.000Z" }] });

type Shown = MaintenanceWindow & { readonly monitorName: string };

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { server_id: server, state, limit, offset } = readQuery(listQuery, call.request.query);
  const monitorId = server === "" ? null : (parseId("server", server) ?? null);
  if (server !== "" && monitorId === null) throw refusal("invalidServerId");
  const filter = { state, monitorId, limit, offset };
  const { rows, total } = await api.controlPlane.maintenance.list(call.project.id, filter, call.nowMs);
  const planned = await api.controlPlane.schedules.list(call.project.id);
  return ok({
    maintenances: rows.map((row) => view(row, call.nowMs)),
    total,
    schedules: planned.map((one) => viewSchedule(one, call.nowMs)),
  });
}

async function create(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  if (fieldOf(body, "schedule") !== undefined) return createSchedule(api, call, body);
  const span = spanOf(body, call.nowMs);
  const names = await monitorsOf(api, call, body);
  const windows = await planned(api, [...names.keys()], span, call.nowMs);
  api.state.notices.publish("monitors");
  const maintenances = windows.map((one) => view({ ...one, monitorName: names.get(one.monitorId) ?? "" }, call.nowMs));
  return ok({ maintenances, total: maintenances.length });
}

async function end(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "maintenance", "invalidMaintenanceId");
  const scheduled = await endScheduled(api, call, id);
  if (scheduled !== undefined) return scheduled;
  const found = await api.controlPlane.maintenance.find(call.project.id, id);
  const ended = found && (await api.controlPlane.maintenance.end(id, call.nowMs));
  if (found === undefined || ended === undefined) throw refusal("maintenanceNotFound");
  api.state.notices.publish("monitors");
  return ok({ ...view({ ...found, ...ended }, call.nowMs), state: "ended" });
}

async function planned(api: Api, ids: readonly number[], span: Span, nowMs: number) {
  try {
    const windows = await api.controlPlane.maintenance.create(ids, span, nowMs);
    if (windows === undefined) throw refusal("serverNotFound");
    return windows;
  } catch (error) {
    if (error instanceof MaintenanceGapError) throw refusal("maintenanceGap");
    throw error;
  }
}

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** @throws 400 */
function spanOf(body: JsonObject, nowMs: number): Span {
  const starts = timeOf(fieldOf(body, "starts_at") ?? null);
  const untilMs = timeOf(fieldOf(body, "ends_at") ?? null);
  const fromMs = Math.max(nowMs, starts ?? nowMs);
  if (untilMs === null || untilMs <= fromMs || untilMs > nowMs + LONGEST_MS) throw refusal("maintenanceTimes");
  return { fromMs, untilMs };
}

function timeOf(value: unknown): number | null {
  if (value === null) return null;
  const atMs = typeof value === "string" ? parseTime(value) : undefined;
  if (atMs === undefined) throw refusal("maintenanceTimes");
  return atMs;
}

/** By id, with their names. @throws 400, 404 */
async function monitorsOf(api: Api, call: ProjectCall, body: JsonObject): Promise<ReadonlyMap<number, string>> {
  const ids = idsOf(fieldOf(body, "server_ids") ?? []);
  const tag = fieldOf(body, "tag") ?? null;
  if (tag !== null && typeof tag !== "string") throw refusal("maintenanceTargets");
  const named = await api.controlPlane.monitors.findAll(call.project.id, ids);
  if (named.length < ids.length) throw refusal("serverNotFound");
  const found = tag === null ? named : [...named, ...(await tagged(api, call.project.id, tag))];
  const names = new Map(found.map(({ monitor }) => [monitor.id, monitor.name]));
  if (names.size === 0 || names.size > MOST_MONITORS) throw refusal("maintenanceTargets");
  return names;
}

/** Each once. @throws 400 */
function idsOf(sent: unknown): readonly number[] {
  if (!Array.isArray(sent) || sent.length > MOST_MONITORS) throw refusal("maintenanceTargets");
  const ids = sent.map((word: unknown) => {
    const id = typeof word === "string" ? parseId("server", word) : undefined;
    if (id === undefined) throw refusal("invalidServerId");
    return id;
  });
  return [...new Set(ids)];
}

/** One more than may be asked for says that they are too many. */
async function tagged(api: Api, projectId: number, tag: string): Promise<readonly MonitorWithLive[]> {
  const { rows } = await api.controlPlane.monitors.list(projectId, {
    family: "all",
    activeOnly: false,
    status: null,
    protocol: null,
    nameContains: null,
    select: { tags: [tag.trim().toLowerCase()] },
    limit: MOST_MONITORS + 1,
    offset: 0,
  });
  return rows;
}

function view({ id, monitorId, monitorName, startsAtMs, endsAtMs }: Shown, nowMs: number) {
  return {
    id: formatId("maintenance", id),
    server_id: formatId("server", monitorId),
    server_name: monitorName,
    starts_at: formatIso(startsAtMs),
    ends_at: formatIso(endsAtMs),
    state: endsAtMs <= nowMs ? "ended" : startsAtMs <= nowMs ? "active" : "next",
  };
}

const group = { group: "Maintenance", scope: "project", description: "An addition of ours." } as const;

export const maintenances: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/maintenances",
    operationId: "listMaintenance",
    summary: "List maintenance: windows of monitors, the earliest first, and schedules",
    query: listQuery,
    refusals: ["invalidServerId"],
    responses: { 200: shape("maintenanceList") },
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/maintenances",
    operationId: "createMaintenance",
    audit: {
      what: "maintenance.created",
      detail: ({ answered: { total } }) => (total === undefined ? {} : { windows: total }),
    },
    summary: "Plan maintenance of monitors, of all that have a tag, or by a schedule",
    editorsOnly: EDITORS_ONLY,
    body: { schema: z.union([createBody, scheduleBody]).meta({ id: "PlanMaintenance" }), required: true },
    refusals: [
      "invalidServerId",
      "maintenanceTargets",
      "maintenanceTimes",
      "serverNotFound",
      "maintenanceGap",
      ...SCHEDULE_REFUSALS,
    ],
    responses: { 200: shape("plannedMaintenance") },
    handle: create,
  },
  {
    ...group,
    method: "POST",
    path: "/maintenances/{id}/end",
    operationId: "endMaintenance",
    audit: "maintenance.ended",
    summary: "End maintenance now: a window, or the turn of a schedule that is on",
    editorsOnly: EDITORS_ONLY,
    params: maintenanceIdParams,
    refusals: ["invalidMaintenanceId", "maintenanceNotFound", "maintenanceNotOn"],
    responses: { 200: shape("endedMaintenance") },
    handle: end,
  },
];
