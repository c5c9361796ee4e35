/** Filters and orders of monitors that people have named (docs/api-contract.md#saved-views). */
import { z } from "zod";
import { formatId } from "../../model/ids.ts";
import type { SavedView } from "../../store/sql/accounts/saved-views-port.ts";
import type { Api } from "../api.ts";
import { fieldOf, readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { canEdit, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { viewIdParams } from "./params.ts";

/** Code points; the page shows a name in a chip. */
const MAX_NAME = 60;
/** Code points; a filter that a person writes is far shorter. */
const MAX_QUERY = 2_000;

const saveBody = z
  .object({
    name: z.string().max(MAX_NAME),
    query: z
      .string()
      .max(MAX_QUERY)
      .describe("As the page's address has it after `?`")
      .meta({ examples: ["q=status%3Adown"] }),
    shared: z.boolean().default(false).describe("For everyone in the project; for Owners, Admins and Managers"),
  })
  .meta({ id: "SaveView", examples: [{ name: "Down in production", query: "q=status%3Adown+tag%3Aprod" }] });

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const views = (await api.controlPlane.savedViews.list(call.project.id, call.user.id)).map(shown);
  return ok({ views, total: views.length });
}

async function save(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const name = textOf(fieldOf(body, "name"));
  if (name === "" || codePoints(name) > MAX_NAME || hasNul(name)) throw refusal("viewNameInvalid");
  const query = textOf(fieldOf(body, "query"));
  if (query === "" || codePoints(query) > MAX_QUERY || hasNul(query)) throw refusal("viewQueryInvalid");
  const isShared = fieldOf(body, "shared") ?? false;
  if (typeof isShared !== "boolean") throw refusal("viewSharedInvalid");
  if (isShared && !canEdit(call.role)) throw refusal("viewForEditors");
  const [projectId, userId] = [call.project.id, isShared ? null : call.user.id];
  const saved = await api.controlPlane.savedViews.save({ projectId, userId, name, query });
  if (saved === undefined) throw refusal("projectNotFound");
  if (saved === "full") throw refusal("viewsTooMany");
  return ok(shown(saved));
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "view", "invalidViewId");
  const { savedViews } = api.controlPlane;
  const found = await savedViews.find(call.project.id, call.user.id, id);
  if (found?.userId === null && !canEdit(call.role)) throw refusal("viewForEditors");
  if (found === undefined || !(await savedViews.remove(call.project.id, id))) throw refusal("viewNotFound");
  return ok({ success: true, id: formatId("view", id) });
}

function textOf(sent: unknown): string {
  return typeof sent === "string" ? sent.trim() : "";
}

function shown({ id, name, query, userId }: SavedView) {
  return { id: formatId("view", id), name, query, shared: userId === null };
}

const group = { group: "Overview", scope: "project" } as const;

export const views: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/views",
    operationId: "listViews",
    summary: "List saved views: the person's own, and those of everyone in the project",
    description: "An addition of ours. Filters and orders of the page with a name, oldest first.",
    responses: { 200: shape("viewList") },
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/views",
    operationId: "saveView",
    audit: "view.saved",
    summary: "Save a view; it takes the place of one with the same name",
    description: "An addition of ours.",
    body: { schema: saveBody, required: true },
    responses: { 200: shape("view") },
    refusals: ["viewNameInvalid", "viewQueryInvalid", "viewSharedInvalid", "viewForEditors", "viewsTooMany"],
    handle: save,
  },
  {
    ...group,
    method: "DELETE",
    path: "/views/{id}",
    operationId: "removeView",
    audit: {
      what: "view.removed",
      nameOf: async (api, call) => {
        if (!("project" in call)) return null;
        const id = pathId(call, "view", "invalidViewId");
        return (await api.controlPlane.savedViews.find(call.project.id, call.user.id, id))?.name ?? null;
      },
    },
    summary: "Remove a saved view",
    description: "An addition of ours.",
    params: viewIdParams,
    responses: { 200: shape("removedView") },
    refusals: ["invalidViewId", "viewForEditors", "viewNotFound"],
    handle: remove,
  },
];
