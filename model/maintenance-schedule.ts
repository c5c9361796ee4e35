/**
 * Schedules of maintenance: once, some days of the week, or by a cron pattern, in the local time of a zone. What is written is read here; when
 * the turns are is store/sql/monitors/turns.ts. Pure.
 */

import { isFields } from "./plain-values.ts";
import { formatIso, parseTime } from "./time.ts";

export type Schedule =
  | { readonly type: "once"; readonly startsAtMs: number; readonly endsAtMs: number }
  /** Days: 1 is Monday, 7 Sunday. `from` is local time, HH:MM. */
  | { readonly type: "weekly"; readonly days: readonly number[]; readonly from: string; readonly minutes: number }
  | { readonly type: "cron"; readonly cron: string; readonly minutes: number };

/** A schedule with all that says when its turns are. */
export interface PlannedTurns {
  readonly schedule: Schedule;
  /** Of the IANA database. */
  readonly timezone: string;
  /** Whole days in the zone, YYYY-MM-DD, both included; null: no bound. */
  readonly startsOn: string | null;
  readonly endsOn: string | null;
}

/** From its start to its end, Unix ms. */
export interface Turn {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A turn that comes again: shorter ones would be over before a check that began before them. */
const LEAST_MINUTES = 5;
/** A week. */
const MOST_MINUTES = 10_080;
const LONGEST_ONCE_MS = 366 * 86_400_000;
const LONGEST_CRON = 100;
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const CLOCK = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/;
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** What is easily written in the schedule: to ignore it there would move the turns. */
const OUTSIDE = ["timezone", "starts_on", "ends_on"] as const;

export type ReadSchedule = { readonly schedule: Schedule } | { readonly fault: string };

/** Reads a schedule as the API and documents write it. @returns the fault as a sentence for the one who sent it */
export function readSchedule(value: unknown): ReadSchedule {
  if (!isFields(value)) return { fault: "schedule must be an object with a type: once, weekly or cron." };
  const sent = value;
  const outside = OUTSIDE.find((field) => Object.hasOwn(sent, field));
  if (outside !== undefined) return { fault: `schedule has no ${outside}: ${outside} stands beside schedule.` };
  if (sent.type === "once") return readOnce(sent);
  if (sent.type === "weekly") return readWeekly(sent);
  if (sent.type === "cron") return readCron(sent);
  return { fault: "schedule.type must be once, weekly or cron." };
}

function readOnce(sent: Readonly<Record<string, unknown>>): ReadSchedule {
  const [startsAtMs, endsAtMs] = [timeOf(sent.starts_at), timeOf(sent.ends_at)];
  if (startsAtMs === undefined) return { fault: "schedule.starts_at must be an ISO time." };
  if (endsAtMs === undefined) return { fault: "schedule.ends_at must be an ISO time." };
  if (endsAtMs <= startsAtMs || endsAtMs - startsAtMs > LONGEST_ONCE_MS)
    return { fault: "schedule.ends_at must be after starts_at, at most a year." };
  return { schedule: { type: "once", startsAtMs, endsAtMs } };
}

function readWeekly(sent: Readonly<Record<string, unknown>>): ReadSchedule {
  const days = Array.isArray(sent.days) ? sent.days.map(dayOf) : [];
  const known = days.flatMap((day) => (day === undefined ? [] : [day]));
  if (known.length === 0 || known.length !== days.length || days.length > 7)
    return { fault: "schedule.days must be a list of days, from 1 (Monday) to 7 (Sunday)." };
  const { from } = sent;
  if (typeof from !== "string" || !CLOCK.test(from)) return { fault: "schedule.from must be a local time, HH:MM." };
  const minutes = minutesOf(sent.minutes);
  if (minutes === undefined) return { fault: MINUTES };
  return { schedule: { type: "weekly", days: [...new Set(known)].sort((one, other) => one - other), from, minutes } };
}

const MINUTES = `schedule.minutes must be a whole number from ${LEAST_MINUTES} to ${MOST_MINUTES}.`;

function readCron(sent: Readonly<Record<string, unknown>>): ReadSchedule {
  const cron = typeof sent.cron === "string" ? sent.cron.trim() : "";
  if (cron === "" || cron.length > LONGEST_CRON || cron.split(/\s+/).length !== 5)
    return { fault: `schedule.cron must be a pattern of five fields, at most ${LONGEST_CRON} characters.` };
  const minutes = minutesOf(sent.minutes);
  return minutes === undefined ? { fault: MINUTES } : { schedule: { type: "cron", cron, minutes } };
}

function minutesOf(value: unknown): number | undefined {
  const isFit = Number.isInteger(value) && Number(value) >= LEAST_MINUTES && Number(value) <= MOST_MINUTES;
  return isFit ? Number(value) : undefined;
}

function timeOf(value: unknown): number | undefined {
  return typeof value === "string" ? parseTime(value) : undefined;
}

function dayOf(value: unknown): number | undefined {
  if (typeof value === "string") {
    const index = (DAYS as readonly string[]).indexOf(value.toLowerCase());
    return index < 0 ? undefined : index + 1;
  }
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 7 ? Number(value) : undefined;
}

/** A day of the calendar, as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  if (!DATE.test(text)) return false;
  const atMs = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(atMs) && formatIso(atMs).startsWith(text);
}

/** As the API and documents write it: readSchedule() reads the same again. */
export function writeSchedule(schedule: Schedule) {
  if (schedule.type !== "once") return schedule;
  const { startsAtMs, endsAtMs } = schedule;
  return { type: "once" as const, starts_at: formatIso(startsAtMs), ends_at: formatIso(endsAtMs) };
}
