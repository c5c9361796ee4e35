/** Schedules of maintenance: made, read, changed, deleted, their turn ended (docs/api-contract.md#maintenance). */
import { z } from "zod";
import { formatId } from "../../model/ids.ts";
import { writeSchedule } from "../../model/maintenance-schedule.ts";
import { writeSelector } from "../../model/selector.ts";
import { formatIso } from "../../model/time.ts";
import { makeWindows } from "../../store/sql/monitors/make-windows.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import { Turns } from "../../store/sql/monitors/turns.ts";
import type { Api } from "../api.ts";
import { type JsonObject, readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { LONGEST_TEXT, LONGEST_TITLE, refuseUseless, scheduleDraft } from "../monitors/schedule-draft.ts";
import { EDITORS_ONLY, type KeyCall, type ProjectCall, pathId, type Refusal, type Route, shape } from "../route.ts";
import { maintenanceTurns } from "../schemas/maintenances.ts";
import { maintenanceIdParams } from "./params.ts";

const fields = z.object({
  title: z.string().describe(`1 to ${LONGEST_TITLE} characters after trimming`),
  text: z.string().optional().describe(`At most ${LONGEST_TEXT} characters, for readers of public pages`),
  select: z
    .looseObject({})
    .describe("A selector, resolved when a turn comes: a monitor that is tagged later is covered"),
  schedule: maintenanceTurns,
  timezone: z.string().optional().describe("IANA name. Default: UTC"),
  starts_on: z.string().nullable().optional().describe("First day of turns, YYYY-MM-DD in the zone"),
  ends_on: z.string().nullable().optional().describe("Last day of turns, YYYY-MM-DD in the zone"),
  announce: z.boolean().optional().describe("Whether public pages tell of it. Default: false"),
});
const weekly = { type: "weekly", days: [1, 4], from: "02:00", minutes: 90 } as const;
const example = { title: "Backups", select: { tags: ["prod"] }, schedule: weekly, timezone: "Europe/Berlin" };
export const scheduleBody = fields.meta({ id: "CreateMaintenanceSchedule", examples: [example] });
const changeBody = fields.partial().meta({ id: "UpdateMaintenanceSchedule", examples: [{ title: "Backups" }] });

export const SCHEDULE_REFUSALS: readonly Refusal[] = [
  ...(["maintenanceTitle", "maintenanceText", "maintenanceDays", "maintenanceAnnounce", "maintenanceTooMany"] as const),
  [400, 'select must name monitors, such as {"tags": ["prod"]} or {"all": true}.'],
  [400, "schedule.type must be once, weekly or cron."],
  [400, "timezone must be a name of the IANA database, such as Europe/Berlin."],
];

export async function createSchedule(api: Api, call: ProjectCall, body: JsonObject): Promise<ApiResponse> {
  const draft = scheduleDraft(body, null);
  refuseUseless(draft, call.nowMs);
  const created = await api.controlPlane.schedules.create(call.project.id, draft, call.nowMs);
  if (created === undefined) throw refusal("maintenanceTooMany");
  await takeEffect(api, created, call.nowMs);
  return ok(viewSchedule(created, call.nowMs));
}

/** @returns undefined when it is no schedule's id. @throws 409 when no turn is on */
export async function endScheduled(api: Api, call: ProjectCall, id: number): Promise<ApiResponse | undefined> {
  const { schedules } = api.controlPlane;
  const found = await schedules.find(call.project.id, id);
  if (found === undefined) return undefined;
  const turn = turnNow(found, new Turns(found), call.nowMs);
  if (turn === null) throw refusal("maintenanceNotOn");
  const ended = await schedules.endTurn(id, turn, call.nowMs);
  if (ended === undefined) throw refusal("maintenanceNotFound");
  api.state.notices.publish("monitors");
  return ok(viewSchedule(ended, call.nowMs));
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(viewSchedule(await find(api, call), call.nowMs));
}

async function change(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  const body = readObject(call.request);
  const decide = (before: MaintenanceSchedule): ScheduleDraft => {
    const draft = scheduleDraft(body, before);
    refuseUseless(draft, call.nowMs);
    return draft;
  };
  const changed = await api.controlPlane.schedules.update(id, decide, call.nowMs);
  if (changed === undefined) throw refusal("maintenanceNotFound");
  await takeEffect(api, changed, call.nowMs);
  return ok(viewSchedule(changed, call.nowMs));
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  if (!(await api.controlPlane.schedules.remove(id, call.nowMs))) throw refusal("maintenanceNotFound");
  api.state.notices.publish("monitors");
  return ok({ success: true, id: formatId("maintenance", id) });
}

/** What is on now or soon has its windows before the answer. */
async function takeEffect(api: Api, schedule: MaintenanceSchedule, nowMs: number): Promise<void> {
  await makeWindows(api.controlPlane.schedules, [schedule], nowMs);
  api.state.notices.publish("monitors");
}

async function find(api: Api, call: ProjectCall): Promise<MaintenanceSchedule> {
  const id = pathId(call, "maintenance", "invalidMaintenanceId");
  const found = await api.controlPlane.schedules.find(call.project.id, id);
  if (found === undefined) throw refusal("maintenanceNotFound");
  return found;
}

/** The turn that is on and was not ended. */
function turnNow(schedule: MaintenanceSchedule, turns: Turns, nowMs: number) {
  const turn = turns.at(nowMs);
  return turn === null || turn.fromMs < (schedule.endedUntilMs ?? 0) ? null : turn;
}

export function viewSchedule(schedule: MaintenanceSchedule, nowMs: number) {
  const turns = new Turns(schedule);
  const [current, next] = [turnNow(schedule, turns, nowMs), turns.after(nowMs)];
  return {
    id: formatId("maintenance", schedule.id),
    title: schedule.title,
    text: schedule.text,
    select: writeSelector(schedule.selector),
    schedule: writeSchedule(schedule.schedule),
    timezone: schedule.timezone,
    starts_on: schedule.startsOn,
    ends_on: schedule.endsOn,
    announce: schedule.announce,
    state: current !== null ? ("active" as const) : next !== null ? ("next" as const) : ("ended" as const),
    next_starts_at: next === null ? null : formatIso(next.fromMs),
    created_at: formatIso(schedule.createdAtMs),
  };
}

async function nameOf(api: Api, call: KeyCall | ProjectCall): Promise<string | null> {
  return "project" in call ? (await find(api, call)).title : null;
}

const group = {
  group: "Maintenance",
  scope: "project",
  path: "/maintenances/{id}",
  description: "An addition of ours.",
  params: maintenanceIdParams,
} as const;

export const schedules: readonly Route[] = [
  {
    ...group,
    method: "GET",
    operationId: "getMaintenanceSchedule",
    summary: "Read a schedule of maintenance",
    refusals: ["invalidMaintenanceId", "maintenanceNotFound"],
    responses: { 200: shape("maintenanceSchedule") },
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    operationId: "updateMaintenanceSchedule",
    audit: { what: "maintenance.updated", nameOf },
    summary: "Change a schedule of maintenance; a turn that is on goes on as the changed schedule has it",
    editorsOnly: EDITORS_ONLY,
    body: { schema: changeBody, required: true },
    refusals: ["invalidMaintenanceId", "maintenanceNotFound", ...SCHEDULE_REFUSALS],
    responses: { 200: shape("maintenanceSchedule") },
    handle: change,
  },
  {
    ...group,
    method: "DELETE",
    operationId: "deleteMaintenanceSchedule",
    audit: { what: "maintenance.deleted", nameOf },
    summary: "Delete a schedule of maintenance; a turn that is on ends",
    editorsOnly: EDITORS_ONLY,
    refusals: ["invalidMaintenanceId", "maintenanceNotFound"],
    responses: { 200: shape("deletedMaintenance") },
    handle: remove,
  },
];
