/** Maintenance of Uptime Kuma: its strategies as schedules. */
import type { Day, MaintenanceEntry, MaintenanceSchedule } from "../../../model/document/document.ts";
import type { Draft } from "../draft.ts";
import { booleanAt, type Fields, listIn, memberOf, numberAt, numberIn, quoted, textAt } from "../values.ts";
import { clockOf, dateIn, isZone, minuteOfDay, minutesBetween, wallTime } from "../zones.ts";
import type { KumaMonitors } from "./monitors.ts";
import { serverZone } from "./settings.ts";
import { idIn, jsonMember, type KumaTables, linked, rowsOf } from "./tables.ts";

/** By what Kuma keeps of a day of the week. */
const DAYS: readonly Day[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const EVERY_DAY = ["mon-sun"] as const;
const DAY_MS = 86_400_000;
/** A window is at most a year long; one that lasts until it is ended is planned so long. */
const UNTIL_ENDED_MS = 364 * DAY_MS;
/** Characters. */
const LONGEST_CRON = 120;

interface Reading {
  readonly draft: Draft;
  readonly path: string;
  readonly zone: string;
}

export function readMaintenance(tables: KumaTables, draft: Draft, monitors: KumaMonitors): void {
  const watched = linked(rowsOf(tables, "monitor_maintenance"), "maintenance_id", "monitor_id");
  const announced = linked(rowsOf(tables, "maintenance_status_page"), "maintenance_id", "status_page_id");
  const server = serverZone(tables);
  for (const row of rowsOf(tables, "maintenance")) {
    const id = idIn(memberOf(row, "id"));
    if (id === undefined) continue;
    const title = textAt(row, "title") ?? `Maintenance ${id}`;
    const path = `maintenance ${id} (${quoted(title)})`;
    if (booleanAt(row, "active") === false) {
      draft.notes.add("info", path, "it is switched off and is left out");
      continue;
    }
    const keys = [...new Set((watched.get(id) ?? []).flatMap((one) => monitors.keysOf(one)))];
    if (keys.length === 0) {
      draft.notes.add("lost", path, "none of its monitors came over");
      continue;
    }
    const zone = zoneOf(row, server, draft, path);
    const schedule = scheduleOf(row, { draft, path, zone });
    if (schedule === undefined) continue;
    draft.maintenance(`kuma-${id}`, {
      title,
      ...(textAt(row, "description") !== undefined && { text: textAt(row, "description") ?? "" }),
      select: { keys },
      schedule,
      timezone: zone,
      ...daysOf(row, schedule),
      ...(announced.has(id) && { announce: true }),
    });
  }
}

function zoneOf(row: Fields, server: string, draft: Draft, path: string): string {
  const named = textAt(row, "timezone") ?? "UTC";
  const zone = named === "SAME_AS_SERVER" ? server : named;
  if (isZone(zone)) return zone;
  draft.notes.add("changed", path, `the time zone ${quoted(zone)} is not known: UTC is taken`);
  return "UTC";
}

/** First and last day of what repeats. */
function daysOf(row: Fields, { type }: MaintenanceSchedule): Pick<MaintenanceEntry, "starts_on" | "ends_on"> {
  if (type === "once") return {};
  const [starts, ends] = [dateIn(textAt(row, "start_date")), dateIn(textAt(row, "end_date"))];
  return { ...(starts !== undefined && { starts_on: starts }), ...(ends !== undefined && { ends_on: ends }) };
}

function scheduleOf(row: Fields, reading: Reading): MaintenanceSchedule | undefined {
  const strategy = textAt(row, "strategy") ?? "";
  if (strategy === "single") return single(row, reading);
  if (strategy === "manual") return manual(reading);
  if (strategy === "cron") return byCron(row, reading);
  const window = windowOf(row);
  if (window === undefined) return lost(reading, "its times cannot be read");
  if (strategy === "recurring-weekday") return byWeekday(row, window, reading);
  if (strategy === "recurring-interval") {
    const every = numberAt(row, "interval_day") ?? 1;
    if (every === 1) return { type: "weekly", days: EVERY_DAY, ...window };
    return lost(reading, `a window every ${every} days: only days of the week and of the month can be said`);
  }
  if (strategy === "recurring-day-of-month") return byDayOfMonth(row, window, reading);
  return lost(reading, `the strategy ${quoted(strategy)}`);
}

function lost({ draft, path }: Reading, message: string): undefined {
  draft.notes.add("lost", path, message);
}

function single(row: Fields, reading: Reading): MaintenanceSchedule | undefined {
  const [starts, ends] = ["start_date", "end_date"].map((name) => wallTime(textAt(row, name) ?? "", reading.zone));
  if (starts === undefined || ends === undefined || ends <= starts) return lost(reading, "its times cannot be read");
  if (ends <= (reading.draft.options.nowMs ?? 0)) {
    reading.draft.notes.add("info", reading.path, "it is over and is left out");
    return undefined;
  }
  return { type: "once", starts_at: new Date(starts).toISOString(), ends_at: new Date(ends).toISOString() };
}

function manual({ draft, path }: Reading): MaintenanceSchedule {
  const now = draft.options.nowMs ?? 0;
  const ends = new Date(now + UNTIL_ENDED_MS).toISOString();
  draft.notes.add("changed", path, `it lasts until it is ended: here until ${ends.slice(0, 10)} at the latest`);
  return { type: "once", starts_at: new Date(now).toISOString(), ends_at: ends };
}

function byCron(row: Fields, reading: Reading): MaintenanceSchedule | undefined {
  const cron = textAt(row, "cron")?.trim();
  const minutes = Math.round((numberAt(row, "duration") ?? 0) / 60);
  if (cron === undefined || cron.length > LONGEST_CRON || minutes < 1) return lost(reading, "its times cannot be read");
  return { type: "cron", cron, minutes };
}

interface Window {
  readonly from: string;
  readonly minutes: number;
}

function windowOf(row: Fields): Window | undefined {
  const [from, to] = [minuteOfDay(textAt(row, "start_time")), minuteOfDay(textAt(row, "end_time"))];
  if (from === undefined || to === undefined || from === to) return undefined;
  return { from: clockOf(from), minutes: minutesBetween(from, to) };
}

function byWeekday(row: Fields, window: Window, reading: Reading): MaintenanceSchedule | undefined {
  const days = listIn(jsonMember(row, "weekdays")).flatMap((one) => DAYS[numberIn(one) ?? -1] ?? []);
  if (days.length === 0) return lost(reading, "it names no day of the week");
  return { type: "weekly", days: [...new Set(days)], ...window };
}

function byDayOfMonth(row: Fields, window: Window, reading: Reading): MaintenanceSchedule | undefined {
  const days = listIn(jsonMember(row, "days_of_month")).flatMap((one) => {
    const day = numberIn(one);
    if (day !== undefined && Number.isInteger(day) && day >= 1 && day <= 31) return String(day);
    if (one === "lastDay1") return "L";
    reading.draft.notes.add("lost", reading.path, `the day ${quoted(one)} of the month`);
    return [];
  });
  if (days.length === 0) return lost(reading, "it names no day of the month");
  const [hour, minute] = window.from.split(":").map(Number);
  return { type: "cron", cron: `${minute} ${hour} ${[...new Set(days)].join(",")} * *`, minutes: window.minutes };
}
