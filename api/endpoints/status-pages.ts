/** Status pages as their makers see them (docs/api-contract.md#status-pages); readers see status.ts. */

import { UPTIME_KINDS } from "../../engine/contract/registry.ts";
import { formatId } from "../../model/ids.ts";
import { selectableKinds } from "../../model/selector.ts";
import type { StatusPage } from "../../model/status-page.ts";
import { readStatusPage } from "../../model/status-page-reader.ts";
import { parseTime } from "../../model/time.ts";
import { parseUrl } from "../../model/url.ts";
import type { PageWrite, SealedPage } from "../../store/sql/status-pages/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { changedSecrets, pageRecord, pageRow } from "../pages/record.ts";
import { hashedPassword, newBadgeName, newSecrets, openedSecrets, sealedSecrets } from "../pages/secrets.ts";
import { canEdit, EDITORS_ONLY, type ProjectCall, pathId, type Refusal, type Route, shape } from "../route.ts";
import { createStatusPage, updateStatusPage } from "../schemas/status-pages.ts";
import { statusPageIdParams } from "./params.ts";

const WORDS = { kinds: selectableKinds(UPTIME_KINDS) };

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const pages = await api.controlPlane.statusPages.list(call.project.id);
  return ok({ status_pages: pages.map(pageRow), total: pages.length });
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return shown(api, call, await findPage(api, call));
}

async function create(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { page, secrets: sent } = readBody(api, readObject(call.request), null);
  const password = sent.password === null ? null : await hashedPassword(sent.password);
  const secrets = { ...newSecrets(), password };
  const written = await api.controlPlane.statusPages.create({
    projectId: call.project.id,
    page,
    badgeName: newBadgeName(),
    accessSealed: (id) => sealedSecrets(api.sealing, id, secrets),
    nowMs: call.nowMs,
  });
  return told(api, call, written, page.slug);
}

async function change(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const before = await findPage(api, call);
  const body = readObject(call.request);
  const readAtMs = readAtOf(body);
  const sent = readBody(api, body, before).secrets;
  const password = sent.password === null ? null : await hashedPassword(sent.password);
  const { statusPages } = api.controlPlane;
  const written = await statusPages.update(call.project.id, before.id, call.nowMs, (now) => {
    if (readAtMs !== null && readAtMs !== now.updatedAtMs) throw refusal("statusPageMoved");
    // Once more, over what is there now: another may have changed it meanwhile.
    const { page, secrets } = readBody(api, body, now);
    const changed = changedSecrets(openedSecrets(api.sealing, now), secrets, page, password);
    return { page, accessSealed: sealedSecrets(api.sealing, now.id, changed) };
  });
  if (written === undefined) throw refusal("statusPageNotFound");
  return told(api, call, written, before.slug);
}

/** When the page that the caller has read was written, Unix ms; null: the caller does not say. @throws 400 */
function readAtOf(body: JsonObject): number | null {
  const sent = fieldOf(body, "if_updated_at");
  if (sent === undefined) return null;
  const atMs = typeof sent === "string" ? parseTime(sent) : undefined;
  if (atMs === undefined) throw refusal("ifUpdatedAtInvalid");
  return atMs;
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id, slug } = await findPage(api, call);
  if (!(await api.controlPlane.statusPages.remove(call.project.id, id))) throw refusal("statusPageNotFound");
  api.pages.drop(slug);
  return ok({ success: true, id: formatId("statusPage", id) });
}

/** @throws 400 */
export function readBody(api: Api, body: JsonObject, before: StatusPage | null) {
  const read = readStatusPage(body, before, WORDS);
  if ("fault" in read) throw badRequest(read.fault);
  const own = api.config.baseUrl === null ? undefined : parseUrl(api.config.baseUrl)?.hostname;
  // A page there would stand in the place of our own.
  if (own !== undefined && read.page.domains.includes(own)) throw refusal("domainOwn");
  return read;
}

function told(api: Api, call: ProjectCall, written: PageWrite, slugBefore: string): ApiResponse {
  switch (written.type) {
    case "slug-taken":
      throw refusal("slugTaken");
    case "domain-taken":
      throw refusal("domainTaken");
    case "too-many":
      throw refusal("statusPagesTooMany");
    case "written":
      api.pages.drop(slugBefore, written.page.slug);
      return shown(api, call, written.page);
  }
}

function shown(api: Api, call: ProjectCall, page: SealedPage): ApiResponse {
  const record = pageRecord(page, openedSecrets(api.sealing, page), api.baseUrl(), canEdit(call.role));
  return { ...ok(record), holdsSecrets: true };
}

/** @throws 400, 404 */
export async function findPage(api: Api, call: ProjectCall): Promise<SealedPage> {
  const id = pathId(call, "statusPage", "invalidStatusPageId");
  const page = await api.controlPlane.statusPages.find(call.project.id, id);
  if (page === undefined) throw refusal("statusPageNotFound");
  return page;
}

const OF_BODY: readonly Refusal[] = [
  [400, "slug must be 1 to 63 of a to z, 0 to 9 and hyphens, no hyphen first or last."],
  "domainOwn",
  "slugTaken",
  "domainTaken",
];
const NAMED: readonly Refusal[] = ["invalidStatusPageId", "statusPageNotFound"];
const group = { group: "Status pages", scope: "project", description: "An addition of ours." } as const;

export const statusPages: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/status-pages",
    operationId: "listStatusPages",
    summary: "List a project's status pages, by slug",
    responses: { 200: shape("statusPageList") },
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/status-pages",
    operationId: "createStatusPage",
    audit: "status-page.created",
    summary: "Create a status page",
    editorsOnly: EDITORS_ONLY,
    body: { schema: createStatusPage, required: true },
    responses: { 200: shape("statusPage") },
    refusals: [...OF_BODY, "statusPagesTooMany"],
    handle: create,
  },
  {
    ...group,
    method: "GET",
    path: "/status-pages/{id}",
    operationId: "getStatusPage",
    summary: "Read a status page's settings",
    params: statusPageIdParams,
    responses: { 200: shape("statusPage") },
    refusals: NAMED,
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    path: "/status-pages/{id}",
    operationId: "updateStatusPage",
    audit: "status-page.updated",
    summary: "Change a status page: what is not sent stays",
    editorsOnly: EDITORS_ONLY,
    params: statusPageIdParams,
    body: { schema: updateStatusPage, required: true },
    responses: { 200: shape("statusPage") },
    refusals: [...NAMED, ...OF_BODY, "ifUpdatedAtInvalid", "statusPageMoved"],
    handle: change,
  },
  {
    ...group,
    method: "DELETE",
    path: "/status-pages/{id}",
    operationId: "deleteStatusPage",
    audit: {
      what: "status-page.deleted",
      nameOf: async (api, call) => ("project" in call ? (await findPage(api, call)).title : null),
    },
    summary: "Delete a status page, its updates with it",
    editorsOnly: EDITORS_ONLY,
    params: statusPageIdParams,
    responses: { 200: shape("statusPageRemoved") },
    refusals: NAMED,
    handle: remove,
  },
];
