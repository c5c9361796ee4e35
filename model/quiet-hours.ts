/**
 * Quiet hours: spans of the week, in a time zone, in which a rule sends only what is let through. Spans are wall clock time, so a
 * night stays a night when the clocks change: it has then an hour more or less. Pure.
 */
import type { AlertSeverity } from "./alerting-rule.ts";
import { BoundedMap } from "./bounded-map.ts";

/**
 * hold: what began and ended meanwhile is counted in the message at the end · drop: it is never reported. What still holds at the end is
 * reported then either way.
 */
export const QUIET_MODES = ["hold", "drop"] as const;
export type QuietMode = (typeof QUIET_MODES)[number];

export interface QuietSpan {
  /** 1 = Monday … 7 = Sunday: the days on which it begins. */
  readonly days: readonly number[];
  /** `HH:MM`; the same as `to`: a whole day. */
  readonly from: string;
  /** `HH:MM`; before `from`: of the next day. */
  readonly to: string;
}

export interface QuietHours {
  readonly id: number;
  readonly name: string;
  /** IANA. */
  readonly timezone: string;
  readonly spans: readonly QuietSpan[];
  readonly mode: QuietMode;
  /** What is sent at once all the same: it has one of the severities, or one of the tags. */
  readonly letThrough: { readonly severity: readonly AlertSeverity[]; readonly tags: readonly string[] };
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Zones change their clocks at whole quarters of an hour. */
const QUARTER = 15;
/** A week has an end of every span but of those that cover all of it, ms. */
const LONGEST_MS = 8 * 24 * 3_600_000;
/** Zones whose formatters are kept. */
const KEPT_ZONES = 100;
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;
const LONGEST_ZONE = 64;
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const formatters = new BoundedMap<string, Intl.DateTimeFormat>(KEPT_ZONES);

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const kept = formatters.get(timezone);
  if (kept !== undefined) return kept;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  formatters.set(timezone, made);
  return made;
}

/** Whether it is a zone's name that this process knows. */
export function isTimezone(text: string): boolean {
  if (text.length > LONGEST_ZONE || !ZONE_NAME.test(text)) return false;
  try {
    formatterOf(text);
    return true;
  } catch {
    return false;
  }
}

export function isTimeOfDay(text: string): boolean {
  return TIME.test(text);
}

interface Local {
  /** 1 = Monday. */
  readonly day: number;
  /** Of the day. */
  readonly minute: number;
}

function localOf(timezone: string, atMs: number): Local {
  const part: Record<string, string> = {};
  for (const { type, value } of formatterOf(timezone).formatToParts(atMs)) part[type] = value;
  return { day: WEEKDAYS.indexOf(part.weekday ?? "") + 1, minute: Number(part.hour) * 60 + Number(part.minute) };
}

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** Minutes of the wall clock until the last span ends that holds now; 0: none does. */
function leftOf(spans: readonly QuietSpan[], { day, minute }: Local): number {
  const dayBefore = day === 1 ? 7 : day - 1;
  let left = 0;
  for (const { days, from, to } of spans) {
    const [start, end] = [minuteOf(from), minuteOf(to)];
    const length = end > start ? end - start : end - start + DAY_MINUTES;
    if (days.includes(day) && minute >= start && minute < start + length)
      left = Math.max(left, start + length - minute);
    const sinceStart = minute + DAY_MINUTES - start;
    if (days.includes(dayBefore) && sinceStart < length) left = Math.max(left, length - sinceStart);
  }
  return left;
}

/** @returns when they end, Unix ms; null when it is not quiet now */
export function quietUntil({ timezone, spans }: QuietHours, nowMs: number): number | null {
  const start = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  let atMs = start;
  while (atMs - start < LONGEST_MS) {
    const local = localOf(timezone, atMs);
    const left = leftOf(spans, local);
    if (left === 0) return atMs === start ? null : atMs;
    // Not beyond a quarter of an hour: there the clocks may change, and the wall clock's minutes are others.
    atMs += Math.min(left, QUARTER - (local.minute % QUARTER)) * MINUTE_MS;
  }
  return atMs;
}

export function isLetThrough(
  { letThrough }: QuietHours,
  alert: { readonly severity: AlertSeverity; readonly tags: readonly string[] },
): boolean {
  return letThrough.severity.includes(alert.severity) || alert.tags.some((tag) => letThrough.tags.includes(tag));
}
