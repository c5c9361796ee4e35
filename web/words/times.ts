/** Times and durations in the reader's language and zone. */
import { hours, zone } from "../state/prefs.ts";
import { locale, number, t } from "./words.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** @param text as the API writes times: ISO 8601, or `2026-11-21 15:25:22`, which is UTC too @returns Unix ms */
export function timeOf(text: string): number {
  return Date.parse(text.includes("T") ? text : `${text.replace(" ", "T")}Z`);
}

/** `8 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return t("time.s", { v: Math.floor(whole / SECOND) });
  if (whole < HOUR) return t("time.min", { v: Math.floor(whole / MINUTE) });
  if (whole < DAY) return pair("time.h", Math.floor(whole / HOUR), "time.min", Math.floor((whole % HOUR) / MINUTE));
  return pair("time.d", Math.floor(whole / DAY), "time.h", Math.floor((whole % DAY) / HOUR));
}

/** Whole days, or hours below one. */
export const days = (ms: number): string =>
  duration(ms < DAY ? Math.floor(ms / HOUR) * HOUR : Math.floor(ms / DAY) * DAY);

/** As duration(), of whole seconds. */
export const seconds = (s: number): string => duration(s * SECOND);

/** A Monday at noon, UTC. */
const MONDAY_MS = Date.UTC(2024, 0, 1, 12);

/** @param number 1 = Monday … 7 = Sunday */
export function weekday(number: number): string {
  return format({ weekday: "short", timeZone: "UTC" }, MONDAY_MS + (number - 1) * DAY);
}

type Unit = "time.d" | "time.h" | "time.min";

function pair(unit: Unit, value: number, smaller: Unit, rest: number): string {
  const first = t(unit, { v: value });
  return rest === 0 ? first : `${first} ${t(smaller, { v: rest })}`;
}

/** `3 min ago` below a day, the date and time from then on. */
export function ago(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (ms >= DAY) return dateTime(atMs);
  return ms < 2 * SECOND ? t("time.now") : t("time.ago", { duration: duration(ms) });
}

export function dateTime(atMs: number): string {
  return format({ dateStyle: "medium", timeStyle: "short" }, atMs);
}

/** To the second: one of many that look the same. */
export function exactly(atMs: number): string {
  return format({ dateStyle: "medium", timeStyle: "medium" }, atMs);
}

export function clock(atMs: number): string {
  return format({ timeStyle: "medium" }, atMs);
}

export function minute(atMs: number): string {
  return format({ timeStyle: "short" }, atMs);
}

export function shortDay(atMs: number): string {
  return format({ day: "numeric", month: "short" }, atMs);
}

/** @param date YYYY-MM-DD of a day that the service counts in UTC: in the reader's own zone it would be another */
export function dayOfUtc(date: string): string {
  return format({ day: "numeric", month: "short", timeZone: "UTC" }, Date.parse(date));
}

export function day(atMs: number): string {
  return format({ weekday: "long", day: "numeric", month: "long" }, atMs);
}

/** As the API writes it, for titles. */
export function utc(atMs: number): string {
  return `${new Date(atMs).toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

const CYCLES = { 12: "h12", 24: "h23" } as const;
const formats = new Map<string, Intl.DateTimeFormat>();
function format(options: Intl.DateTimeFormatOptions, atMs: number): string {
  const chosen: Intl.DateTimeFormatOptions = {
    ...(zone.value !== "" && { timeZone: zone.value }),
    ...(hours.value !== "auto" && options.timeStyle !== undefined && { hourCycle: CYCLES[hours.value] }),
    ...options,
  };
  const key = `${locale()} ${JSON.stringify(chosen)}`;
  const made = formats.get(key) ?? new Intl.DateTimeFormat(locale(), chosen);
  formats.set(key, made);
  return made.format(atMs);
}

/** @returns `–` for what is not known */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value >= 10_000) return t("time.s", { v: number(value / 1_000, 1) });
  return t("time.ms", { v: number(value, value < 10 ? 1 : 0) });
}
