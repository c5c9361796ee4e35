/** Who calls: keys by both headers, the wrong-key throttle, workspaces and projects, usage limits (docs/api-contract.md#order-of-checks). */
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import { hashKey } from "../store/key-text.ts";
import type { KeyAccess } from "../store/sql/accounts/keys-port.ts";
import type { WorkspaceRecord } from "../store/sql/accounts/port.ts";
import type { RequestTake } from "../store/state/state.ts";
import { networkOf } from "./address.ts";
import type { Api } from "./api.ts";
import type { Membership } from "./auth-cache.ts";
import {
  authorise,
  type Caller,
  defaultMembership,
  isSameHash,
  keyCall,
  keyWorkspace,
  namedProject,
  projectCall,
  refuseEnded,
} from "./auth-parts.ts";
import { admitSession, identifySession } from "./auth-session.ts";
import { ApiError, refusal } from "./errors.ts";
import type { ApiRequest, ApiResponse } from "./http.ts";
import { limitExceeded, limitHeaders, requestLimits, WRONG_KEY_RETRY_S } from "./limits.ts";
import type { Call, KeyCall, ProjectCall, ProjectRoute, Route } from "./route.ts";
import { readCookie, type SessionCookie } from "./session-cookie.ts";

/** `uk<id>_<secret>` from the API or sign-in, `dk…` from the dashboard (docs/api-contract.md#keys). */
const KEY_FORM = /^[ud]k([1-9][0-9]{0,14})_[\w-]{1,200}$/;
const BEARER = /^bearer +(\S.*)$/i;

/** A request, and what admit() learns about it. The limit headers are set as soon as it has shown a valid key. */
export interface Admission {
  readonly call: Call;
  limitHeaders: readonly string[] | null;
  /** Set once the request passed the usage limits and is counted as one. */
  counted: { readonly organizationId: number; readonly keyId: number } | null;
  /** Of a caller with a session of the page. */
  sessionId: number | null;
  /** Of a caller who was let in. */
  workspaceId: number | null;
}

/** The key as sent; X-API-Key wins over Authorization. Null when there is none. */
export function sentKey(request: ApiRequest): string | null {
  const header = request.apiKey.trim();
  if (header !== "") return header;
  return BEARER.exec(request.authorization)?.[1]?.trim() ?? null;
}

/**
 * The order of checks of docs/api-contract.md#order-of-checks, up to the role.
 * @returns the answer instead of a call when a usage limit refuses
 */
export function admit(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  admission: Admission,
): MaybePromise<KeyCall | ProjectCall | ApiResponse> {
  const { call } = admission;
  return andThen(api.authCache.refresh(), () => {
    const cookie = sessionOf(api, call.request);
    return cookie === null ? admitKey(api, route, admission) : admitSession(api, route, call, cookie);
  });
}

/** A key wins over a session. */
function sessionOf(api: Api, request: ApiRequest): SessionCookie | null {
  return request.cookie === "" || sentKey(request) !== null ? null : readCookie(api.cookie, request.cookie);
}

function admitKey(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  admission: Admission,
): MaybePromise<KeyCall | ProjectCall | ApiResponse> {
  return andThen(identify(api, admission.call), (access) =>
    andThen(workspaceOf(api, access), (membership) =>
      access.key.kind === "account" && route.scope === "project"
        ? admitAccountKey(api, route, admission, access, membership.workspace)
        : admitOrdinary(api, route, admission, access, membership),
    ),
  );
}

/**
 * Whether a caller who was let in would be again. Nothing is counted.
 * @throws what of the stores is away
 */
export async function mayStill(api: Api, route: Exclude<Route, { scope: "public" }>, call: Call): Promise<boolean> {
  try {
    await api.authCache.refresh();
    const cookie = sessionOf(api, call.request);
    if (cookie !== null) {
      const { caller, own } = await identifySession(api, cookie, call.nowMs);
      await authorise(api, route, call, caller, own);
      return true;
    }
    const key = sentKey(call.request) ?? "";
    const access = await keyAccess(api, key);
    if (access === undefined || !isSameHash(hashKey(key), access.key.secretHash)) return false;
    refuseEnded(access, call.nowMs);
    const membership = access.key.kind === "workspace" ? keyWorkspace(access) : null;
    await authorise(api, route, call, callerOf(access), membership);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function callerOf({ user, key }: KeyAccess): Caller {
  return { user, key, session: null };
}

function admitOrdinary(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  admission: Admission,
  access: KeyAccess,
  membership: Membership,
): MaybePromise<KeyCall | ProjectCall | ApiResponse> {
  const { call } = admission;
  return andThen(
    takeRequest(api, route, admission, access, membership.workspace),
    (refused): MaybePromise<KeyCall | ProjectCall | ApiResponse> => {
      if (refused !== null) return refused;
      if (route.scope === "key") return keyCall(api, call, callerOf(access), membership);
      return andThen(namedProject(api, route, call), (project) => {
        if (project.organizationId !== membership.workspace.id) throw refusal("otherOrganization");
        return projectCall(route, keyCall(api, call, callerOf(access), membership), project);
      });
    },
  );
}

/** The project's workspace decides plan and limits, so project and access come first (docs/api-contract.md#order-of-checks). */
async function admitAccountKey(
  api: Api,
  route: ProjectRoute,
  admission: Admission,
  access: KeyAccess,
  fallback: WorkspaceRecord,
): Promise<ProjectCall | ApiResponse> {
  const { call } = admission;
  try {
    const project = await namedProject(api, route, call);
    const memberships = await api.authCache.memberships(access.user.id);
    const membership = memberships.find(({ workspace }) => workspace.id === project.organizationId);
    if (membership === undefined) throw refusal("noProjectAccess");
    const refused = await takeRequest(api, route, admission, access, membership.workspace);
    if (refused !== null) return refused;
    return projectCall(route, keyCall(api, call, callerOf(access), membership), project);
  } catch (error) {
    // The key was valid, so the headers are due; nothing was taken from any workspace yet.
    if (error instanceof ApiError && admission.limitHeaders === null) {
      const { minute } = await api.state.counters.usage(fallback.id, call.nowMs);
      admission.limitHeaders = limitHeaders(api.plans[fallback.plan], minute, call.nowMs);
    }
    throw error;
  }
}

/**
 * @param key null: none was sent
 * @throws 429 while the address is refused, 401 when the key is not a good one
 */
export function identify(api: Api, call: Call, key: string | null = sentKey(call.request)): MaybePromise<KeyAccess> {
  const may = api.state.counters.mayTryKey(networkOf(call.clientAddress), call.nowMs);
  return andThen(may, (mayTry) => findAccess(api, call, key, mayTry));
}

function findAccess(api: Api, call: Call, key: string | null, mayTry: boolean): MaybePromise<KeyAccess> {
  if (!mayTry) throw refusal("tooManyWrongKeys", { retryAfterS: WRONG_KEY_RETRY_S });
  if (key === null) throw refusal("keyMissing");
  return andThen(keyAccess(api, key), (access) => checkAccess(api, call, key, access));
}

function keyAccess(api: Api, key: string): MaybePromise<KeyAccess | undefined> {
  const id = KEY_FORM.exec(key)?.[1];
  return id === undefined ? undefined : api.authCache.key(Number(id));
}

/** Checks the key's secret and state. A wrong key is counted for the caller's network before it is refused. */
function checkAccess(api: Api, call: Call, key: string, access: KeyAccess | undefined): MaybePromise<KeyAccess> {
  if (access === undefined || !isSameHash(hashKey(key), access.key.secretHash)) {
    return api.state.counters.wrongKey(networkOf(call.clientAddress), call.nowMs).then(() => {
      throw refusal("keyInvalid");
    });
  }
  refuseEnded(access, call.nowMs);
  return access;
}

/** The key's workspace; of an account-wide key the default one (docs/api-contract.md#order-of-checks). */
function workspaceOf(api: Api, access: KeyAccess): MaybePromise<Membership> {
  if (access.key.kind === "workspace") return keyWorkspace(access);
  return api.authCache.memberships(access.user.id).then(defaultMembership);
}

function takeRequest(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  admission: Admission,
  access: KeyAccess,
  workspace: WorkspaceRecord,
): MaybePromise<ApiResponse | null> {
  const { nowMs } = admission.call;
  const plan = api.plans[workspace.plan];
  if (!plan.apiAccess) {
    admission.limitHeaders = limitHeaders(plan, 0, nowMs);
    throw refusal(route.scope === "key" ? (route.noApiAccess ?? "noApiAccess") : "noApiAccess");
  }
  const limits = requestLimits(plan);
  const count = (take: RequestTake): ApiResponse | null => {
    admission.limitHeaders = limitHeaders(plan, take.usedInMinute, nowMs);
    if (take.refusedBy !== null) return limitExceeded(take.refusedBy, limits, nowMs);
    admission.counted = { organizationId: workspace.id, keyId: access.key.id };
    api.uses.set(access.key.id, nowMs);
    return null;
  };
  return andThen(api.state.counters.takeRequest(workspace.id, limits, nowMs), count);
}
