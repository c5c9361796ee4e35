/** What admits a caller, whether by key or by a session of the page: the state of keys, workspaces and projects, and the calls that handlers get. */
import { timingSafeEqual } from "node:crypto";
import type { Actor } from "../model/actor.ts";
import { parseId } from "../model/ids.ts";
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import type { KeyAccess, KeyRecord } from "../store/sql/accounts/keys-port.ts";
import type { ProjectRecord, UserRecord } from "../store/sql/accounts/port.ts";
import type { SessionRecord } from "../store/sql/accounts/sessions-port.ts";
import type { Api } from "./api.ts";
import type { Membership } from "./auth-cache.ts";
import { forbidden, refusal } from "./errors.ts";
import { type Call, canEdit, type KeyCall, type ProjectCall, type Route } from "./route.ts";

/** The caller. */
export interface Caller {
  readonly user: UserRecord;
  /** Of a session: the one that it was made with; null: it was made with a link. */
  readonly key: KeyRecord | null;
  readonly session: SessionRecord | null;
}

/** Hex SHA-256 has 64 digits. Each comparison writes over these two buffers, so that it allocates none. */
const SENT = Buffer.alloc(64);
const KEPT = Buffer.alloc(64);

/** @param sentHash and the kept one in hex */
export function isSameHash(sentHash: string, keptHash: string): boolean {
  if (keptHash.length !== KEPT.length || sentHash.length !== SENT.length) return false;
  SENT.write(sentHash, "latin1");
  KEPT.write(keptHash, "latin1");
  return timingSafeEqual(SENT, KEPT);
}

/** @throws 401 when the key is not good any more */
export function refuseEnded(access: KeyAccess, nowMs: number): void {
  // `expired` wins over `inactive` (docs/api-contract.md#keys).
  if (access.key.expiresAtMs !== null && access.key.expiresAtMs <= nowMs) throw refusal("keyExpired");
  if (!access.key.active) throw refusal("keyInvalid");
  if (!access.user.active) throw refusal("ownerInactive");
}

/** Of a workspace key. @throws 401 when its owner has left */
export function keyWorkspace({ workspace, role }: KeyAccess): Membership {
  if (workspace === null || role === null) throw refusal("workspaceAccessRemoved");
  return { workspace, role };
}

/** The person's first own workspace, else the oldest membership (docs/api-contract.md#order-of-checks). */
export function defaultMembership(memberships: readonly Membership[]): Membership {
  const chosen = memberships.find(({ role }) => role === "owner") ?? memberships[0];
  if (chosen === undefined) throw refusal("workspaceAccessRemoved");
  return chosen;
}

/** The one that the request names: in its header, or in the query of what a browser asks for without headers. */
export function namedProject(api: Api, route: Route, { request }: Call): MaybePromise<ProjectRecord> {
  const sent =
    route.scope === "project" && route.isProjectInQuery === true
      ? inQuery(request.query) || request.projectId
      : request.projectId;
  if (sent.trim() === "") throw refusal("projectHeaderMissing");
  const id = parseId("project", sent.trim());
  if (id === undefined) throw refusal("projectHeaderInvalid");
  return andThen(api.authCache.project(id), activeProject);
}

function inQuery(query: string): string {
  return new URLSearchParams(query).get("project") ?? "";
}

function activeProject(project: ProjectRecord | undefined): ProjectRecord {
  if (project === undefined || !project.active) throw refusal("projectNotFound");
  return project;
}

export function keyCall(
  api: Api,
  call: Call,
  { user, key, session }: Caller,
  { workspace, role }: Membership,
): KeyCall {
  const actor: Actor =
    session === null
      ? { type: "user", id: user.id, name: user.name, via: "api", keyId: key?.id ?? null }
      : { type: "user", id: user.id, name: user.name, via: "dashboard", keyId: null };
  // Field by field: spreading costs a microsecond on the hottest path.
  return {
    request: call.request,
    params: call.params,
    nowMs: call.nowMs,
    clientAddress: call.clientAddress,
    user,
    key,
    session,
    isWide: key === null || key.kind === "account",
    workspace,
    role,
    plan: api.plans[workspace.plan],
    actor,
  };
}

export function projectCall(route: Route, call: KeyCall, project: ProjectRecord): ProjectCall {
  if (route.scope === "project" && route.editorsOnly !== undefined && !canEdit(call.role)) {
    throw forbidden(route.editorsOnly);
  }
  return {
    request: call.request,
    params: call.params,
    nowMs: call.nowMs,
    clientAddress: call.clientAddress,
    user: call.user,
    key: call.key,
    session: call.session,
    isWide: call.isWide,
    workspace: call.workspace,
    role: call.role,
    plan: call.plan,
    actor: call.actor,
    project,
  };
}

/**
 * Checks rights, and no usage limits: for sessions, and for streams that go on.
 * @param only the workspace of a caller who reaches no other; null: all workspaces of the person
 */
export async function authorise(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  call: Call,
  caller: Caller,
  only: Membership | null,
): Promise<KeyCall | ProjectCall> {
  const memberships = only === null ? await api.authCache.memberships(caller.user.id) : [only];
  const usual = defaultMembership(memberships);
  if (route.scope === "key") return keyCall(api, call, caller, (await inView(api, call, memberships)) ?? usual);
  const project = await namedProject(api, route, call);
  const membership = memberships.find(({ workspace }) => workspace.id === project.organizationId);
  if (membership === undefined) throw refusal(only === null ? "noProjectAccess" : "otherOrganization");
  return projectCall(route, keyCall(api, call, caller, membership), project);
}

/** The page names its project with every request: what asks about a workspace means that project's. */
async function inView(api: Api, call: Call, memberships: readonly Membership[]): Promise<Membership | undefined> {
  const id = parseId("project", call.request.projectId.trim());
  const project = id === undefined ? undefined : await api.authCache.project(id);
  return memberships.find(({ workspace }) => workspace.id === project?.organizationId);
}
