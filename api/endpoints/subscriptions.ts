/** Subscriptions as records (docs/api-contract.md#subscriptions): lists are fetched and parsed elsewhere. */
import { subscriptionData } from "../../model/event.ts";
import { parseId } from "../../model/ids.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openHashKey } from "../../store/sealing/hash-key.ts";
import { type SubscriptionRecord, UrlTakenError } from "../../store/sql/subscriptions/port.ts";
import type { Api } from "../api.ts";
import { readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { limitParameter, offsetParameter, readQuery } from "../query.ts";
import { EDITORS_ONLY, type KeyCall, type ProjectCall, pathId, type Refusal, type Route, shape } from "../route.ts";
import {
  createBody,
  newSubscription,
  readDraft,
  refuseByPlan,
  refuseTarget,
  type SubscriptionUrl,
  updateBody,
} from "../subscriptions/draft.ts";
import { hashUrl } from "../subscriptions/hash-url.ts";
import { subscriptionIdParams } from "./params.ts";

const listQuery = { limit: limitParameter(500), offset: offsetParameter } as const;

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { limit, offset } = readQuery(listQuery, call.request.query);
  const { rows, total } = await api.controlPlane.subscriptions.list(call.project.id, limit, offset);
  return ok({ subscriptions: rows.map(subscriptionData), total });
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(subscriptionData(await find(api, call)));
}

async function create(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const draft = readDraft(readObject(call.request));
  const { url } = draft;
  if (url === undefined) throw refusal("urlInvalid");
  const { hash, sealed } = await judgedUrl(api, call, url, null);
  refuseByPlan(call, draft, undefined);
  const input = newSubscription(call, draft, { name: draft.name ?? null, urlSealed: sealed, urlHash: hash });
  const created = await withUniqueUrl(api.controlPlane.subscriptions.create(input));
  api.state.notices.publish("jobs");
  return ok(subscriptionData(created));
}

async function update(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const now = await find(api, call);
  const { url, ...values } = readDraft(readObject(call.request));
  const moved = url === undefined ? null : await judgedUrl(api, call, url, now.id);
  refuseByPlan(call, values, now);
  const change = { ...values, ...(moved !== null && { url: { hash: moved.hash, sealed: moved.sealed(now.id) } }) };
  const { subscriptions } = api.controlPlane;
  const changed = await withUniqueUrl(subscriptions.update(call.project.id, now.id, change, call.nowMs));
  if (changed === undefined) throw refusal("subscriptionNotFound");
  publish(api);
  return ok(subscriptionData(changed));
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "subscription", "invalidSubscriptionId");
  const paused = await api.controlPlane.subscriptions.remove(call.project.id, id, call.nowMs);
  if (paused === undefined) throw refusal("subscriptionNotFound");
  publish(api);
  return ok({ success: true, paused_monitors: paused });
}

async function nameOf(api: Api, call: KeyCall | ProjectCall): Promise<string | null> {
  const id = parseId("subscription", call.params[0] ?? "");
  if (id === undefined || !("project" in call)) return null;
  return (await api.controlPlane.subscriptions.find(call.project.id, id))?.name ?? null;
}

async function sync(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const now = await find(api, call);
  // Its monitors would be resumed.
  if (!now.enabled && call.workspace.suspended) throw refusal("noMonitorsOnPlan");
  const request = await api.controlPlane.subscriptions.requestSync(call.project.id, now.id, call.nowMs);
  if (request === undefined) throw refusal("subscriptionNotFound");
  publish(api);
  return ok({
    subscription_id: now.id,
    status: "syncing",
    message: request.isNew ? "Sync started" : "A sync is already running",
  });
}

/** Its monitors may be paused or resumed, and a sync wait. */
function publish(api: Api): void {
  api.state.notices.publish("monitors");
  api.state.notices.publish("jobs");
}

async function find(api: Api, call: ProjectCall): Promise<SubscriptionRecord> {
  const id = pathId(call, "subscription", "invalidSubscriptionId");
  const found = await api.controlPlane.subscriptions.find(call.project.id, id);
  if (found === undefined) throw refusal("subscriptionNotFound");
  return found;
}

/** @param subscriptionId the subscription that may have the address already. @throws 400, 409 */
async function judgedUrl(api: Api, call: ProjectCall, url: SubscriptionUrl, subscriptionId: number | null) {
  refuseTarget(await api.targets.refusal(url.target));
  const hash = await hashOf(api, url.normal);
  const holder = await api.controlPlane.subscriptions.holder(call.project.id, hash);
  if (holder !== undefined && holder !== subscriptionId) throw refusal("urlTaken");
  return { hash, sealed: (id: number) => api.sealing.seal(SEALED_CELLS.subscription(id), url.text) };
}

async function hashOf(api: Api, normalUrl: string): Promise<string> {
  return hashUrl(await openHashKey(api.controlPlane, api.sealing), normalUrl);
}

/** Of two at once the later one gets the same answer. */
async function withUniqueUrl<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UrlTakenError) throw refusal("urlTaken");
    throw error;
  }
}

const ofBody: readonly Refusal[] = [
  "urlInvalid",
  [400, "Missing or invalid url: url must begin with http:// or https://."],
  [400, "url must reach a public address: 10.0.0.1 is a private address."],
  [400, "syncIntervalSec must be a whole number from 60 to 86400."],
  "noMonitorsOnPlan",
  [403, "The shortest interval on your plan is 180 seconds (requested 60)."],
  "urlTaken",
  [413, "url must be at most 8192 bytes (received 9000)."],
];

const group = { group: "Subscriptions", scope: "project" } as const;

export const subscriptions: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/subscriptions",
    operationId: "listSubscriptions",
    summary: "List subscriptions, oldest first",
    query: listQuery,
    responses: { 200: shape("subscriptionList") },
    errors: [400, 403, 404],
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/subscriptions",
    operationId: "createSubscription",
    audit: "subscription.created",
    summary: "Add a subscription and start its first sync",
    editorsOnly: EDITORS_ONLY,
    body: { schema: createBody, required: true },
    refusals: ofBody,
    responses: { 200: shape("subscription") },
    errors: [400, 403, 404, 409, 413],
    handle: create,
  },
  {
    ...group,
    method: "GET",
    path: "/subscriptions/{id}",
    operationId: "getSubscription",
    summary: "Read a subscription",
    params: subscriptionIdParams,
    refusals: ["subscriptionNotFound"],
    responses: { 200: shape("subscription") },
    errors: [400, 403, 404],
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    path: "/subscriptions/{id}",
    operationId: "updateSubscription",
    audit: "subscription.updated",
    summary: "Change the fields that are sent",
    description: "Switching it off pauses all its monitors; switching it on resumes them.",
    editorsOnly: EDITORS_ONLY,
    params: subscriptionIdParams,
    body: { schema: updateBody, required: true },
    refusals: ["subscriptionNotFound", ...ofBody],
    responses: { 200: shape("subscription") },
    errors: [400, 403, 404, 409, 413],
    handle: update,
  },
  {
    ...group,
    method: "DELETE",
    path: "/subscriptions/{id}",
    operationId: "deleteSubscription",
    audit: { what: "subscription.deleted", nameOf },
    summary: "Delete a subscription; its monitors are kept, paused",
    editorsOnly: EDITORS_ONLY,
    params: subscriptionIdParams,
    refusals: ["subscriptionNotFound"],
    responses: { 200: shape("subscriptionRemoved") },
    errors: [400, 403, 404],
    handle: remove,
  },
  {
    ...group,
    method: "POST",
    path: "/subscriptions/{id}/sync",
    operationId: "syncSubscription",
    audit: "subscription.synced",
    summary: "Start a sync now; one that is switched off is switched on first",
    editorsOnly: EDITORS_ONLY,
    params: subscriptionIdParams,
    refusals: ["subscriptionNotFound", "noMonitorsOnPlan"],
    responses: { 200: shape("syncStarted") },
    errors: [400, 403, 404],
    handle: sync,
  },
];
