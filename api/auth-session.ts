/** Callers with a session of the page: who they are, that the page itself asks, and a limit of their own. */
import { hashSecret } from "../store/session-secret.ts";
import type { SessionRecord } from "../store/sql/accounts/sessions-port.ts";
import type { Api } from "./api.ts";
import type { Membership } from "./auth-cache.ts";
import { authorise, type Caller, isSameHash, keyWorkspace, refuseEnded } from "./auth-parts.ts";
import { refuseForged } from "./csrf.ts";
import { refusal } from "./errors.ts";
import type { ApiResponse } from "./http.ts";
import { limitExceeded } from "./limits.ts";
import type { Call, KeyCall, ProjectCall, Route } from "./route.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** A session that was not used for so long has ended. */
export const MAX_IDLE_MS = 7 * 86_400_000;
const MINUTE_MS = 60_000;
/** Requests of one session in a minute. A page that is open asks for a hundred; it is no way around the limits of keys. */
const READS_A_MINUTE = 600;
const WRITES_A_MINUTE = 120;

/** @returns the answer instead of a call when the session's limit refuses */
export async function admitSession(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  call: Call,
  cookie: SessionCookie,
): Promise<KeyCall | ProjectCall | ApiResponse> {
  const { caller, own } = await identifySession(api, cookie, call.nowMs);
  const { method } = call.request;
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead) refuseForged(call.request, api.config.baseUrl);
  const perMinute = isRead ? READS_A_MINUTE : WRITES_A_MINUTE;
  const gate = `session ${caller.session.id} ${isRead ? "reads" : "writes"}`;
  if (!(await api.state.counters.takeFrom(gate, perMinute, MINUTE_MS, call.nowMs)))
    return limitExceeded("minute", { perMinute, perDay: null, perMonth: null }, call.nowMs);
  see(api, caller.session, call.nowMs);
  return authorise(api, route, call, caller, own);
}

interface Identified {
  readonly caller: Caller & { readonly session: NonNullable<Caller["session"]> };
  /** Of a session that reaches one workspace only. */
  readonly own: Membership | null;
}

/** @throws 401 */
export async function identifySession(api: Api, cookie: SessionCookie, nowMs: number): Promise<Identified> {
  const access = await api.authCache.session(cookie.id);
  if (access === undefined || !isSameHash(hashSecret(cookie.secret), access.session.secretHash))
    throw refusal("sessionEnded");
  const { session, user } = access;
  if (session.endsAtMs <= nowMs || (await isIdle(api, session, nowMs))) throw refusal("sessionEnded");
  if (!user.active) throw refusal("ownerInactive");
  if (session.keyId === null) return { caller: { user, key: null, session }, own: null };
  const keyAccess = await api.authCache.key(session.keyId);
  if (keyAccess === undefined) throw refusal("sessionEnded");
  refuseEnded(keyAccess, nowMs);
  const own = keyAccess.key.kind === "workspace" ? keyWorkspace(keyAccess) : null;
  return { caller: { user, key: keyAccess.key, session }, own };
}

/** What the cache has may be old: another process may have seen the session since. */
async function isIdle(api: Api, session: SessionRecord, nowMs: number): Promise<boolean> {
  const isLong = (seenAtMs: number): boolean => seenAtMs + MAX_IDLE_MS <= nowMs;
  if (!isLong(lastSeen(api, session))) return false;
  const kept = await api.controlPlane.sessions.access(session.id);
  return kept === undefined || isLong(kept.session.seenAtMs);
}

/** Written at most once a minute for each session. */
function see(api: Api, session: SessionRecord, nowMs: number): void {
  if (nowMs - lastSeen(api, session) < MINUTE_MS) return;
  api.seen.latest.set(session.id, nowMs);
  api.seen.unwritten.set(session.id, nowMs);
}

/** As far as this process knows, Unix ms. */
export function lastSeen(api: Api, { id, seenAtMs }: SessionRecord): number {
  return Math.max(seenAtMs, api.seen.latest.get(id) ?? 0);
}
