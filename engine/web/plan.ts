/** A website check's settings made ready to run: compiled once per settings object, because a check runs thousands of times. */

import { NetworkFault } from "../net/fault.ts";
import { ACCEPT_ENCODING } from "../protocols/http/content-coding.ts";
import { basicAuthorization, type Hop, hopTo, parseWebUrl, type RequestParts } from "../protocols/http/hop.ts";
import { compileStatusCodes, type StatusRange } from "../protocols/http/status-codes.ts";
import type { TextRules } from "../text-judge/text-judge.ts";
import type { IpPreference } from "../transport/transport.ts";
import { type ClientIdentity, clientIdentityOf } from "./client-certificate.ts";
import { STANDARD_REDIRECTS } from "./request-fields.ts";
import type { WebSettings } from "./settings.ts";

export interface WebPlan {
  readonly first: Hop;
  readonly accepted: readonly StatusRange[];
  /** As written, for the message. */
  readonly acceptedItems: readonly string[];
  readonly preference: IpPreference;
  /** Null for a check without one. */
  readonly keyword: string | null;
  readonly inverted: boolean;
  readonly wantsDomainExpiry: boolean;
  /** 0: none is followed, and its own status code is judged. */
  readonly maxRedirects: number;
  /** An answer that takes longer makes the check degraded, ms; null: none does. */
  readonly maxResponseMs: number | null;
  readonly inverts: boolean;
  readonly verifiesCertificate: boolean;
  /** What is looked for in the answer beside the keyword; null: nothing. */
  readonly rules: TextRules | null;
  /** For the first hop's origin alone; null: none. */
  readonly client: ClientIdentity | null;
}

const plans = new WeakMap<WebSettings, WebPlan>();

export function planOf(settings: WebSettings): WebPlan {
  const known = plans.get(settings);
  if (known !== undefined) return known;
  const plan = compile(settings);
  plans.set(settings, plan);
  return plan;
}

function compile(settings: WebSettings): WebPlan {
  const url = parseWebUrl(settings.url);
  if (url === undefined) throw new NetworkFault("misconfigured", "The URL is not an http or https address");
  return {
    first: hopTo(url, ACCEPT_ENCODING, undefined, partsOf(settings)),
    accepted: compileStatusCodes(settings.accepted_statuscodes),
    acceptedItems: settings.accepted_statuscodes,
    preference: settings.ip_version ?? "both",
    keyword: settings.keyword ?? null,
    inverted: settings.invert_keyword ?? false,
    wantsDomainExpiry: typeof settings.domain_expiration === "number",
    maxRedirects: settings.max_redirects ?? STANDARD_REDIRECTS,
    maxResponseMs: settings.max_response_time ?? null,
    inverts: settings.invert ?? false,
    verifiesCertificate: settings.verify_certificate ?? true,
    client: clientIdentityOf(settings),
    rules: rulesOf(settings),
  };
}

function partsOf({ method, headers, body, ...auth }: WebSettings): RequestParts {
  const authorization = authorizationOf(auth);
  return {
    method: method ?? "GET",
    headers: {
      ...(typeof body === "string" && !hasContentType(headers) && { "content-type": contentTypeOf(body) }),
      ...(authorization !== null && { authorization }),
      ...headers,
    },
    body: typeof body === "string" ? Buffer.from(body, "utf8") : null,
  };
}

function rulesOf({ body_regex, json_query, json_expected }: WebSettings): TextRules | null {
  if (typeof body_regex !== "string" && typeof json_query !== "string") return null;
  return { regex: body_regex ?? null, query: json_query ?? null, expected: json_expected ?? null };
}

type Auth = Pick<WebSettings, "basic_auth_username" | "basic_auth_password" | "bearer_token">;

function authorizationOf({ basic_auth_username: user, basic_auth_password: password, bearer_token: token }: Auth) {
  if (typeof token === "string") return `Bearer ${token}`;
  return typeof user === "string" ? basicAuthorization(`${user}:${password ?? ""}`) : null;
}

function hasContentType(headers: WebSettings["headers"]): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "content-type");
}

/** Where nothing else is said: what most bodies of requests are. */
function contentTypeOf(body: string): string {
  try {
    JSON.parse(body);
    return "application/json";
  } catch {
    return "text/plain; charset=utf-8";
  }
}
