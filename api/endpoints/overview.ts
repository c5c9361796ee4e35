/** A project at a glance, and its tags (docs/api-contract.md#overview). */
import type { Api } from "../api.ts";
import { type ApiResponse, JSON_HEADERS, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { type ProjectCall, type Route, shape } from "../route.ts";

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { text } = await api.overviews.of(call.project.id, call.nowMs);
  return { status: 200, headers: JSON_HEADERS, body: text };
}

async function listTags(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const overview = await api.overviews.of(call.project.id, call.nowMs);
  const tags = overview.tags();
  return ok({ tags, total: tags.length });
}

export const overviews: readonly Route[] = [
  listed({
    method: "GET",
    path: "/overview",
    operationId: "getOverview",
    group: "Overview",
    summary: "Every monitor of a project, as columns",
    description: "An addition of ours. The columns have a place for each monitor, by name; it is at most a second old.",
    scope: "project",
    responses: { 200: shape("overview") },
    handle: read,
  }),
  listed({
    method: "GET",
    path: "/tags",
    operationId: "listTags",
    group: "Overview",
    summary: "List the tags of a project's monitors, with how many are down",
    description: "An addition of ours; at most a second old.",
    scope: "project",
    responses: { 200: shape("tagList") },
    handle: listTags,
  }),
];
