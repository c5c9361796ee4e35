/** What a key reaches: its workspace, or every workspace of its owner; and the active projects in them. */
import { formatId } from "../model/ids.ts";
import type { Role } from "../model/plan.ts";
import type { ProjectRecord, WorkspaceRecord } from "../store/sql/accounts/port.ts";
import type { Api } from "./api.ts";
import type { Membership } from "./auth-cache.ts";
import { type ErrorName, refusal } from "./errors.ts";
import type { KeyCall } from "./route.ts";

export interface ReachedProject {
  readonly project: ProjectRecord;
  readonly membership: Membership;
}

/** Sorted by name without case, then id (docs/api-contract.md#accounts). */
export async function reachedWorkspaces(api: Api, call: KeyCall): Promise<readonly Membership[]> {
  if (!call.isWide) return [{ workspace: call.workspace, role: call.role }];
  const memberships = await api.authCache.memberships(call.user.id);
  return [...memberships].sort((a, b) => byName(a.workspace.name, b.workspace.name) || a.workspace.id - b.workspace.id);
}

/** In the order of the workspaces, then by name without case, then id (docs/api-contract.md#accounts). */
export async function reachedProjects(
  api: Api,
  memberships: readonly Membership[],
): Promise<readonly ReachedProject[]> {
  const found = await Promise.all(
    memberships.map(async (membership) => {
      const projects = await api.controlPlane.accounts.projectsOf(membership.workspace.id);
      const sorted = [...projects].sort((a, b) => byName(a.name, b.name) || a.id - b.id);
      return sorted.map((project) => ({ project, membership }));
    }),
  );
  return found.flat();
}

/** The caller and all that it reaches, as answers show it. */
export async function viewCaller(api: Api, call: KeyCall) {
  const memberships = await reachedWorkspaces(api, call);
  const projects = await reachedProjects(api, memberships);
  const [oldest] = await api.controlPlane.accounts.projectsOf(call.workspace.id);
  return {
    user: { id: call.user.id, name: call.user.name, email: call.user.email },
    organizations: memberships.map(({ workspace: { id, name, plan }, role }) => ({ id, name, role, plan })),
    projects: projects.map(({ project, membership }) => ({
      id: formatId("project", project.id),
      name: project.name,
      organization_id: project.organizationId,
      role: membership.role,
    })),
    default_organization_id: call.workspace.id,
    default_project_id: oldest === undefined ? null : formatId("project", oldest.id),
  };
}

/**
 * The workspace that the caller names, or its own one, where it is Owner or Admin: the role comes before what the query says.
 * @throws 403
 */
export async function administered(
  api: Api,
  call: KeyCall,
  named: () => number | null,
  forbidden: ErrorName,
): Promise<WorkspaceRecord & { readonly role: Role }> {
  if (!call.isWide && !managesPeople(call.role)) throw refusal(forbidden);
  const id = named() ?? call.workspace.id;
  const memberships = await reachedWorkspaces(api, call);
  const found = memberships.find(({ workspace }) => workspace.id === id);
  if (found === undefined) throw refusal("noOrganizationAccess");
  if (!managesPeople(found.role)) throw refusal(forbidden);
  return { ...found.workspace, role: found.role };
}

export function managesPeople(role: Role): boolean {
  return role === "owner" || role === "admin";
}

function byName(a: string, b: string): number {
  const [first, second] = [a.normalize("NFC").toLowerCase(), b.normalize("NFC").toLowerCase()];
  return first < second ? -1 : first > second ? 1 : 0;
}
