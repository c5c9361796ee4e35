/** A person was identified, in whatever way: a session of the page begins, and the browser's session before it ends. */
import { newSecret } from "../store/session-secret.ts";
import type { SessionRecord, SessionVia } from "../store/sql/accounts/sessions-port.ts";
import type { Api } from "./api.ts";
import { recordChange } from "./audit.ts";
import { authorise, type Caller, keyWorkspace } from "./auth-parts.ts";
import { identifySession } from "./auth-session.ts";
import { deviceOf } from "./device.ts";
import { refusal } from "./errors.ts";
import type { AuditRule, Call, KeyCall, Route } from "./route.ts";
import { readCookie, setCookie } from "./session-cookie.ts";

/** However much it is used. */
const MAX_AGE_MS = 30 * 86_400_000;
/** Of what a browser calls itself. */
const MOST_USER_AGENT = 300;

/** What a session may that asks about itself. */
export const SIGN_IN_RIGHTS = { scope: "key" } as Exclude<Route, { scope: "public" }>;
export const SIGN_IN_AUDIT: AuditRule = {
  what: "session.started",
  detail: ({ call: { session } }) => ({ via: session?.via }),
};

export interface Begun {
  readonly signed: KeyCall;
  readonly session: SessionRecord;
  /** For the header `Set-Cookie`. */
  readonly cookie: string;
}

/** @throws 401 for a person without a workspace, before anything is stored: there is nothing to see */
export async function beginSession(api: Api, call: Call, caller: Caller, via: SessionVia): Promise<Begun> {
  const own = await ownWorkspace(api, caller);
  await authorise(api, SIGN_IN_RIGHTS, call, caller, own);
  await endPrevious(api, call);
  const secret = newSecret();
  const session = await api.controlPlane.sessions.create({
    secretHash: secret.hash,
    userId: caller.user.id,
    keyId: caller.key?.id ?? null,
    via,
    createdAtMs: call.nowMs,
    endsAtMs: call.nowMs + MAX_AGE_MS,
    device: deviceOf(call.request.userAgent.slice(0, MOST_USER_AGENT)),
    address: call.clientAddress,
  });
  if (session === undefined) throw refusal("workspaceAccessRemoved");
  const signed = await authorise(api, SIGN_IN_RIGHTS, call, { ...caller, session }, own);
  if ("project" in signed) throw new Error("signing in names no project");
  const body = JSON.stringify({ id: session.id });
  await recordChange(api, SIGN_IN_RIGHTS, SIGN_IN_AUDIT, { ...signed, key: caller.key }, { body });
  const cookie = setCookie(api.cookie, `${session.id}.${secret.text}`, MAX_AGE_MS / 1_000);
  return { signed, session, cookie };
}

async function ownWorkspace(api: Api, { key }: Caller) {
  const access = key?.kind === "workspace" ? await api.authCache.key(key.id) : undefined;
  return access === undefined ? null : keyWorkspace(access);
}

/** The browser forgets it, so it would only lie about. */
async function endPrevious(api: Api, call: Call): Promise<void> {
  const cookie = readCookie(api.cookie, call.request.cookie);
  if (cookie === null) return;
  const known = await identifySession(api, cookie, call.nowMs).catch(() => null);
  if (known !== null) await api.controlPlane.sessions.end(known.caller.user.id, known.caller.session.id);
}
