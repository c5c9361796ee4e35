/** API keys: list, create, revoke (docs/api-contract.md#keys). */
import { z } from "zod";
import { parseId } from "../../model/ids.ts";
import { keyStatus, MAX_KEY_NAME } from "../../model/key.ts";
import type { Role } from "../../model/plan.ts";
import { formatUtc, parseTime } from "../../model/time.ts";
import { newKeyText } from "../../store/key-text.ts";
import type { KeyRecord } from "../../store/sql/accounts/keys-port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { viewKey } from "../key-view.ts";
import { listed } from "../listed.ts";
import { codePoints } from "../monitors/every-kind.ts";
import { readQuery, textParameter } from "../query.ts";
import { canEdit, type KeyCall, type Route, shape } from "../route.ts";
import { keyIdParams } from "./params.ts";

/** In a workspace, disabled and expired ones too: each new key makes every API process read rights anew. Our choice: two for each of 500 people. */
const MOST_KEYS = 1_000;

const revokeQuery = {
  hard: textParameter("`1` deletes the key for good; anything else disables it."),
} as const;

const createBody = z
  .object({
    name: z
      .string()
      .min(1)
      .max(MAX_KEY_NAME)
      .meta({ examples: ["ci"] }),
    expires: z
      .string()
      .nullable()
      .optional()
      .describe(
        "Date or date-time; a date alone means 00:00:00 UTC. Omitted or null: never. A key that expires makes none that lives longer, so it must send one",
      )
      .meta({ examples: ["2030-12-31T00:00:00Z"] }),
  })
  .meta({ id: "CreateKey" });

async function list(api: Api, call: KeyCall): Promise<ApiResponse> {
  const keys = (await visibleKeys(api, call)).map((key) => viewKey(key, call.nowMs));
  return ok({ keys, total: keys.length });
}

async function visibleKeys(api: Api, call: KeyCall): Promise<readonly KeyRecord[]> {
  const { keys } = api.controlPlane;
  const { user } = call;
  if (!call.isWide) return keys.ofWorkspace(call.workspace.id, managesKeys(call.role) ? null : user.id);
  const memberships = await api.authCache.memberships(user.id);
  const managed = memberships.filter(({ role }) => managesKeys(role)).map(({ workspace }) => workspace.id);
  return keys.ofPerson(user.id, managed);
}

/** Owners and Admins can revoke any key created in the workspace (docs/api-contract.md#keys). */
function managesKeys(role: Role | undefined): boolean {
  return role === "owner" || role === "admin";
}

async function create(api: Api, call: KeyCall): Promise<ApiResponse> {
  if (call.key?.kind === "account") throw refusal("accountKeyCannotCreate");
  if (!canEdit(call.role)) throw refusal("keyCreateForbidden");
  const body = readObject(call.request);
  const name = nameOf(body);
  const expiresAtMs = expiryOf(body, call.nowMs);
  refuseLonger(expiresAtMs, call.key?.expiresAtMs ?? null);
  const { keys } = api.controlPlane;
  const { secretHash, text } = newKeyText(call.session === null ? "uk" : "dk");
  const created = await keys.createWithin(MOST_KEYS, {
    name,
    kind: "workspace",
    userId: call.user.id,
    organizationId: call.workspace.id,
    expiresAtMs,
    nowMs: call.nowMs,
    secretHash,
  });
  if (created === "full") throw refusal("keysTooMany");
  api.state.notices.publish("keys");
  return ok({ ...viewKey(created, call.nowMs), active: true, key: text(created.id) });
}

function nameOf(body: JsonObject): string {
  const sent = fieldOf(body, "name");
  const name = typeof sent === "string" ? sent.trim() : "";
  if (name === "") throw refusal("keyNameMissing");
  if (codePoints(name) > MAX_KEY_NAME) throw refusal("keyNameTooLong");
  return name;
}

function expiryOf(body: JsonObject, nowMs: number): number | null {
  const sent = fieldOf(body, "expires");
  if (sent === undefined || sent === null) return null;
  const atMs = typeof sent === "string" ? parseTime(sent.trim()) : undefined;
  if (atMs === undefined) throw refusal("expiresUnreadable");
  if (atMs <= nowMs) throw refusal("expiresPast");
  return atMs;
}

/** A stolen key must not make keys that are valid for longer than itself. @throws 400 */
function refuseLonger(expiresAtMs: number | null, ownAtMs: number | null): void {
  if (ownAtMs === null || (expiresAtMs !== null && expiresAtMs <= ownAtMs)) return;
  throw badRequest(longerThanOwn(formatUtc(ownAtMs)));
}

function longerThanOwn(callerExpiry: string): string {
  return `expires must not be later than ${callerExpiry}, when the key that asks expires.`;
}

async function revoke(api: Api, call: KeyCall): Promise<ApiResponse> {
  // Role before path id and record (docs/api-contract.md#order-of-checks); of an account-wide key the other key's workspace decides.
  if (!call.isWide && !canEdit(call.role)) throw refusal("keyRevokeForbidden");
  const id = parseId("key", call.params[0] ?? "");
  if (id === undefined) throw refusal("invalidKeyId");
  const { hard } = readQuery(revokeQuery, call.request.query);
  const key = await revocable(api, call, id);
  const { keys } = api.controlPlane;
  if (hard === "1") {
    if (!(await keys.remove(id))) throw refusal("keyNotFound");
  } else if (key.active && (await keys.setActive(id, false)) === undefined) throw refusal("keyNotFound");
  api.state.notices.publish("keys");
  const status = hard === "1" ? null : keyStatus({ ...key, active: false }, call.nowMs);
  return ok({ success: true, id, status, deleted: hard === "1" });
}

/** @throws 404 for keys out of reach, 403 for those in reach that the caller may not revoke */
async function revocable(api: Api, call: KeyCall, id: number): Promise<KeyRecord> {
  const key = await api.controlPlane.keys.find(id);
  if (key === undefined) throw refusal("keyNotFound");
  const isOwn = key.userId === call.user.id;
  if (key.kind === "account") {
    // It belongs to the account: only account-wide keys of the same person see it.
    if (!isOwn || !call.isWide) throw refusal("keyNotFound");
    return key;
  }
  const role = await roleIn(api, call, key.organizationId);
  // A person who left the workspace still ends the own keys there, with an account-wide one.
  if (role === undefined && isOwn && call.isWide) return key;
  if (role === undefined) throw refusal("keyNotFound");
  if (managesKeys(role) || (isOwn && canEdit(role))) return key;
  throw refusal("keyRevokeForbidden");
}

/** A key that the list of keys shows to this caller. @throws 400, 404 */
export async function readableKey(api: Api, call: KeyCall): Promise<KeyRecord> {
  const id = parseId("key", call.params[0] ?? "");
  if (id === undefined) throw refusal("invalidKeyId");
  const found = (await visibleKeys(api, call)).find((key) => key.id === id);
  if (found === undefined) throw refusal("keyNotFound");
  return found;
}

async function roleIn(api: Api, call: KeyCall, organizationId: number | null): Promise<Role | undefined> {
  if (!call.isWide) return organizationId === call.workspace.id ? call.role : undefined;
  const memberships = await api.authCache.memberships(call.user.id);
  return memberships.find(({ workspace }) => workspace.id === organizationId)?.role;
}

const group = { group: "Keys", scope: "key" } as const;

export const keys: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/keys",
    operationId: "listKeys",
    summary: "List API keys, newest first",
    description:
      "Owners and Admins see every key of the workspace, others their own. An account-wide key lists its owner's keys and those of the workspaces where the owner is Owner or Admin.",
    responses: { 200: shape("keyList") },
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/keys",
    operationId: "createKey",
    audit: "key.created",
    summary: "Create an API key; its secret is shown once",
    noApiAccess: "noApiAccessForKeys",
    body: { schema: createBody, required: true },
    responses: { 200: shape("createdKey") },
    refusals: [
      "noApiAccessForKeys",
      "accountKeyCannotCreate",
      "keyCreateForbidden",
      "keyNameMissing",
      "keyNameTooLong",
      "expiresUnreadable",
      "expiresPast",
      [400, longerThanOwn("2026-12-31 00:00:00")],
      "keysTooMany",
    ],
    handle: create,
  },
  {
    ...group,
    method: "DELETE",
    path: "/keys/{id}",
    operationId: "revokeKey",
    audit: {
      what: ({ answered }) => (answered.deleted === true ? "key.deleted" : "key.revoked"),
      nameOf: async (api, call) => (await api.controlPlane.keys.find(Number(call.params[0])))?.name ?? null,
    },
    summary: "Disable an API key, or delete it for good",
    params: keyIdParams,
    query: revokeQuery,
    responses: { 200: shape("revokedKey") },
    refusals: ["keyRevokeForbidden", "invalidKeyId", "keyNotFound"],
    handle: revoke,
  },
];
