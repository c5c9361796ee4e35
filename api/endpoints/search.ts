/** Search over every project that the key reaches (docs/api-contract.md#monitors). */
import { formatId, parseId } from "../../model/ids.ts";
import type { Api } from "../api.ts";
import type { Membership } from "../auth-cache.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { isShownToAll, shownUrl } from "../monitors/address.ts";
import { codePoints } from "../monitors/every-kind.ts";
import { importsOf } from "../monitors/imported.ts";
import { viewMonitor } from "../monitors/view.ts";
import { limitParameter, offsetParameter, readQuery, textParameter } from "../query.ts";
import { reachedProjects, reachedWorkspaces } from "../reach.ts";
import { canEdit, type KeyCall, type Route, shape } from "../route.ts";

/** Code points after trimming. */
const MAX_TEXT = 255;

const searchQuery = {
  q: textParameter("Text in the name, the host or a tag, or a whole monitor id. Required, 1 to 255 characters."),
  limit: limitParameter(50),
  offset: offsetParameter,
} as const;

async function search(api: Api, call: KeyCall): Promise<ApiResponse> {
  const query = readQuery(searchQuery, call.request.query);
  const text = query.q.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no stored text has a NUL, and PostgreSQL refuses one
  if (text === "" || codePoints(text) > MAX_TEXT || /\u0000/.test(text)) throw refusal("searchTextMissing");
  const reached = await reachedProjects(api, (await reachedWorkspaces(api, call)).filter(hasApiAccess(api)));
  const editable = new Set(
    reached.flatMap(({ membership, project }) => (canEdit(membership.role) ? [project.id] : [])),
  );
  const workspaces = new Map(reached.map(({ membership }) => [membership.workspace.id, membership.workspace]));
  const ids = reached.map(({ project }) => project.id);
  const found = await api.controlPlane.monitors.search(
    ids,
    text,
    parseId("server", text) ?? null,
    query.limit,
    query.offset,
  );
  const imports = await importsOf(api.controlPlane, found.rows);
  const servers = found.rows.map((row) => ({
    ...viewMonitor(row, call.nowMs, {
      url: shownUrl(api, row.monitor, editable.has(row.project.id)),
      imported: imports.get(row.monitor.id),
    }),
    project_id: formatId("project", row.project.id),
    project_name: row.project.name,
    organization_id: row.project.organizationId,
    organization_name: workspaces.get(row.project.organizationId)?.name ?? "",
  }));
  const answer = ok({ servers, total: found.total });
  const holdsSecrets = found.rows.some(({ monitor, project }) => editable.has(project.id) && !isShownToAll(monitor));
  return holdsSecrets ? { ...answer, holdsSecrets } : answer;
}

/** What an account-wide key finds leaves out projects whose workspace has no API access (docs/api-contract.md#monitors). */
function hasApiAccess(api: Api): (membership: Membership) => boolean {
  return ({ workspace }) => api.plans[workspace.plan].apiAccess;
}

export const searches: readonly Route[] = [
  listed({
    method: "GET",
    path: "/servers/search",
    operationId: "searchMonitors",
    group: "Monitors",
    summary: "Search monitors across every project the key can reach",
    scope: "key",
    query: searchQuery,
    responses: { 200: shape("searchList") },
    refusals: ["searchTextMissing"],
    handle: search,
  }),
];
