/** Who calls, and what the key reaches (docs/api-contract.md#order-of-checks, #accounts). */
import { formatId } from "../../model/ids.ts";
import { formatIso, formatUtc } from "../../model/time.ts";
import type { KeyRecord } from "../../store/sql/accounts/keys-port.ts";
import type { Api } from "../api.ts";
import type { Membership } from "../auth-cache.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { readQuery } from "../query.ts";
import { type ReachedProject, reachedProjects, reachedWorkspaces, viewCaller } from "../reach.ts";
import { type KeyCall, pathId, type Route, shape } from "../route.ts";
import { organizationIdParams, organizationParameter } from "./params.ts";

const projectsQuery = { organization_id: organizationParameter("Only projects of this workspace.") } as const;

async function whoami(api: Api, call: KeyCall): Promise<ApiResponse> {
  const { user, ...reached } = await viewCaller(api, call);
  return ok({ user, key: call.key === null ? null : viewOwnKey(call.key), ...reached });
}

function viewOwnKey({ id, name, kind, organizationId, expiresAtMs }: KeyRecord) {
  const expires = expiresAtMs === null ? null : formatUtc(expiresAtMs);
  return { id, name, kind, organization_id: organizationId, expires };
}

async function listOrganizations(api: Api, call: KeyCall): Promise<ApiResponse> {
  const memberships = await reachedWorkspaces(api, call);
  const projects = await reachedProjects(api, memberships);
  const organizations = memberships.map((membership) => viewOrganization(api, membership, projects));
  return ok({ organizations, total: organizations.length });
}

function viewOrganization(api: Api, { workspace, role }: Membership, projects: readonly ReachedProject[]) {
  return {
    id: workspace.id,
    name: workspace.name,
    role,
    plan: workspace.plan,
    api_access: api.plans[workspace.plan].apiAccess,
    project_count: projects.filter(({ project }) => project.organizationId === workspace.id).length,
    created_at: formatIso(workspace.createdAtMs),
  };
}

async function readOrganization(api: Api, call: KeyCall): Promise<ApiResponse> {
  const id = pathId(call, "organization", "invalidOrganizationId");
  const membership = (await reachedWorkspaces(api, call)).find(({ workspace }) => workspace.id === id);
  if (membership === undefined) throw refusal("noOrganizationAccess");
  const { accounts, monitors } = api.controlPlane;
  const [projects, members, slotsUsed] = await Promise.all([
    reachedProjects(api, [membership]),
    accounts.membersOf(id),
    monitors.slotsUsed(id),
  ]);
  const counts = await accounts.monitorCounts(projects.map(({ project }) => project.id));
  const plan = api.plans[membership.workspace.plan];
  return ok({
    ...viewOrganization(api, membership, projects),
    suspended: membership.workspace.suspended,
    server_count: [...counts.values()].reduce((sum, count) => sum + count, 0),
    member_count: members.length,
    tunnel_slots: { used: slotsUsed, limit: plan.tunnelSlots },
    limits: {
      requests_per_minute: plan.requestsPerMinute,
      requests_per_day: plan.requestsPerDay,
      requests_per_month: plan.requestsPerMonth,
      on_demand_tests_per_month: plan.onDemandTestsPerMonth,
      shortest_interval: plan.shortestIntervalS,
      shortest_period: plan.shortestPeriodS,
      region_targeting: plan.regionTargeting,
    },
  });
}

async function listProjects(api: Api, call: KeyCall): Promise<ApiResponse> {
  const { organization_id: wanted } = readQuery(projectsQuery, call.request.query);
  const reached = await reachedWorkspaces(api, call);
  // A filter, not an access: a workspace out of reach leaves nothing (docs/api-contract.md#accounts).
  const memberships = reached.filter(({ workspace }) => wanted === null || workspace.id === wanted);
  const found = await reachedProjects(api, memberships);
  const counts = await api.controlPlane.accounts.monitorCounts(found.map(({ project }) => project.id));
  const projects = found.map(({ project, membership }) => ({
    id: formatId("project", project.id),
    name: project.name,
    organization_id: project.organizationId,
    organization_name: membership.workspace.name,
    role: membership.role,
    server_count: counts.get(project.id) ?? 0,
    created_at: formatIso(project.createdAtMs),
  }));
  return ok({ projects, total: projects.length });
}

const group = { group: "Account", scope: "key" } as const;

export const account: readonly Route[] = [
  {
    ...group,
    method: "GET",
    path: "/whoami",
    operationId: "whoami",
    summary: "Who the key belongs to and what it reaches",
    responses: { 200: shape("whoami") },
    handle: whoami,
  },
  listed({
    ...group,
    method: "GET",
    path: "/organizations",
    operationId: "listOrganizations",
    summary: "List the workspaces that the key reaches, with the caller's role",
    responses: { 200: shape("organizationList") },
    handle: listOrganizations,
  }),
  {
    ...group,
    method: "GET",
    path: "/organizations/{id}",
    operationId: "getOrganization",
    summary: "Read a workspace: its plan's numbers, and what of them is used",
    description: "An addition of ours.",
    params: organizationIdParams,
    responses: { 200: shape("organizationDetails") },
    refusals: ["invalidOrganizationId", "noOrganizationAccess"],
    handle: readOrganization,
  },
  listed({
    ...group,
    method: "GET",
    path: "/projects",
    operationId: "listProjects",
    summary: "List the active projects that the key reaches",
    query: projectsQuery,
    responses: { 200: shape("projectList") },
    handle: listProjects,
  }),
];
