/** Fixed windows, cut on UTC boundaries (docs/api-contract.md#plans), and the bucket of wrong keys. Pure. */
import type { RequestLimits, RequestWindow } from "./state.ts";

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

export const REQUEST_WINDOWS: readonly RequestWindow[] = ["minute", "day", "month"];

/** A window's number, counted up from 1970, and its end, Unix ms. */
export interface Window {
  readonly index: number;
  readonly endsAtMs: number;
}

export function windowOf(lengthMs: number, nowMs: number): Window {
  const index = Math.floor(nowMs / lengthMs);
  return { index, endsAtMs: (index + 1) * lengthMs };
}

/** The month asked for last: every request asks, and a date costs as much as all the rest of counting it. */
let latestMonth: Window & { readonly startsAtMs: number } = { index: -1, startsAtMs: 0, endsAtMs: 0 };

export function monthOf(nowMs: number): Window {
  if (nowMs >= latestMonth.startsAtMs && nowMs < latestMonth.endsAtMs) return latestMonth;
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  latestMonth = {
    index: year * 12 + month,
    startsAtMs: Date.UTC(year, month, 1),
    endsAtMs: Date.UTC(year, month + 1, 1),
  };
  return latestMonth;
}

/** In the order of REQUEST_WINDOWS. */
export function requestWindows(nowMs: number): readonly [Window, Window, Window] {
  return [windowOf(MINUTE_MS, nowMs), windowOf(DAY_MS, nowMs), monthOf(nowMs)];
}

/** In the order of REQUEST_WINDOWS. */
export function limitsInOrder(limits: RequestLimits): readonly [number | null, number | null, number | null] {
  return [limits.perMinute, limits.perDay, limits.perMonth];
}

let latestDay = { index: Number.NaN, text: "" };

/** `YYYY-MM-DD`. */
export function dayOf(nowMs: number): string {
  const index = Math.floor(nowMs / DAY_MS);
  if (index !== latestDay.index) latestDay = { index, text: new Date(nowMs).toISOString().slice(0, 10) };
  return latestDay.text;
}

/** How long endpoint counts are kept, UTC days, today included: GET /usage shows 30. */
export const USAGE_DAYS_KEPT = 31;

/** The last days up to today, oldest first; at most what is kept. */
export function lastDays(days: number, nowMs: number): readonly string[] {
  const count = Math.min(days, USAGE_DAYS_KEPT);
  return Array.from({ length: count }, (_, index) => dayOf(nowMs - (count - 1 - index) * DAY_MS));
}

/** docs/api-contract.md#order-of-checks: ten wrong keys, then one more every 6 s. */
export const WRONG_KEY_ALLOWANCE = 10;
export const WRONG_KEY_REFILL_MS = 6_000;

/**
 * The bucket as one number: when it will be full again, Unix ms. (A full bucket's lies in the past; each wrong key moves it on by
 * one refill; it is empty when all ten refills lie ahead.)
 */
export function mayTry(fullAtMs: number, nowMs: number): boolean {
  return fullAtMs - nowMs <= (WRONG_KEY_ALLOWANCE - 1) * WRONG_KEY_REFILL_MS;
}

export function afterWrongKey(fullAtMs: number, nowMs: number): number {
  return Math.min(Math.max(fullAtMs, nowMs) + WRONG_KEY_REFILL_MS, nowMs + WRONG_KEY_ALLOWANCE * WRONG_KEY_REFILL_MS);
}
