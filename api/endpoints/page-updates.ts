/** What people announce on status pages (docs/api-contract.md#status-pages). */
import { actorData } from "../../model/event.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { readPageUpdate } from "../../model/status-page-reader.ts";
import { formatIso, isoOrNull } from "../../model/time.ts";
import type { UpdateRecord } from "../../store/sql/status-pages/port.ts";
import type { Api } from "../api.ts";
import { readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { limitParameter, offsetParameter, readQuery } from "../query.ts";
import { EDITORS_ONLY, type ProjectCall, type Refusal, type Route, shape } from "../route.ts";
import { createPageUpdate, updatePageUpdate } from "../schemas/status-pages.ts";
import { pageUpdateIdParams, statusPageIdParams } from "./params.ts";
import { findPage } from "./status-pages.ts";

const listQuery = { limit: limitParameter(100), offset: offsetParameter } as const;

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await findPage(api, call);
  const { limit, offset } = readQuery(listQuery, call.request.query);
  const { rows, total } = await api.controlPlane.statusPages.updates(id, limit, offset);
  return ok({ updates: rows.map(view), total });
}

async function add(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const page = await findPage(api, call);
  const read = readPageUpdate(readObject(call.request), null, call.nowMs);
  if ("fault" in read) throw badRequest(read.fault);
  const added = await api.controlPlane.statusPages.addUpdate(page.id, read.update, call.actor);
  if (added === undefined) throw refusal("statusPageNotFound");
  api.pages.drop(page.slug);
  return ok(view(added));
}

async function change(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const page = await findPage(api, call);
  const id = updateId(call);
  const body = readObject(call.request);
  const changed = await api.controlPlane.statusPages.changeUpdate(page.id, id, (before) => {
    const read = readPageUpdate(body, before, call.nowMs);
    if ("fault" in read) throw badRequest(read.fault);
    return read.update;
  });
  if (changed === undefined) throw refusal("pageUpdateNotFound");
  api.pages.drop(page.slug);
  return ok(view(changed));
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const page = await findPage(api, call);
  const id = updateId(call);
  const removed = await api.controlPlane.statusPages.changeUpdate(page.id, id, () => null);
  if (removed === undefined) throw refusal("pageUpdateNotFound");
  api.pages.drop(page.slug);
  return ok({ success: true, id: formatId("pageUpdate", id) });
}

function updateId(call: ProjectCall): number {
  const id = parseId("pageUpdate", call.params[1] ?? "");
  if (id === undefined) throw refusal("pageUpdateNotFound");
  return id;
}

function view({ id, level, title, text, atMs, endsAtMs, actor }: UpdateRecord) {
  return {
    id: formatId("pageUpdate", id),
    level,
    title,
    text,
    at: formatIso(atMs),
    ends_at: isoOrNull(endsAtMs),
    actor: actorData(actor),
  };
}

const OF_BODY: readonly Refusal[] = [[400, "title must be a text of 1 to 120 characters."]];
const OF_PAGE: readonly Refusal[] = ["invalidStatusPageId", "statusPageNotFound"];
const group = { group: "Status pages", scope: "project", description: "An addition of ours." } as const;

export const pageUpdates: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/status-pages/{id}/updates",
    operationId: "listStatusPageUpdates",
    summary: "List what was announced on a status page, newest first",
    params: statusPageIdParams,
    query: listQuery,
    responses: { 200: shape("pageUpdateList") },
    refusals: OF_PAGE,
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/status-pages/{id}/updates",
    operationId: "addStatusPageUpdate",
    audit: "status-page-update.created",
    summary: "Announce something on a status page",
    editorsOnly: EDITORS_ONLY,
    params: statusPageIdParams,
    body: { schema: createPageUpdate, required: true },
    responses: { 200: shape("pageUpdate") },
    refusals: [...OF_PAGE, ...OF_BODY],
    handle: add,
  },
  {
    ...group,
    method: "PUT",
    path: "/status-pages/{id}/updates/{update}",
    operationId: "changeStatusPageUpdate",
    audit: "status-page-update.updated",
    summary: "Change an announcement: what is not sent stays",
    editorsOnly: EDITORS_ONLY,
    params: pageUpdateIdParams,
    body: { schema: updatePageUpdate, required: true },
    responses: { 200: shape("pageUpdate") },
    refusals: [...OF_PAGE, "pageUpdateNotFound", ...OF_BODY],
    handle: change,
  },
  {
    ...group,
    method: "DELETE",
    path: "/status-pages/{id}/updates/{update}",
    operationId: "deleteStatusPageUpdate",
    audit: "status-page-update.deleted",
    summary: "Take an announcement away",
    editorsOnly: EDITORS_ONLY,
    params: pageUpdateIdParams,
    responses: { 200: shape("pageUpdateRemoved") },
    refusals: [...OF_PAGE, "pageUpdateNotFound"],
    handle: remove,
  },
];
