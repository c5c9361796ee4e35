/** Usage limits of a workspace: headers and the 429 body (docs/api-contract.md#plans). */
import type { Plan } from "../model/plan.ts";
import type { RequestLimits, RequestWindow } from "../store/state/state.ts";
import { type ApiResponse, JSON_HEADERS } from "./http.ts";

/** Stands for "unlimited" in the two headers, which carry a number always (docs/api-contract.md#plans). */
const UNLIMITED = 1_000_000_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A wrong-key bucket gives one more try every so many seconds (docs/api-contract.md#order-of-checks). */
export const WRONG_KEY_RETRY_S = 6;

export function requestLimits(plan: Plan): RequestLimits {
  return { perMinute: plan.requestsPerMinute, perDay: plan.requestsPerDay, perMonth: plan.requestsPerMonth };
}

/** The headers of the latest call: a plan without a limit has the same ones for a minute, and they need not be made again. */
let latest: { limit: number | null; remaining: number; resetS: number; headers: readonly string[] } | null = null;

/** Stand on every response to a request that came with a valid key (docs/api-contract.md#order-of-checks). */
export function limitHeaders(plan: Plan, usedInMinute: number, nowMs: number): readonly string[] {
  const limit = plan.requestsPerMinute;
  const remaining = limit === null ? UNLIMITED : Math.max(0, limit - usedInMinute);
  const resetS = (Math.floor(nowMs / MINUTE_MS) + 1) * 60;
  if (latest?.resetS === resetS && latest.remaining === remaining && latest.limit === limit) return latest.headers;
  const headers = [
    "X-RateLimit-Limit",
    String(limit ?? UNLIMITED),
    "X-RateLimit-Remaining",
    String(remaining),
    "X-RateLimit-Reset",
    String(resetS),
  ];
  latest = { limit, remaining, resetS, headers };
  return headers;
}

interface Lasting {
  readonly windowMs: number;
  /** `retry_after` of the body. The contract fixes it; the header says what is really left of the window. */
  readonly retryAfterS: number;
}

const WINDOWS: Readonly<
  Record<
    RequestWindow,
    { error: string; message: (limit: number) => string; limit: keyof RequestLimits; lasts: Lasting | null }
  >
> = {
  minute: {
    error: "Rate limit exceeded",
    message: (limit) => `Per-minute limit of ${limit} requests exceeded`,
    limit: "perMinute",
    lasts: { windowMs: MINUTE_MS, retryAfterS: 60 },
  },
  day: {
    error: "Daily limit exceeded",
    message: (limit) => `Daily limit of ${limit} requests exceeded`,
    limit: "perDay",
    lasts: { windowMs: DAY_MS, retryAfterS: 3_600 },
  },
  month: {
    error: "Monthly limit exceeded",
    message: (limit) => `Monthly limit of ${limit} requests exceeded`,
    limit: "perMonth",
    lasts: null,
  },
};

/** The 429 of a usage limit has a shape of its own: `error` is text, there is no code. Retry-After is what is left of the window. */
export function limitExceeded(window: RequestWindow, limits: RequestLimits, nowMs: number): ApiResponse {
  const { error, message, limit, lasts } = WINDOWS[window];
  const body = { error, message: message(limits[limit] ?? 0) };
  if (lasts === null) return { status: 429, headers: JSON_HEADERS, body: JSON.stringify(body) };
  return {
    status: 429,
    headers: [...JSON_HEADERS, "Retry-After", String(restS(lasts.windowMs, nowMs))],
    body: JSON.stringify({ ...body, retry_after: lasts.retryAfterS }),
  };
}

/** @returns seconds until the present window ends, at least 1; windows begin at UTC boundaries */
export function restS(windowMs: number, nowMs: number): number {
  return Math.ceil((windowMs - (nowMs % windowMs)) / 1_000);
}
