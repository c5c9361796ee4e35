/** Answers of services: whether a message was delivered, in the service's words when it was not, and when to come again. Pure. */

import { isFields } from "../../../model/plain-values.ts";
import type { ChannelAnswer, SendOutcome } from "./channel.ts";
import { tidy } from "./tidy.ts";

/** Of a service's words; our choice: a line of a log. */
const MOST_WORDS = 300;
/** The longest wait that a service may ask for, ms; our choice: a day. */
const MOST_WAIT_MS = 24 * 3_600_000;
/** The service will say the same again until settings change. 404 and 410: there is no such address any more. */
const PERMANENT: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

export function delivered(answer: ChannelAnswer, reference: string | null = null): SendOutcome {
  return { delivered: true, statusCode: answer.status, reference: reference === null ? null : tidy(reference, 255) };
}

export interface Refusing {
  /** In the service's words; null or empty: what the answer says by itself. */
  readonly words?: string | null;
  readonly retryAfterMs?: number | null;
  /** Where the status does not say it. */
  readonly permanent?: boolean;
}

export function refused(answer: ChannelAnswer, refusing: Refusing = {}): SendOutcome {
  const { status } = answer;
  const isRedirect = status >= 300 && status < 400;
  const words = tidy(refusing.words || firstLine(answer.text), MOST_WORDS);
  const said = isRedirect ? "redirects are not followed" : words;
  const wait = refusing.retryAfterMs ?? retryAfterMs(answer);
  return {
    delivered: false,
    statusCode: status,
    error: said === "" ? `HTTP ${status}` : `HTTP ${status}: ${said}`,
    retryAfterMs: wait === null ? null : Math.min(Math.max(0, Math.round(wait)), MOST_WAIT_MS),
    permanent: refusing.permanent ?? PERMANENT.has(status),
  };
}

export function isOk({ status }: ChannelAnswer): boolean {
  return status >= 200 && status < 300;
}

/** A JSON object, or nothing of it: an answer may be cut, or a proxy's page. */
export function jsonOf({ text }: ChannelAnswer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

export function memberOf(object: unknown, name: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[name];
}

/** A text, or a number as one; null for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** A number of a service's own unit as ms; null for what is no wait. */
export function waitOf(value: unknown, unitMs: number): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value * unitMs : null;
}

/** RFC 9110 section 10.2.3: seconds, or a date, which is compared with the answer's own. */
export function retryAfterMs({ headers }: ChannelAnswer): number | null {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text) * 1_000;
  const [until, now] = [Date.parse(text), Date.parse(headers.date ?? "")];
  return Number.isFinite(until - now) && until > now ? until - now : null;
}

function firstLine(text: string): string {
  // A page of a proxy says nothing in its first line.
  return text.trimStart().startsWith("<") ? "" : text.trim();
}
