/** Webhooks: addresses to which a project sends its events (docs/api-contract.md#webhooks). The same as `sonde admin webhook`. */

import { z } from "zod";
import { webUrlFault } from "../../engine/contract/registry.ts";
import type { EventType } from "../../model/event.ts";
import { formatIso } from "../../model/time.ts";
import { parseUrl, withoutBrackets } from "../../model/url.ts";
import { receiverAddress } from "../../model/web-address.ts";
import { isEventType, OLD_SECRET_MS } from "../../model/webhook.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import type { WebhookChange, WebhookRecord } from "../../store/sql/webhooks/port.ts";
import { newWebhookSecret } from "../../store/webhook-secret.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal, unprocessable } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { limitParameter, readQuery } from "../query.ts";
import { EDITORS_ONLY, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { webhookEvents } from "../schemas/webhooks.ts";
import { viewDelivery, viewWebhook } from "../webhook-view.ts";
import { webhookIdParams } from "./params.ts";

/** Of the configuration fields of the contract. */
const MAX_URL_BYTES = 8_192;
/** Of one project: each event is sent to all of them. */
const MOST_WEBHOOKS = 100;

const url = z.string().describe("http or https, without a user name; at most 8192 bytes. Kept sealed");
const createBody = z
  .object({ url, events: webhookEvents.optional().describe("Absent or null: every type") })
  .meta({ id: "CreateWebhook", examples: [{ url: "https://hooks.test-site.org/sonde", events: ["incident.opened"] }] });
const changeBody = z
  .object({ url: url.optional(), events: webhookEvents.optional() })
  .meta({ id: "UpdateWebhook", examples: [{ events: ["incident.opened", "incident.recovered"] }] });
const deliveriesQuery = { limit: limitParameter(100, "How many to return; the newest few hundred are kept.") } as const;

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const webhooks = ((await api.controlPlane.webhooks.list(call.project.id)) ?? []).map(viewWebhook);
  return ok({ webhooks, total: webhooks.length });
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(viewWebhook(await find(api, call)));
}

async function create(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const events = eventsOf(body) ?? null;
  const text = await urlOf(api, fieldOf(body, "url"));
  const secret = newWebhookSecret();
  const secretSealed = (id: number): string => api.sealing.seal(SEALED_CELLS.webhook(id), secret);
  const { url: shown, urlSealed } = sealedUrl(api.sealing, text);
  const made = await api.controlPlane.webhooks.createWithin(MOST_WEBHOOKS, {
    projectId: call.project.id,
    url: shown,
    events,
    secretSealed,
    nowMs: call.nowMs,
    ...(urlSealed !== null && { urlSealed }),
  });
  if (made === undefined) throw refusal("projectNotFound");
  if (made === "full") throw refusal("webhooksTooMany");
  return ok({ ...viewWebhook(made), secret });
}

async function change(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  const body = readObject(call.request);
  const sent = fieldOf(body, "url");
  const events = eventsOf(body);
  const address = sent === undefined ? undefined : sealedUrl(api.sealing, await urlOf(api, sent));
  const changes: WebhookChange = {
    ...(events !== undefined && { events }),
    ...(address !== undefined && { url: address.url, urlSealed: address.urlSealed?.(id) ?? null }),
  };
  return ok(viewWebhook(known(await api.controlPlane.webhooks.update(id, changes))));
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  if (!(await api.controlPlane.webhooks.remove(id))) throw refusal("webhookNotFound");
  return ok({ success: true, id });
}

async function rotate(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  const secret = newWebhookSecret();
  const untilMs = call.nowMs + OLD_SECRET_MS;
  const sealed = api.sealing.seal(SEALED_CELLS.webhook(id), secret);
  known(await api.controlPlane.webhooks.rotate(id, sealed, untilMs));
  return ok({ id, secret, old_secret_until: formatIso(untilMs) });
}

async function test(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  if (!(await api.controlPlane.webhooks.test(id, call.nowMs))) throw refusal("webhookOff");
  return ok({ id, queued: true });
}

async function deliveries(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  const { limit } = readQuery(deliveriesQuery, call.request.query);
  const shown = (await api.controlPlane.webhooks.deliveries(id, limit)).map(viewDelivery);
  return ok({ webhook_id: id, deliveries: shown, total: shown.length });
}

function switched(active: boolean) {
  return async (api: Api, call: ProjectCall): Promise<ApiResponse> => {
    const { id } = await find(api, call);
    return ok(viewWebhook(known(await api.controlPlane.webhooks.setActive(id, active, call.nowMs))));
  };
}

async function find(api: Api, call: ProjectCall): Promise<WebhookRecord> {
  const id = pathId(call, "webhook", "invalidWebhookId");
  const found = await api.controlPlane.webhooks.find(id);
  if (found?.projectId !== call.project.id) throw refusal("webhookNotFound");
  return found;
}

function known(webhook: WebhookRecord | undefined): WebhookRecord {
  if (webhook === undefined) throw refusal("webhookNotFound");
  return webhook;
}

/** Said early; the sender judges the address again at each dial. @throws 400, 422 */
async function urlOf(api: Api, sent: unknown): Promise<string> {
  const parsed = typeof sent === "string" && Buffer.byteLength(sent) <= MAX_URL_BYTES ? parseUrl(sent) : undefined;
  if (typeof sent !== "string" || parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw refusal("urlInvalid");
  if (parsed.username !== "" || parsed.password !== "")
    throw badRequest("url must not carry a user name or a password.");
  const fault = webUrlFault(sent);
  if (fault !== undefined) throw badRequest(`Missing or invalid url: ${fault}.`);
  const host = withoutBrackets(parsed.hostname);
  const port = Number(parsed.port) || (parsed.protocol === "https:" ? 443 : 80);
  const reason = await api.targets.refusal({ host, port });
  if (reason !== undefined) throw unprocessable(`${host} is refused: ${reason}.`);
  parsed.hash = "";
  return parsed.href;
}

/** Nearly every service has a password in its path: the address is kept sealed, but for what names the receiver. */
function sealedUrl(sealing: Sealing, text: string) {
  if (!sealing.bindsRows) return { url: text, urlSealed: null };
  const urlSealed = (id: number): string => sealing.seal(SEALED_CELLS.webhookUrl(id), text);
  return { url: receiverAddress(text), urlSealed };
}

/** @returns undefined when nothing was sent @throws 400 */
function eventsOf(body: JsonObject): readonly EventType[] | null | undefined {
  const sent = fieldOf(body, "events");
  if (sent === undefined || sent === null) return sent;
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > 100) throw refusal("webhookEvents");
  const types = [...new Set<unknown>(sent)].flatMap((word) =>
    typeof word === "string" && isEventType(word) ? [word] : [],
  );
  if (types.length !== new Set<unknown>(sent).size) throw refusal("webhookEvents");
  return types;
}

const group = {
  group: "Webhooks",
  scope: "project",
  description: "An addition of ours.",
  editorsOnly: EDITORS_ONLY,
} as const;
const one = { ...group, params: webhookIdParams } as const;
const NONE = ["invalidWebhookId", "webhookNotFound"] as const;

export const webhooks: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/webhooks",
    operationId: "listWebhooks",
    summary: "List the webhooks of a project, oldest first",
    responses: { 200: shape("webhookList") },
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/webhooks",
    operationId: "createWebhook",
    audit: "webhook.created",
    summary: "Tell a receiver what happens; its secret is shown once",
    body: { schema: createBody, required: true },
    responses: { 200: shape("createdWebhook") },
    refusals: [
      "urlInvalid",
      "webhookEvents",
      "webhooksTooMany",
      [422, "10.0.0.7 is refused: it is a private address."],
    ],
    handle: create,
  },
  {
    ...one,
    method: "GET",
    path: "/webhooks/{id}",
    operationId: "getWebhook",
    summary: "Read a webhook",
    responses: { 200: shape("webhook") },
    refusals: NONE,
    handle: read,
  },
  {
    ...one,
    method: "PUT",
    path: "/webhooks/{id}",
    operationId: "updateWebhook",
    audit: "webhook.updated",
    summary: "Change the address of a webhook, or what it is told",
    body: { schema: changeBody, required: true },
    responses: { 200: shape("webhook") },
    refusals: [...NONE, "urlInvalid", "webhookEvents", [422, "10.0.0.7 is refused: it is a private address."]],
    handle: change,
  },
  {
    ...one,
    method: "DELETE",
    path: "/webhooks/{id}",
    operationId: "deleteWebhook",
    audit: "webhook.deleted",
    summary: "Delete a webhook; what waits for it is not sent any more",
    responses: { 200: shape("deletedWebhook") },
    refusals: NONE,
    handle: remove,
  },
  {
    ...one,
    method: "POST",
    path: "/webhooks/{id}/rotate",
    operationId: "rotateWebhook",
    audit: "webhook.rotated",
    summary: "Give a webhook a new secret, shown once; the one before signs too for a day",
    responses: { 200: shape("rotatedWebhook") },
    refusals: NONE,
    handle: rotate,
  },
  {
    ...one,
    method: "POST",
    path: "/webhooks/{id}/test",
    operationId: "testWebhook",
    audit: null,
    summary: "Send a webhook.test, whatever events were chosen",
    responses: { 200: shape("webhookQueued") },
    refusals: [...NONE, "webhookOff"],
    handle: test,
  },
  listed({
    ...one,
    method: "GET",
    path: "/webhooks/{id}/deliveries",
    operationId: "listWebhookDeliveries",
    summary: "What was sent to a webhook, newest first, and what came of each attempt",
    query: deliveriesQuery,
    responses: { 200: shape("deliveryList") },
    refusals: NONE,
    handle: deliveries,
  }),
  {
    ...one,
    method: "POST",
    path: "/webhooks/{id}/enable",
    operationId: "enableWebhook",
    audit: "webhook.enabled",
    summary: "Switch a webhook on again",
    responses: { 200: shape("webhook") },
    refusals: NONE,
    handle: switched(true),
  },
  {
    ...one,
    method: "POST",
    path: "/webhooks/{id}/disable",
    operationId: "disableWebhook",
    audit: "webhook.disabled",
    summary: "Send a webhook nothing until it is enabled; what waits for it is cancelled",
    responses: { 200: shape("webhook") },
    refusals: NONE,
    handle: switched(false),
  },
];
