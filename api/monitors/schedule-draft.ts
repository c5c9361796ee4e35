/** Bodies of maintenance schedules: what is sent over what there is (docs/api-contract.md#maintenance). */
import { UPTIME_KINDS } from "../../engine/contract/registry.ts";
import { isDay, readSchedule, type Schedule } from "../../model/maintenance-schedule.ts";
import { readSelector, type Selector, selectableKinds } from "../../model/selector.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import { ScheduleError, Turns } from "../../store/sql/monitors/turns.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { codePoints, hasNul } from "./every-kind.ts";

/** Code points. */
export const LONGEST_TITLE = 255;
export const LONGEST_TEXT = 5_000;
const DAY_MS = 86_400_000;
/** No zone is further from UTC. */
const ZONE_MS = 14 * 3_600_000;
const WORDS = { kinds: selectableKinds(UPTIME_KINDS) };

/** @param before what a change keeps where it says nothing @throws 400 */
export function scheduleDraft(body: JsonObject, before: MaintenanceSchedule | null): ScheduleDraft {
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
  told(() => new Turns(draft));
  return { ...draft, overAtMs: overAt(schedule, draft.endsOn) };
}

/** A schedule whose last turn is over, or whose turns meet, is of no use. @throws 400 */
export function refuseUseless(draft: ScheduleDraft, nowMs: number): void {
  told(() => new Turns(draft).refuseUseless(nowMs));
}

function told(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (error instanceof ScheduleError) throw badRequest(error.message);
    throw error;
  }
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
  if (title === "" || codePoints(title) > LONGEST_TITLE || hasNul(title)) throw refusal("maintenanceTitle");
  return title;
}

function textOf(value: unknown): string {
  if (typeof value !== "string" || codePoints(value) > LONGEST_TEXT || hasNul(value)) throw refusal("maintenanceText");
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
