/** Schedules of maintenance: made, read, changed, deleted, their turn ended (docs/api-contract.md#maintenance). */
import { z } from "zod";
import { UPTIME_KINDS } from "../../engine/contract/registry.ts";
import { formatId } from "../../model/ids.ts";
import { isDay, readSchedule, type Schedule, writeSchedule } from "../../model/maintenance-schedule.ts";
import { readSelector, type Selector, selectableKinds, writeSelector } from "../../model/selector.ts";
import { formatIso } from "../../model/time.ts";
import { makeWindows } from "../../store/sql/monitors/make-windows.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import { ScheduleError, Turns } from "../../store/sql/monitors/turns.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { type KeyCall, type ProjectCall, pathId, type Refusal, type Route } from "../route.ts";
import * as schemas from "../schemas/index.ts";
import { maintenanceIdParams } from "./params.ts";

/** Code points. */
const MAX_TITLE = 255;
const MAX_TEXT = 5_000;
const DAY_MS = 86_400_000;
/** No zone is further from UTC. */
const ZONE_MS = 14 * 3_600_000;
const EDITORS_ONLY = "You do not have permission to edit this project";
const WORDS = { kinds: selectableKinds(UPTIME_KINDS) };

const fields = z.object({
  title: z.string().describe(`1 to ${MAX_TITLE} characters after trimming`),
  text: z.string().optional().describe(`At most ${MAX_TEXT} characters, for readers of public pages`),
  select: z
    .looseObject({})
    .describe("A selector, resolved when a turn comes: a monitor that is tagged later is covered"),
  schedule: schemas.maintenanceTurns,
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
  const draft = draftOf(body, null, call.nowMs);
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
  const before = await find(api, call);
  const draft = draftOf(readObject(call.request), before, call.nowMs);
  const changed = await api.controlPlane.schedules.update(before.id, draft, call.nowMs);
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

/** @param before what a change keeps where it says nothing @throws 400 */
function draftOf(body: JsonObject, before: MaintenanceSchedule | null, nowMs: number): ScheduleDraft {
  const sent = (field: string): unknown => fieldOf(body, field);
  const schedule = sent("schedule") === undefined && before !== null ? before.schedule : scheduleOf(sent("schedule"));
  const draft = {
    title: sent("title") === undefined && before !== null ? before.title : titleOf(sent("title")),
    text: sent("text") === undefined ? (before?.text ?? "") : textOf(sent("text")),
    selector: sent("select") === undefined && before !== null ? before.selector : selectorOf(sent("select")),
    schedule,
    timezone: sent("timezone") === undefined ? (before?.timezone ?? "UTC") : String(sent("timezone")),
    startsOn: sent("starts_on") === undefined ? (before?.startsOn ?? null) : dayOf(sent("starts_on")),
    endsOn: sent("ends_on") === undefined ? (before?.endsOn ?? null) : dayOf(sent("ends_on")),
    announce: sent("announce") === undefined ? (before?.announce ?? false) : announceOf(sent("announce")),
  };
  if (draft.startsOn !== null && draft.endsOn !== null && draft.startsOn > draft.endsOn)
    throw refusal("maintenanceDays");
  try {
    new Turns(draft).refuseUseless(nowMs);
  } catch (error) {
    if (error instanceof ScheduleError) throw badRequest(error.message);
    throw error;
  }
  return { ...draft, overAtMs: overAt(schedule, draft.endsOn) };
}

/** The last turn has ended by then, in whatever zone. */
function overAt(schedule: Schedule, endsOn: string | null): number | null {
  if (schedule.type === "once") return schedule.endsAtMs;
  if (endsOn === null) return null;
  return Date.parse(`${endsOn}T00:00:00Z`) + DAY_MS + ZONE_MS + schedule.minutes * 60_000;
}

function scheduleOf(value: unknown): Schedule {
  const read = readSchedule(value);
  if ("fault" in read) throw badRequest(read.fault);
  return read.schedule;
}

function selectorOf(value: unknown): Selector {
  const read = readSelector(value, WORDS);
  if ("fault" in read) throw badRequest(read.fault);
  return read.selector;
}

function titleOf(value: unknown): string {
  const title = typeof value === "string" ? value.trim() : "";
  if (title === "" || codePoints(title) > MAX_TITLE || hasNul(title)) throw refusal("maintenanceTitle");
  return title;
}

function textOf(value: unknown): string {
  if (typeof value !== "string" || codePoints(value) > MAX_TEXT || hasNul(value)) throw refusal("maintenanceText");
  return value;
}

function dayOf(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== "string" || !isDay(value)) throw refusal("maintenanceDays");
  return value;
}

function announceOf(value: unknown): boolean {
  if (typeof value !== "boolean") throw refusal("maintenanceAnnounce");
  return value;
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
    responses: { 200: schemas.maintenanceSchedule },
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    operationId: "updateMaintenanceSchedule",
    audit: { what: "maintenance.updated", nameOf },
    summary: "Change a schedule of maintenance; its windows are made anew",
    editorsOnly: EDITORS_ONLY,
    body: { schema: changeBody, required: true },
    refusals: ["invalidMaintenanceId", "maintenanceNotFound", ...SCHEDULE_REFUSALS],
    responses: { 200: schemas.maintenanceSchedule },
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
    responses: { 200: schemas.deletedMaintenance },
    handle: remove,
  },
];
