/** Who calls: keys by both headers, the wrong-key throttle, workspaces and projects, usage limits (docs/api-contract.md#order-of-checks). */
import { timingSafeEqual } from "node:crypto";
import type { Actor } from "../model/actor.ts";
import { parseId } from "../model/ids.ts";
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import { hashKey } from "../store/key-text.ts";
import type { KeyAccess } from "../store/sql/accounts/keys-port.ts";
import type { ProjectRecord, WorkspaceRecord } from "../store/sql/accounts/port.ts";
import type { RequestTake } from "../store/state/state.ts";
import { networkOf } from "./address.ts";
import type { Api } from "./api.ts";
import type { Membership } from "./auth-cache.ts";
import { ApiError, forbidden, refusal } from "./errors.ts";
import type { ApiRequest, ApiResponse } from "./http.ts";
import { limitExceeded, limitHeaders, requestLimits, WRONG_KEY_RETRY_S } from "./limits.ts";
import { type Call, canEdit, type KeyCall, type ProjectCall, type ProjectRoute, type Route } from "./route.ts";

/** `uk<id>_<secret>` from the API or sign-in, `dk…` from the dashboard (docs/api-contract.md#keys). */
const KEY_FORM = /^[ud]k([1-9][0-9]{0,14})_[\w-]{1,200}$/;
const BEARER = /^bearer +(\S.*)$/i;

/** What admit() learns about a request. The limit headers are set as soon as the request has shown a valid key. */
export interface Admission {
  limitHeaders: readonly string[] | null;
  /** Set once the request passed the usage limits and is counted as one. */
  counted: { readonly organizationId: number; readonly keyId: number } | null;
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
  call: Call,
  admission: Admission,
): MaybePromise<KeyCall | ProjectCall | ApiResponse> {
  return andThen(api.authCache.refresh(), () =>
    andThen(identify(api, call), (access) =>
      andThen(workspaceOf(api, access), (membership) =>
        access.key.kind === "account" && route.scope === "project"
          ? admitAccountKey(api, route, call, access, membership.workspace, admission)
          : admitOrdinary(api, route, call, access, membership, admission),
      ),
    ),
  );
}

function admitOrdinary(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  call: Call,
  access: KeyAccess,
  membership: Membership,
  admission: Admission,
): MaybePromise<KeyCall | ProjectCall | ApiResponse> {
  return andThen(
    takeRequest(api, route, access, membership.workspace, call.nowMs, admission),
    (refused): MaybePromise<KeyCall | ProjectCall | ApiResponse> => {
      if (refused !== null) return refused;
      if (route.scope === "key") return keyCall(api, call, access, membership);
      return andThen(namedProject(api, call.request), (project) => {
        if (project.organizationId !== membership.workspace.id) throw refusal("otherOrganization");
        return projectCall(route, keyCall(api, call, access, membership), project);
      });
    },
  );
}

/** The project's workspace decides plan and limits, so project and access come first (docs/api-contract.md#order-of-checks). */
async function admitAccountKey(
  api: Api,
  route: ProjectRoute,
  call: Call,
  access: KeyAccess,
  fallback: WorkspaceRecord,
  admission: Admission,
): Promise<ProjectCall | ApiResponse> {
  try {
    const project = await namedProject(api, call.request);
    const memberships = await api.authCache.memberships(access.user.id);
    const membership = memberships.find(({ workspace }) => workspace.id === project.organizationId);
    if (membership === undefined) throw refusal("noProjectAccess");
    const refused = await takeRequest(api, route, access, membership.workspace, call.nowMs, admission);
    if (refused !== null) return refused;
    return projectCall(route, keyCall(api, call, access, membership), project);
  } catch (error) {
    // The key was valid, so the headers are due; nothing was taken from any workspace yet.
    if (error instanceof ApiError && admission.limitHeaders === null) {
      const { minute } = await api.state.counters.usage(fallback.id, call.nowMs);
      admission.limitHeaders = limitHeaders(api.plans[fallback.plan], minute, call.nowMs);
    }
    throw error;
  }
}

/** @throws 429 while the address is refused, 401 when the key is not a good one */
function identify(api: Api, call: Call): MaybePromise<KeyAccess> {
  const may = api.state.counters.mayTryKey(networkOf(call.clientAddress), call.nowMs);
  return andThen(may, (mayTry) => findAccess(api, call, mayTry));
}

function findAccess(api: Api, call: Call, mayTry: boolean): MaybePromise<KeyAccess> {
  if (!mayTry) throw refusal("tooManyWrongKeys", { retryAfterS: WRONG_KEY_RETRY_S });
  const key = sentKey(call.request);
  if (key === null) throw refusal("keyMissing");
  const id = KEY_FORM.exec(key)?.[1];
  const known = id === undefined ? undefined : api.authCache.key(Number(id));
  return andThen(known, (access) => checkAccess(api, call, key, access));
}

/** Checks the key's secret and state. A wrong key is counted for the caller's network before it is refused. */
function checkAccess(api: Api, call: Call, key: string, access: KeyAccess | undefined): MaybePromise<KeyAccess> {
  if (access === undefined || !isSecret(key, access.key.secretHash)) {
    return api.state.counters.wrongKey(networkOf(call.clientAddress), call.nowMs).then(() => {
      throw refusal("keyInvalid");
    });
  }
  // `expired` wins over `inactive` (docs/api-contract.md#keys).
  if (access.key.expiresAtMs !== null && access.key.expiresAtMs <= call.nowMs) throw refusal("keyExpired");
  if (!access.key.active) throw refusal("keyInvalid");
  if (!access.user.active) throw refusal("ownerInactive");
  return access;
}

/** Hex SHA-256 has 64 digits. Two buffers that each comparison overwrites, so that no comparison allocates one. */
const SENT = Buffer.alloc(64);
const KEPT = Buffer.alloc(64);

function isSecret(key: string, secretHash: string): boolean {
  if (secretHash.length !== KEPT.length) return false;
  SENT.write(hashKey(key), "latin1");
  KEPT.write(secretHash, "latin1");
  return timingSafeEqual(SENT, KEPT);
}

/** The key's workspace; of an account-wide key the person's first own one, else the oldest membership (docs/api-contract.md#order-of-checks). */
function workspaceOf(api: Api, access: KeyAccess): MaybePromise<Membership> {
  if (access.key.kind !== "workspace") return defaultWorkspace(api, access);
  if (access.workspace === null || access.role === null) throw refusal("workspaceAccessRemoved");
  return { workspace: access.workspace, role: access.role };
}

async function defaultWorkspace(api: Api, access: KeyAccess): Promise<Membership> {
  const memberships = await api.authCache.memberships(access.user.id);
  const chosen = memberships.find(({ role }) => role === "owner") ?? memberships[0];
  if (chosen === undefined) throw refusal("workspaceAccessRemoved");
  return chosen;
}

function takeRequest(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  access: KeyAccess,
  workspace: WorkspaceRecord,
  nowMs: number,
  admission: Admission,
): MaybePromise<ApiResponse | null> {
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

function namedProject(api: Api, request: ApiRequest): MaybePromise<ProjectRecord> {
  const sent = request.projectId.trim();
  if (sent === "") throw refusal("projectHeaderMissing");
  const id = parseId("project", sent);
  if (id === undefined) throw refusal("projectHeaderInvalid");
  return andThen(api.authCache.project(id), activeProject);
}

function activeProject(project: ProjectRecord | undefined): ProjectRecord {
  if (project === undefined || !project.active) throw refusal("projectNotFound");
  return project;
}

function keyCall(api: Api, call: Call, access: KeyAccess, { workspace, role }: Membership): KeyCall {
  const actor: Actor = { type: "user", id: access.user.id, name: access.user.name, via: "api", keyId: access.key.id };
  // Field by field: spreading costs a microsecond on the hottest path.
  return {
    request: call.request,
    params: call.params,
    nowMs: call.nowMs,
    clientAddress: call.clientAddress,
    access,
    workspace,
    role,
    plan: api.plans[workspace.plan],
    actor,
  };
}

function projectCall(route: Route, call: KeyCall, project: ProjectRecord): ProjectCall {
  if (route.scope === "project" && route.editorsOnly !== undefined && !canEdit(call.role)) {
    throw forbidden(route.editorsOnly);
  }
  return {
    request: call.request,
    params: call.params,
    nowMs: call.nowMs,
    clientAddress: call.clientAddress,
    access: call.access,
    workspace: call.workspace,
    role: call.role,
    plan: call.plan,
    actor: call.actor,
    project,
  };
}
