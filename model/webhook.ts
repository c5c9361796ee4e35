/** Webhooks: when an attempt is repeated, when a webhook is switched off, and how a message is signed (docs/api-contract.md#webhooks; Standard Webhooks). */
import { EVENT_TYPES, type EventType } from "./event.ts";

/** After each failed attempt, ms: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h (docs/api-contract.md#webhooks). */
export const RETRY_DELAYS_MS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000);
/** A retry comes up to this much of its delay earlier or later, so that a receiver's outage is not followed by a wave. */
export const RETRY_JITTER = 0.1;
/** Without a success for this long a webhook is switched off, ms: five days (docs/api-contract.md#webhooks). */
export const OFF_AFTER_MS = 5 * 24 * 3_600_000;
/** How long signatures of the secret before a rotation go along, ms: a day for the receiver to change over. */
export const OLD_SECRET_MS = 24 * 3_600_000;
/** "I do not want this any more" (docs/api-contract.md#webhooks). */
const GONE = 410;

/** Why a webhook is off: its receiver answered 410 · five days without a success · a person did it. */
export const OFF_REASONS = ["gone", "failing", "operator"] as const;
export type OffReason = (typeof OFF_REASONS)[number];

/** Waits for an attempt · a 2xx came · given up · its webhook or project went away first. */
export const DELIVERY_STATES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface AttemptFacts {
  /** This one included, from 1. */
  readonly attempts: number;
  /** null: no answer came. */
  readonly statusCode: number | null;
  /** When it ended, Unix ms. */
  readonly endedAtMs: number;
  /** The webhook's first failure since its last success; null when its last attempt succeeded, or it had none. */
  readonly failingSinceMs: number | null;
  /** From 0 to 1. */
  readonly random: number;
}

export interface AttemptJudgement {
  readonly state: Exclude<DeliveryState, "cancelled">;
  /** Unix ms; null when it has ended. */
  readonly nextAttemptAtMs: number | null;
  readonly failingSinceMs: number | null;
  /** The webhook is switched off now. */
  readonly off: OffReason | null;
}

export function isDelivered(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

export function judgeAttempt(facts: AttemptFacts): AttemptJudgement {
  const { attempts, endedAtMs, statusCode } = facts;
  if (isDelivered(statusCode)) return { state: "delivered", nextAttemptAtMs: null, failingSinceMs: null, off: null };
  const failingSinceMs = facts.failingSinceMs ?? endedAtMs;
  const off = statusCode === GONE ? "gone" : endedAtMs - failingSinceMs >= OFF_AFTER_MS ? "failing" : null;
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  if (off !== null || delayMs === undefined) return { state: "failed", nextAttemptAtMs: null, failingSinceMs, off };
  const jitter = 1 + RETRY_JITTER * (2 * facts.random - 1);
  return { state: "pending", nextAttemptAtMs: Math.round(endedAtMs + delayMs * jitter), failingSinceMs, off };
}

/** @param events null: every type; a test goes out whatever was chosen */
export function wantsEvent(events: readonly EventType[] | null, type: EventType): boolean {
  return events === null || type === "webhook.test" || events.includes(type);
}

export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}
