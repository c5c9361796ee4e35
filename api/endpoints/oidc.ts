/** Signing in at a provider of identities (OpenID Connect): the way there, and the return. */
import { z } from "zod";
import { StoreError } from "../../store/errors.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { recordChange } from "../audit.ts";
import { beginSession, SIGN_IN_RIGHTS } from "../begin-session.ts";
import { refuseForged } from "../csrf.ts";
import { ApiError, refusal } from "../errors.ts";
import { type ApiResponse, JSON_HEADERS, json, ok } from "../http.ts";
import { ATTEMPT_LIVES_MS, attemptCookieOf, newAttempt, readAttempt } from "../oidc/attempt.ts";
import { AccountRefused, type Found, personOf } from "../oidc/person.ts";
import { type OidcProvider, ProviderFault } from "../oidc/provider.ts";
import { relyingPartyOf } from "../passkeys/relying-party.ts";
import { type AuditRule, type Call, type ResponseHeader, type Route, shape } from "../route.ts";

/** Sign-ins that one network begins or ends in a minute; our choice: an office behind one address comes in the morning. */
const A_MINUTE = 120;
const MINUTE_MS = 60_000;
/** Of the query that a person comes back with: codes of providers have up to 2,000 characters. */
const MOST_QUERY = 8_192;

/** Why a person came back without a session: the page has words for each. */
type Failure = AccountRefused["word"] | ProviderFault["word"] | "again" | "busy";

const JOINED_AUDIT: AuditRule = {
  what: "member.joined",
  detail: ({ answered }) => ({ via: "oidc", role: answered.role }),
};

function ways(api: Api): ApiResponse {
  return ok({
    oidc: api.oidc === null ? null : { name: api.oidc.name },
    passkeys: relyingPartyOf(api.config.baseUrl) !== null,
  });
}

async function begin(api: Api, call: Call): Promise<ApiResponse> {
  refuseForged(call.request, api.config.baseUrl);
  const provider = providerOf(api);
  if (!(await mayTry(api, call))) throw refusal("tooManySignIns", { retryAfterS: MINUTE_MS / 1_000 });
  const attempt = newAttempt();
  const url = await provider.begin(attempt).catch((error: unknown) => {
    tell(api, error);
    throw refusal("providerAway");
  });
  const { nowMs } = call;
  const kept = { attemptHash: attempt.hash, purpose: "oidc", userId: null } as const;
  await api.controlPlane.identities.addAttempt({ ...kept, nowMs, expiresAtMs: nowMs + ATTEMPT_LIVES_MS });
  return json(200, { url }, [...JSON_HEADERS, "Set-Cookie", attemptCookieOf(api.config.baseUrl, attempt)]);
}

/** A browser follows a link here, so every answer leads to the page, which says what went wrong. */
async function finish(api: Api, call: Call): Promise<ApiResponse> {
  const provider = providerOf(api);
  try {
    return toPage(api, "/", await signIn(api, call, provider));
  } catch (error) {
    const failure = failureOf(api, error);
    if (failure === undefined) throw error;
    return toPage(api, `/sign-in?failed=${failure}`, null);
  }
}

/** @returns the cookie of the session */
async function signIn(api: Api, call: Call, provider: OidcProvider): Promise<string> {
  if (!(await mayTry(api, call))) throw new Failed("busy");
  const { query, cookie } = call.request;
  const state = query.length > MOST_QUERY ? "" : (new URLSearchParams(query).get("state") ?? "");
  const attempt = readAttempt(api.config.baseUrl, cookie, state);
  const taken = attempt && (await api.controlPlane.identities.takeAttempt(attempt.hash, "oidc", call.nowMs));
  if (attempt === null || taken === undefined) throw new Failed("again");
  const account = await provider.finish(query, attempt);
  const found = await personOf(api, account, provider.autoMembers, call.nowMs);
  await api.authCache.refresh();
  const caller = { user: found.user, key: null, session: null };
  const begun = await beginSession(api, call, caller, "oidc");
  if (found.joinedAs !== null)
    await recordChange(api, SIGN_IN_RIGHTS, JOINED_AUDIT, begun.signed, { body: joined(found) });
  return begun.cookie;
}

function joined({ user, joinedAs }: Found): string {
  return JSON.stringify({ id: user.id, name: user.name ?? user.email, role: joinedAs });
}

class Failed extends Error {
  override readonly name = "Failed";
  readonly word: "again" | "busy";

  constructor(word: Failed["word"]) {
    super(word);
    this.word = word;
  }
}

/** @returns undefined for what is none of these */
function failureOf(api: Api, error: unknown): Failure | undefined {
  if (error instanceof Failed || error instanceof AccountRefused) return error.word;
  if (error instanceof ProviderFault) {
    tell(api, error);
    return error.word;
  }
  // A store that is away, or a membership that ended at this very moment.
  if (error instanceof StoreError || error instanceof ApiError) {
    api.log.warn({ reason: error.message }, "a sign-in at the provider could not be ended");
    return "busy";
  }
  return undefined;
}

function tell(api: Api, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  api.log.warn({ provider: api.oidc?.name, reason }, "a sign-in at the provider failed");
}

/** Behind `#`: it is sent to no server, and leads nowhere but into our own page. */
function toPage({ config }: Api, place: string, cookie: string | null): ApiResponse {
  const headers = ["Location", `${config.baseUrl ?? ""}/#${place}`, ...(cookie === null ? [] : ["Set-Cookie", cookie])];
  return { status: 303, headers, body: "" };
}

function providerOf({ oidc }: Api): OidcProvider {
  if (oidc === null) throw refusal("oidcOff");
  return oidc;
}

function mayTry({ state }: Api, { clientAddress, nowMs }: Call): Promise<boolean> {
  return state.counters.takeFrom(`sign-in ${networkOf(clientAddress)}`, A_MINUTE, MINUTE_MS, nowMs);
}

const SET_COOKIE: Readonly<Record<string, ResponseHeader>> = {
  "Set-Cookie": { description: "What the return is known by", schema: z.string(), required: true, on: [200] },
};
const base = { group: "Session", scope: "public", isPrivate: true } as const;

export const providerSignIn: readonly Route[] = [
  {
    ...base,
    method: "GET",
    path: "/sign-in",
    operationId: "getSignInWays",
    summary: "Which ways to sign in to the page are set up, besides keys and sign-in links",
    responses: { 200: shape("signInWays") },
    handle: ways,
  },
  {
    ...base,
    method: "POST",
    path: "/session/oidc",
    operationId: "beginProviderSignIn",
    audit: null,
    summary: "Begin to sign in at the provider of identities",
    description:
      "For the page, as POST /session. The person goes to the address, and comes back from there with a session. It works once, within ten minutes, in this browser.",
    responses: { 200: shape("providerSignIn") },
    headers: SET_COOKIE,
    refusals: ["notFromPage", "oidcOff", "tooManySignIns", "providerAway", "storeAway", "redisAway"],
    handle: begin,
  },
  {
    ...base,
    method: "GET",
    path: "/session/oidc",
    operationId: "endProviderSignIn",
    hidden: true,
    summary: "Where the provider leads the person back to",
    responses: { 303: "" },
    handle: finish,
  },
];
