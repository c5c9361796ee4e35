/** Signing in to the page and out of it, and the sessions of the person. */
import { z } from "zod";
import { parseId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import { hashSecret } from "../../store/session-secret.ts";
import type { SessionRecord, SessionVia } from "../../store/sql/accounts/sessions-port.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { identify } from "../auth.ts";
import type { Caller } from "../auth-parts.ts";
import { lastSeen, MAX_IDLE_MS } from "../auth-session.ts";
import { beginSession, SIGN_IN_AUDIT } from "../begin-session.ts";
import { fieldOf, readObject } from "../body.ts";
import { refuseForged } from "../csrf.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, JSON_HEADERS, json, ok } from "../http.ts";
import { WRONG_KEY_RETRY_S } from "../limits.ts";
import { listed } from "../listed.ts";
import { personOfPasskey } from "../passkeys/sign-in.ts";
import { readQuery, textParameter } from "../query.ts";
import { viewCaller } from "../reach.ts";
import { type Call, type KeyCall, type ResponseHeader, type Route, shape } from "../route.ts";
import { clearCookie } from "../session-cookie.ts";

/** Longer ones are no key and no code. */
const MAX_SECRET = 300;

const signInBody = z
  .object({
    key: z.string().max(MAX_SECRET).optional().describe("An API key"),
    code: z.string().max(MAX_SECRET).optional().describe("The code of a sign-in link, which is used up"),
    passkey: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("What the browser answers to the challenge of POST /session/passkey, as JSON (WebAuthn section 5.1)"),
  })
  .describe("One of the three")
  .meta({ id: "SignIn", examples: [{ code: "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE" }] });

const endQuery = { others: textParameter("`1`: every session of the person but this one.") } as const;

const SET_COOKIE: Readonly<Record<string, ResponseHeader>> = {
  "Set-Cookie": { description: "The session, for the page alone", schema: z.string(), required: true, on: [200] },
};

interface SignedIn {
  readonly caller: Caller;
  readonly via: SessionVia;
}

async function signIn(api: Api, call: Call): Promise<ApiResponse> {
  refuseForged(call.request, api.config.baseUrl);
  await api.authCache.refresh();
  const { caller, via } = await signedIn(api, call);
  const { signed, session, cookie } = await beginSession(api, call, caller, via);
  return json(200, await viewSession(api, signed, session), [...JSON_HEADERS, "Set-Cookie", cookie]);
}

async function signedIn(api: Api, call: Call): Promise<SignedIn> {
  const body = readObject(call.request);
  const [key, code, passkey] = [fieldOf(body, "key"), fieldOf(body, "code"), fieldOf(body, "passkey")];
  if ([key, code, passkey].filter((one) => one !== undefined).length !== 1) throw refusal("signInInvalid");
  if (passkey !== undefined) {
    const user = await personOfPasskey(api, call, passkey);
    return { caller: { user, key: null, session: null }, via: "passkey" };
  }
  const sent = key ?? code;
  if (typeof sent !== "string" || sent.trim() === "" || sent.length > MAX_SECRET) throw refusal("signInInvalid");
  if (key === undefined) return { caller: await personOf(api, call, sent.trim()), via: "link" };
  const access = await identify(api, call, sent.trim());
  return { caller: { user: access.user, key: access.key, session: null }, via: "key" };
}

/** Codes that are wrong count as wrong keys do. */
async function personOf(api: Api, call: Call, code: string): Promise<Caller> {
  const { counters } = api.state;
  const network = networkOf(call.clientAddress);
  if (!(await counters.mayTryKey(network, call.nowMs)))
    throw refusal("tooManyWrongKeys", { retryAfterS: WRONG_KEY_RETRY_S });
  const userId = await api.controlPlane.sessions.takeCode(hashSecret(code), call.nowMs);
  const user = userId === undefined ? undefined : await api.controlPlane.accounts.user(userId);
  if (user === undefined) {
    await counters.wrongKey(network, call.nowMs);
    throw refusal("codeUseless");
  }
  if (!user.active) throw refusal("ownerInactive");
  return { user, key: null, session: null };
}

async function viewSession(api: Api, call: KeyCall, session: SessionRecord) {
  const idleAtMs = Math.max(lastSeen(api, session), call.nowMs) + MAX_IDLE_MS;
  return {
    ...(await viewCaller(api, call)),
    expires_at: formatIso(Math.min(session.endsAtMs, idleAtMs)),
  };
}

function ownSession({ session }: KeyCall): SessionRecord {
  if (session === null) throw refusal("sessionOnly");
  return session;
}

async function show(api: Api, call: KeyCall): Promise<ApiResponse> {
  return ok(await viewSession(api, call, ownSession(call)));
}

async function signOut(api: Api, call: KeyCall): Promise<ApiResponse> {
  const session = ownSession(call);
  await api.controlPlane.sessions.end(session.userId, session.id);
  return json(200, { success: true }, [...JSON_HEADERS, "Set-Cookie", clearCookie(api.cookie)]);
}

async function list(api: Api, call: KeyCall): Promise<ApiResponse> {
  const own = ownSession(call);
  const found = await api.controlPlane.sessions.ofUser(own.userId, call.nowMs);
  const alive = found.filter((one) => lastSeen(api, one) + MAX_IDLE_MS > call.nowMs);
  const sessions = alive.map((one) => ({
    id: one.id,
    created_at: formatIso(one.createdAtMs),
    seen_at: formatIso(lastSeen(api, one)),
    address: one.address,
    device: one.device,
    current: one.id === own.id,
    via: one.via,
  }));
  return ok({ sessions, total: sessions.length });
}

async function endOne(api: Api, call: KeyCall): Promise<ApiResponse> {
  const own = ownSession(call);
  const id = parseId("session", call.params[0] ?? "");
  if (id === undefined) throw refusal("invalidSessionId");
  if (!(await api.controlPlane.sessions.end(own.userId, id))) throw refusal("sessionNotFound");
  return ok({ success: true, ended: 1 });
}

async function endOthers(api: Api, call: KeyCall): Promise<ApiResponse> {
  const own = ownSession(call);
  if (readQuery(endQuery, call.request.query).others !== "1") throw refusal("othersMissing");
  return ok({ success: true, ended: await api.controlPlane.sessions.endOthers(own.userId, own.id) });
}

const base = { group: "Session" } as const;

export const session: readonly Route[] = [
  {
    ...base,
    method: "POST",
    path: "/session",
    operationId: "signIn",
    audit: SIGN_IN_AUDIT,
    summary: "Sign in to the page, with a key or with the code of a sign-in link",
    description:
      "For the page: it takes `X-Sonde-Page: 1` and no request of another origin. Programs send their key with each request.",
    scope: "public",
    isPrivate: true,
    body: { schema: signInBody, required: true },
    responses: { 200: shape("session") },
    headers: SET_COOKIE,
    refusals: [
      ...(["signInInvalid", "notFromPage", "keyInvalid", "keyExpired", "ownerInactive"] as const),
      ...([
        "workspaceAccessRemoved",
        "codeUseless",
        "passkeyUseless",
        "passkeysOff",
        "tooManyWrongKeys",
        "storeAway",
        "redisAway",
      ] as const),
    ],
    handle: signIn,
  },
  {
    ...base,
    method: "GET",
    path: "/session",
    operationId: "getSession",
    summary: "Who is signed in, and what the session reaches",
    scope: "key",
    responses: { 200: shape("session") },
    refusals: ["sessionOnly"],
    handle: show,
  },
  {
    ...base,
    method: "DELETE",
    path: "/session",
    operationId: "signOut",
    audit: "session.ended",
    summary: "Sign out",
    scope: "key",
    responses: { 200: shape("signedOut") },
    headers: SET_COOKIE,
    refusals: ["sessionOnly"],
    handle: signOut,
  },
  listed({
    ...base,
    method: "GET",
    path: "/sessions",
    operationId: "listSessions",
    summary: "List the sessions of the person, newest first",
    scope: "key",
    responses: { 200: shape("sessionList") },
    refusals: ["sessionOnly"],
    handle: list,
  }),
  {
    ...base,
    method: "DELETE",
    path: "/sessions",
    operationId: "endOtherSessions",
    audit: {
      what: "session.ended",
      isChange: ({ answered }) => answered.ended !== 0,
      detail: ({ answered }) => ({ ended: answered.ended }),
    },
    summary: "End every session of the person but this one",
    scope: "key",
    query: endQuery,
    responses: { 200: shape("endedSessions") },
    refusals: ["sessionOnly", "othersMissing"],
    handle: endOthers,
  },
  {
    ...base,
    method: "DELETE",
    path: "/sessions/{id}",
    operationId: "endSession",
    audit: "session.ended",
    summary: "End a session of the person",
    scope: "key",
    params: {
      id: z
        .string()
        .regex(/^[0-9]+$/)
        .describe("Session id")
        .meta({ examples: ["7"] }),
    },
    responses: { 200: shape("endedSessions") },
    refusals: ["sessionOnly", "invalidSessionId", "sessionNotFound"],
    handle: endOne,
  },
];
