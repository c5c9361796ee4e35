/** Delivery of messages to channels: when an attempt is repeated. Pure. */

/** Waits for an attempt · a channel took it · given up · there was nothing left to say, or a newer message took its place · its channel or project went away. */
export const NOTIFICATION_STATES = ["pending", "delivered", "failed", "overtaken", "cancelled"] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

/** After each failed attempt, ms; then it is given up. Our choice: quick at first, for an alert is worth little after hours. */
export const ALERT_RETRY_DELAYS_MS = [5, 30, 120, 600, 1_800, 3_600, 7_200].map((s) => s * 1_000);
/** A retry comes up to this much of its delay earlier or later, so that a service's outage is not followed by a wave. */
const RETRY_JITTER = 0.1;
/** What a service may ask us to wait at most, ms. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;
/** What other messages wait for it, ms; our choice: an alert is worth an attempt an hour. */
const LONGEST_REST_MS = 3_600_000;
/** After a refusal for good, ms: again when the channel may have been mended. */
const REFUSED_DELAY_MS = 3_600_000;

/** Statuses of a service that wants no request at all for a while (RFC 6585 section 4, RFC 9110 section 15.6.4). */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

interface AttemptResult {
  readonly delivered: boolean;
  /** The service will say the same again until something is changed. */
  readonly permanent: boolean;
  readonly retryAfterMs: number | null;
}

export interface DeliveryStep {
  readonly state: Extract<NotificationState, "pending" | "delivered" | "failed">;
  readonly nextAttemptAtMs: number | null;
}

/**
 * @param attempts this one included, from 1
 * @param isFailing the channel refused for good before: further attempts are an hour apart
 * @param random 0 to 1
 */
export function afterAttempt(
  end: AttemptResult,
  attempts: number,
  isFailing: boolean,
  endedAtMs: number,
  random: number,
): DeliveryStep {
  if (end.delivered) return { state: "delivered", nextAttemptAtMs: null };
  const usual = ALERT_RETRY_DELAYS_MS[attempts - 1];
  if (usual === undefined) return { state: "failed", nextAttemptAtMs: null };
  const wanted = end.permanent && isFailing ? Math.max(usual, REFUSED_DELAY_MS) : usual;
  const delayMs = wanted * (1 + RETRY_JITTER * (2 * random - 1));
  const asked = Math.min(end.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return { state: "pending", nextAttemptAtMs: Math.round(endedAtMs + Math.max(delayMs, asked)) };
}

/** Until when the channel's other messages wait too, Unix ms; null: they do not. */
export function restUntil(
  { delivered, retryAfterMs, statusCode }: AttemptResult & { readonly statusCode: number | null },
  endedAtMs: number,
): number | null {
  if (delivered || retryAfterMs === null || !BUSY.has(statusCode ?? 0)) return null;
  return Math.round(endedAtMs + Math.min(retryAfterMs, LONGEST_REST_MS));
}
