/** Monitors: list, create, read, change, delete, history (docs/api-contract.md#monitors). */
import { actorData } from "../../model/event.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { isPassive, isWebsite, type Kind, type UptimeKind } from "../../model/kind.ts";
import type { Selector } from "../../model/selector.ts";
import { MONITOR_STATUSES } from "../../model/status.ts";
import { formatIso } from "../../model/time.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import {
  type MonitorChange,
  type MonitorFilter,
  type MonitorWithLive,
  TokenTakenError,
} from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { isShownToAll, shownUrl, wholeTarget, withWholeUrl } from "../monitors/address.ts";
import { createBody, updateBody } from "../monitors/bodies.ts";
import { type Draft, draftOfChange, draftOfNew, type Expiry, refuseShort, targetOf } from "../monitors/draft.ts";
import { readField } from "../monitors/every-kind.ts";
import { isUptimeKind, knownFieldsOf } from "../monitors/fields.ts";
import { findMonitor } from "../monitors/find.ts";
import { importsOf } from "../monitors/imported.ts";
import { refuseResume } from "../monitors/lifecycle.ts";
import type { WordedRow, WordRows } from "../monitors/list-pages.ts";
import { refuseBesideOlder } from "../monitors/older-schedulers.ts";
import { createRefusals, updateRefusals } from "../monitors/refusals.ts";
import { refuseHiddenIn } from "../monitors/secrets.ts";
import { newToken, tokenField } from "../monitors/token.ts";
import { createTunnel, updateTunnel } from "../monitors/tunnel-requests.ts";
import { isTunnel, kindOfNew, newUptimeMonitor, uptimeChange } from "../monitors/uptime-requests.ts";
import { type MonitorView, rewriterOf, viewMonitor } from "../monitors/view.ts";
import {
  limitParameter,
  monitorIdsParameter,
  offsetParameter,
  type QueryOf,
  readQuery,
  switchParameter,
  textParameter,
  textsParameter,
  wordParameter,
} from "../query.ts";
import { canEdit, type KeyCall, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import type { Known } from "../warnings.ts";
import { serverIdParams } from "./params.ts";

/** Code points (docs/api-contract.md#monitors). */
const MAX_NAME_FILTER = 255;
/** Of one request for a list. */
const MOST_TAGS = 20;
const MOST_IDS = 1_000;

const listQuery = {
  family: wordParameter({
    words: ["tunnel", "uptime", "all"],
    fallback: "tunnel",
    message: "family must be tunnel, uptime or all",
    description: "Which family to list.",
  }),
  active_only: switchParameter("Only monitors that are not paused."),
  status: wordParameter({
    words: MONITOR_STATUSES,
    fallback: null,
    message: "status must be healthy, down, degraded, partial, paused or unknown.",
    description: "Only monitors with this status.",
  }),
  protocol: textParameter("Only monitors of this protocol or uptime type."),
  name: textParameter("Only monitors whose name contains the text, whatever its case."),
  search: textParameter("Another name of `name`, which wins."),
  q: textParameter("Another name of `search`, which wins."),
  tag: textsParameter(
    "tag",
    MOST_TAGS,
    "Only monitors that have all of these tags: sent once for each. An addition of ours, as the next four.",
  ),
  ids: monitorIdsParameter("ids", MOST_IDS, "Only these monitors, `srv_<n>` or `<n>`, between commas."),
  subscription_id: textParameter("Only monitors that follow this subscription."),
  sort: wordParameter({
    words: ["name", "status", "latency", "checked"],
    fallback: "name",
    message: "sort must be name, status, latency or checked.",
    description: "`status`: worst first; `checked`: the longest ago first. What has no value comes last.",
  }),
  order: wordParameter({
    words: ["asc", "desc"],
    fallback: "asc",
    message: "order must be asc or desc.",
    description: "`desc` turns `sort` round.",
  }),
  limit: limitParameter(500),
  offset: offsetParameter,
  explain: switchParameter("Adds `lateness_ms` to each row; an addition of ours."),
} as const;

const historyQuery = { limit: limitParameter(500), offset: offsetParameter } as const;

function listKey({ project, role, request }: ProjectCall): string {
  return `${project.id} ${canEdit(role)} ${request.query}`;
}

function keptList(api: Api, call: ProjectCall): ApiResponse | undefined {
  return api.listPages.find(listKey(call), call.nowMs);
}

function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const query = readQuery(listQuery, call.request.query);
  const name = [query.name, query.search, query.q].map((text) => text.trim()).find((text) => text !== "") ?? null;
  if (name !== null && [...name].length > MAX_NAME_FILTER) {
    throw badRequest(`name must be at most ${MAX_NAME_FILTER} characters.`);
  }
  const filter: MonitorFilter = {
    family: query.family,
    activeOnly: query.active_only,
    status: query.status,
    protocol: query.protocol === "" ? null : query.protocol,
    nameContains: name,
    ...selectOf(query),
    sort: query.sort,
    order: query.order,
    limit: query.limit,
    offset: query.offset,
  };
  const isEditor = canEdit(call.role);
  const shown = `${isEditor ? "all" : "some"}${query.explain ? ", explained" : ""}`;
  const wanted = { key: listKey(call), projectId: call.project.id, filter, shown, nowMs: call.nowMs };
  const words: WordRows = (rows) => wordRows(api, rows, { isEditor, isExplained: query.explain, nowMs: call.nowMs });
  return api.listPages.make(wanted, words);
}

async function wordRows(
  api: Api,
  rows: readonly MonitorWithLive[],
  { isEditor, isExplained, nowMs }: { isEditor: boolean; isExplained: boolean; nowMs: number },
): Promise<readonly WordedRow[]> {
  const imports = await importsOf(api.controlPlane, rows);
  return rows.map((row) => {
    const url = shownUrl(api, row.monitor, isEditor);
    const view = viewMonitor(row, nowMs, { url, imported: imports.get(row.monitor.id) });
    if (isExplained) view.lateness_ms = row.live.latenessMs;
    const rewrite = isExplained ? null : rewriterOf(row.monitor, view);
    return { text: JSON.stringify(view), holdsSecrets: isEditor && !isShownToAll(row.monitor), rewrite };
  });
}

function selectOf(query: QueryOf<typeof listQuery>): { readonly select?: Selector } {
  const subscriptionId = query.subscription_id === "" ? null : parseId("subscription", query.subscription_id);
  if (subscriptionId === undefined) throw refusal("invalidSubscriptionId");
  const select = {
    ...(query.tag.length > 0 && { tags: query.tag.map((tag) => tag.trim().toLowerCase()) }),
    ...(query.ids !== null && { ids: query.ids }),
    ...(subscriptionId !== null && { subscriptionIds: [subscriptionId] }),
  };
  return Object.keys(select).length === 0 ? {} : { select };
}

async function create(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  if (isTunnel(body)) return shown(api, call, (await createTunnel(api, call, body)).id);
  const kind = kindOfNew(body);
  const draft = draftOfNew(kind, withWholeUrl(kind, body, null));
  refuseHiddenIn(kind, draft.settings);
  const target = targetOf(kind, draft.settings);
  if (target !== null) await api.targets.accept(target);
  await refuseBesideOlder(api, kind, draft.settings);
  if (call.workspace.suspended) throw refusal("noMonitorsOnPlan");
  refuseShort(draft, call.plan);

  const { monitors } = api.controlPlane;
  const host = target?.host ?? null;
  const shared = isWebsite(kind) && host !== null ? await monitors.hostExpiry(call.project.id, host) : null;
  const token = isPassive(kind) ? (readField(body, "token", tokenField) ?? newToken()) : null;
  const wanted = newUptimeMonitor(api, call, kind, draft, { shared, token });
  const created = await monitors.create(wanted, call.actor).catch((error: unknown) => {
    throw error instanceof TokenTakenError ? refusal("tokenTaken") : error;
  });
  await shareExpiry(api, call, kind, host, draft.expiry);
  return shown(api, call, created.id);
}

/** The monitor as it is after it was made. */
async function shown(api: Api, call: ProjectCall, id: number): Promise<ApiResponse> {
  api.state.notices.publish("monitors");
  const stored = await api.controlPlane.monitors.find(call.project.id, id);
  if (stored === undefined) throw refusal("serverNotFound");
  return ok(await viewWhole(api, call, stored));
}

function keptRecord(api: Api, call: ProjectCall): ApiResponse | undefined {
  return api.monitorCache.find(call.project.id, pathId(call, "server", "invalidServerId"), call.nowMs);
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "server", "invalidServerId");
  const stamp = api.authCache.stamp();
  const found = await findMonitor(api, call);
  const answer = ok(await viewWhole(api, call, found));
  // A heartbeat's address and a website's query are for some callers only.
  if (!isPassive(found.monitor.kind) && isShownToAll(found.monitor))
    api.monitorCache.keep(call.project.id, id, stamp, call.nowMs, answer);
  return answer;
}

async function update(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const found = await findMonitor(api, call);
  const body = readObject(call.request);
  const { kind } = found.monitor;
  const changed = isUptimeKind(kind)
    ? await updateUptime(api, call, kind, found, body)
    : await updateTunnel(api, call, found, body);
  if (changed === undefined) throw refusal("serverNotFound");
  api.state.notices.publish("monitors");
  return ok(await viewWhole(api, call, changed));
}

async function updateUptime(
  api: Api,
  call: ProjectCall,
  kind: UptimeKind,
  found: MonitorWithLive,
  body: JsonObject,
): Promise<MonitorWithLive | undefined> {
  const draftOf = ({ monitor }: MonitorWithLive): Draft => {
    const whole = wholeTarget(api, monitor);
    return draftOfChange(whole, kind, withWholeUrl(kind, body, whole));
  };
  const draft = draftOf(found);
  const target = draft.settings === undefined ? null : targetOf(kind, draft.settings);
  if (target !== null) await api.targets.accept(target);
  if (draft.settings !== undefined) await refuseBesideOlder(api, kind, draft.settings);
  refuseResume(draft, found, call);
  refuseShort(draft, call.plan);

  const moved = await expiryOfMove(api, call, found, target?.host ?? null);
  const decide = (now: MonitorWithLive): MonitorChange => {
    refuseResume(draft, now, call);
    return uptimeChange(api, now, draftOf(now), moved);
  };
  const changed = await api.controlPlane.monitors.update(
    call.project.id,
    found.monitor.id,
    call.nowMs,
    call.actor,
    decide,
  );
  if (changed !== undefined) await shareExpiry(api, call, kind, changed.monitor.host, draft.expiry);
  return changed;
}

/** A website check that moves to another host takes over what the project's checks there share. */
async function expiryOfMove(
  api: Api,
  call: ProjectCall,
  { monitor }: MonitorWithLive,
  host: string | null,
): Promise<Expiry> {
  if (!isWebsite(monitor.kind) || host === null || host === monitor.host) return {};
  return (await api.controlPlane.monitors.hostExpiry(call.project.id, host)) ?? {};
}

/** Of a website check: a sent setting applies to all of the project's website checks on the host. */
async function shareExpiry(
  api: Api,
  call: ProjectCall,
  kind: UptimeKind,
  host: string | null,
  expiry: Expiry,
): Promise<void> {
  if (!isWebsite(kind) || host === null || Object.keys(expiry).length === 0) return;
  await api.controlPlane.monitors.setHostExpiry(call.project.id, host, expiry, call.nowMs);
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "server", "invalidServerId");
  if (!(await api.controlPlane.monitors.remove(call.project.id, id, call.nowMs, call.actor)))
    throw refusal("serverNotFound");
  api.state.notices.publish("monitors");
  return ok({ success: true, id: formatId("server", id) });
}

async function nameOf(api: Api, call: KeyCall | ProjectCall): Promise<string | null> {
  const id = parseId("server", call.params[0] ?? "");
  if (id === undefined || !("project" in call)) return null;
  return (await api.controlPlane.monitors.find(call.project.id, id))?.monitor.name ?? null;
}

async function history(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { monitor } = await findMonitor(api, call);
  const { limit, offset } = readQuery(historyQuery, call.request.query);
  const { rows, total } = await api.controlPlane.history.list(monitor.id, limit, offset);
  const entries = rows.map((entry) => ({
    id: formatId("history", entry.id),
    type: entry.type,
    at: formatIso(entry.atMs),
    message: entry.message,
    actor: actorData(entry.actor),
  }));
  return ok({ server_id: formatId("server", monitor.id), entries, total });
}

/** With everything that the endpoints of one monitor show. */
async function viewWhole(api: Api, call: ProjectCall, found: MonitorWithLive): Promise<MonitorView> {
  const imports = await importsOf(api.controlPlane, [found]);
  const heartbeatUrl = await heartbeatUrlFor(api, call, found);
  const url = shownUrl(api, found.monitor, canEdit(call.role));
  return viewMonitor(found, call.nowMs, { url, heartbeatUrl, imported: imports.get(found.monitor.id) });
}

async function heartbeatUrlFor(api: Api, call: ProjectCall, { monitor }: MonitorWithLive): Promise<string | null> {
  if (!isPassive(monitor.kind) || !canEdit(call.role)) return null;
  const sealed = await api.controlPlane.heartbeats.sealedToken(monitor.id);
  return sealed === undefined ? null : heartbeatUrl(api, api.sealing.open(SEALED_CELLS.heartbeat(monitor.id), sealed));
}

function heartbeatUrl(api: Api, token: string): string {
  return `${api.baseUrl()}/api/push/${token}`;
}

function fieldsOf({ protocol }: JsonObject): Known {
  return knownFieldsOf(protocol as Kind);
}

const group = { group: "Monitors", scope: "project" } as const;

export const servers: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/servers",
    operationId: "listMonitors",
    summary: "List monitors, sorted by name",
    mayBeKept: "when reads are many",
    kept: keptList,
    query: listQuery,
    refusals: [[400, `name must be at most ${MAX_NAME_FILTER} characters.`], "invalidSubscriptionId"],
    responses: { 200: shape("monitorList") },
    errors: [400, 403, 404],
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/servers",
    operationId: "createMonitor",
    audit: "monitor.created",
    summary: "Create a monitor and queue its first check",
    editorsOnly: "You do not have permission to create monitors in this project",
    body: { schema: createBody, required: true, fieldsOf },
    refusals: createRefusals,
    responses: { 200: shape("monitor") },
    errors: [400, 403, 404, 409, 413, 422],
    handle: create,
  },
  {
    ...group,
    method: "GET",
    path: "/servers/{id}",
    operationId: "getMonitor",
    summary: "Read a monitor",
    params: serverIdParams,
    responses: { 200: shape("monitor") },
    errors: [400, 403, 404],
    kept: keptRecord,
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    path: "/servers/{id}",
    operationId: "updateMonitor",
    audit: "monitor.updated",
    summary: "Change the fields that are sent",
    editorsOnly: "You do not have permission to edit this monitor",
    params: serverIdParams,
    body: { schema: updateBody, required: true, fieldsOf },
    refusals: updateRefusals,
    responses: { 200: shape("monitor") },
    errors: [400, 403, 404, 409, 413, 422],
    handle: update,
  },
  {
    ...group,
    method: "DELETE",
    path: "/servers/{id}",
    operationId: "deleteMonitor",
    audit: { what: "monitor.deleted", nameOf },
    summary: "Delete a monitor with its results and incidents",
    editorsOnly: "You do not have permission to delete this monitor",
    params: serverIdParams,
    responses: { 200: shape("removed") },
    errors: [400, 403, 404],
    handle: remove,
  },
  listed({
    ...group,
    method: "GET",
    path: "/servers/{id}/history",
    operationId: "listMonitorHistory",
    summary: "What was done to a monitor, newest first",
    description: "An addition of ours.",
    params: serverIdParams,
    query: historyQuery,
    responses: { 200: shape("historyList") },
    errors: [400, 403, 404],
    handle: history,
  }),
];
