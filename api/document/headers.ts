/** Response headers of each route and status (docs/api-contract.md#plans, #order-of-checks). */
import { z } from "zod";
import { REPLAYED_HEADER } from "../idempotency.ts";
import { type ResponseHeader, type Route, takesIdempotencyKey } from "../route.ts";
import { WARNING_HEADER } from "../warned.ts";

const WHOLE = z.int().min(0);

export type HeadersByName = Readonly<Record<string, ResponseHeader>>;

const LIMIT_HEADERS = {
  "X-RateLimit-Limit": "Requests per minute on the plan; 1000000000 when unlimited",
  "X-RateLimit-Remaining": "Left in the current minute",
  "X-RateLimit-Reset": "Unix seconds when the minute ends",
} as const;

/**
 * Not required: 429 may come from the wrong-key throttle, 500 and 503 from a store that cannot count, and requests of the page's sessions do not
 * count as use of the API.
 */
const LIMITS: HeadersByName = Object.fromEntries(
  Object.entries(LIMIT_HEADERS).map(([name, description]) => [name, { description, schema: WHOLE, required: false }]),
);

const RETRY_AFTER: ResponseHeader = {
  description:
    "Seconds after which asking again is worth it: what is left of the minute or the day; none when the month is used up",
  schema: WHOLE,
  required: false,
};
const NO_STORE: ResponseHeader = {
  description: "Answers to keys may carry heartbeat addresses and new keys: no cache keeps them",
  schema: z.literal("no-store"),
  required: true,
};
const ANY_ORIGIN: ResponseHeader = {
  description: "Any page may ask",
  schema: z.literal("*"),
  required: true,
};

const WARNING: ResponseHeader = {
  description: "Present only where something that was sent is ignored, such as an unknown query parameter: what it was",
  schema: z.string(),
  required: false,
};

const REPLAYED: ResponseHeader = {
  description: "Present only where this is the answer of an earlier request with the same Idempotency-Key",
  schema: z.literal("true"),
  required: false,
};

const BEARER: ResponseHeader = {
  description: "How a caller says who it is",
  schema: z.literal("Bearer"),
  required: true,
};

/** @returns what an answer of that status carries */
export function headersOf(route: Route, status: number): HeadersByName {
  const headers: Record<string, ResponseHeader> = { [WARNING_HEADER]: WARNING };
  if (route.scope === "public") {
    if (route.isPrivate === true) headers["Cache-Control"] = NO_STORE;
    if (route.cors === true) headers["Access-Control-Allow-Origin"] = ANY_ORIGIN;
  } else {
    if (status !== 401) Object.assign(headers, LIMITS);
    headers["Cache-Control"] = NO_STORE;
  }
  if (status === 401) headers["WWW-Authenticate"] = BEARER;
  if (status === 429 || status === 503) headers["Retry-After"] = RETRY_AFTER;
  if (takesIdempotencyKey(route)) {
    if (status === 409) headers["Retry-After"] = RETRY_AFTER;
    if (status < 300) headers[REPLAYED_HEADER] = REPLAYED;
  }
  for (const [name, header] of Object.entries(route.headers ?? {})) {
    if (header.on === undefined || header.on.includes(status)) headers[name] = header;
  }
  return headers;
}
