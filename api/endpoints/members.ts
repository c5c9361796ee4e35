/** Members of a workspace: listed, invited, given another role, removed (docs/api-contract.md#members). */
import { z } from "zod";
import { parseId } from "../../model/ids.ts";
import type { Role } from "../../model/plan.ts";
import { formatIso } from "../../model/time.ts";
import { signInLink } from "../../model/url.ts";
import { CODE_LIVES_MS, newSecret } from "../../store/session-secret.ts";
import type { Member } from "../../store/sql/accounts/members-port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { readQuery } from "../query.ts";
import { administered } from "../reach.ts";
import { type KeyCall, type Refusal, type Route, shape } from "../route.ts";
import { ROLES } from "../schemas/members.ts";
import { organizationParameter, userIdParams } from "./params.ts";

/** RFC 5321 section 4.5.3.1.3. */
const MAX_EMAIL = 254;
/** Code points. */
const MAX_NAME = 120;
/** One address: what is before the at sign and after it is judged by whom mail is sent to. */
const EMAIL = /^[^\s@<>"(),:;\\[\]]{1,64}@[^\s@<>"(),:;\\[\]]{1,253}$/;

const query = { organization_id: organizationParameter("Of this workspace. Without it: the key's own.") } as const;

const role = z.enum(ROLES);
const inviteBody = z
  .object({
    email: z.string().max(MAX_EMAIL),
    name: z.string().max(MAX_NAME).nullable().optional().describe("Of a person who is new here"),
    role,
  })
  .meta({ id: "InviteMember", examples: [{ email: "ada@test-site.org", role: "viewer" }] });
const changeBody = z.object({ role }).meta({ id: "ChangeMember", examples: [{ role: "manager" }] });

async function list(api: Api, call: KeyCall): Promise<ApiResponse> {
  const { id } = await workspaceOf(api, call);
  const members = (await api.controlPlane.members.list(id)).map(view);
  return ok({ members, total: members.length });
}

async function invite(api: Api, call: KeyCall): Promise<ApiResponse> {
  const workspace = await workspaceOf(api, call);
  const body = readObject(call.request);
  const person = { email: emailOf(body), name: nameOf(body) };
  const wanted = roleOf(body);
  if (wanted === "owner" && workspace.role !== "owner") throw refusal("memberOwnerByOwner");
  const invited = await api.controlPlane.members.invite(workspace.id, person, wanted, call.nowMs);
  if (invited === "member") throw refusal("memberAlready");
  if (invited === "full") throw refusal("membersTooMany");
  api.state.notices.publish("keys");
  // A link signs in as the person everywhere: it must not open what the person has elsewhere to whom invites.
  const link = invited.isOnlyHere ? await newLink(api, invited.user.id, call.nowMs) : { link: null, expires_at: null };
  return ok({ ...view(invited), ...link });
}

async function newLink(api: Api, userId: number, nowMs: number) {
  const { text, hash } = newSecret();
  const expiresAtMs = nowMs + CODE_LIVES_MS;
  await api.controlPlane.sessions.addCode({ codeHash: hash, userId, nowMs, expiresAtMs });
  return { link: signInLink(api.baseUrl(), text), expires_at: formatIso(expiresAtMs) };
}

async function change(api: Api, call: KeyCall): Promise<ApiResponse> {
  const workspace = await workspaceOf(api, call);
  const userId = memberId(call);
  const wanted = roleOf(readObject(call.request));
  if (wanted === "owner" && workspace.role !== "owner") throw refusal("memberOwnerByOwner");
  const { members } = api.controlPlane;
  const changed = await members.changeRole(workspace.id, userId, wanted, refuseOwner(workspace.role));
  if (changed === undefined) throw refusal("memberNotFound");
  if (changed === "lastOwner") throw refusal("memberLastOwner");
  api.state.notices.publish("keys");
  return ok(view(changed));
}

async function remove(api: Api, call: KeyCall): Promise<ApiResponse> {
  const workspace = await workspaceOf(api, call);
  const userId = memberId(call);
  const removed = await api.controlPlane.members.remove(workspace.id, userId, refuseOwner(workspace.role));
  if (removed === undefined) throw refusal("memberNotFound");
  if (removed === "lastOwner") throw refusal("memberLastOwner");
  api.state.notices.publish("keys");
  return ok({ success: true, id: userId });
}

/** An Admin neither changes nor removes an Owner. */
function refuseOwner(callersRole: Role): (before: Role) => void {
  return (before) => {
    if (before === "owner" && callersRole !== "owner") throw refusal("memberOwnerByOwner");
  };
}

function workspaceOf(api: Api, call: KeyCall) {
  return administered(api, call, () => readQuery(query, call.request.query).organization_id, "membersForbidden");
}

function memberId(call: KeyCall): number {
  const id = parseId("user", call.params[0] ?? "");
  if (id === undefined) throw refusal("invalidMemberId");
  return id;
}

function emailOf(body: JsonObject): string {
  const sent = fieldOf(body, "email");
  const email = typeof sent === "string" ? sent.trim() : "";
  if (email.length > MAX_EMAIL || !EMAIL.test(email) || hasNul(email)) throw refusal("memberEmailInvalid");
  return email;
}

function nameOf(body: JsonObject): string | null {
  const sent = fieldOf(body, "name") ?? null;
  if (sent === null) return null;
  if (typeof sent !== "string" || codePoints(sent) > MAX_NAME || hasNul(sent)) throw refusal("memberNameInvalid");
  return sent.trim() === "" ? null : sent.trim();
}

function roleOf(body: JsonObject): Role {
  const sent = fieldOf(body, "role");
  const found = ROLES.find((word) => word === sent);
  if (found === undefined) throw refusal("memberRoleInvalid");
  return found;
}

function view({ user, role: has, memberSinceMs }: Member) {
  return { id: user.id, name: user.name, email: user.email, role: has, created_at: formatIso(memberSinceMs) };
}

const base = { group: "Members", scope: "key", query } as const;
const COMMON: readonly Refusal[] = ["membersForbidden", "noOrganizationAccess", "invalidOrganizationId"];

export const memberships: readonly Route[] = [
  listed({
    ...base,
    method: "GET",
    path: "/members",
    operationId: "listMembers",
    summary: "List the members of a workspace, the oldest membership first",
    description: "An addition of ours. For Owners and Admins.",
    responses: { 200: shape("memberList") },
    refusals: COMMON,
    handle: list,
  }),
  {
    ...base,
    method: "POST",
    path: "/members",
    operationId: "inviteMember",
    audit: { what: "member.invited", detail: ({ answered }) => ({ role: answered.role }) },
    summary: "Add a person to a workspace; a link signs the person in once",
    description: "An addition of ours. For Owners and Admins; only an Owner makes an Owner.",
    body: { schema: inviteBody, required: true },
    responses: { 200: shape("invitedMember") },
    refusals: [
      ...COMMON,
      ...(["memberEmailInvalid", "memberNameInvalid", "memberRoleInvalid", "memberOwnerByOwner"] as const),
      ...(["memberAlready", "membersTooMany"] as const),
    ],
    handle: invite,
  },
  {
    ...base,
    method: "PUT",
    path: "/members/{id}",
    operationId: "changeMember",
    audit: { what: "member.updated", detail: ({ answered }) => ({ role: answered.role }) },
    summary: "Give a member another role",
    description:
      "An addition of ours. For Owners and Admins; only an Owner makes or changes an Owner. The last Owner stays.",
    params: userIdParams,
    body: { schema: changeBody, required: true },
    responses: { 200: shape("member") },
    refusals: [
      ...COMMON,
      ...(["invalidMemberId", "memberRoleInvalid", "memberOwnerByOwner", "memberNotFound", "memberLastOwner"] as const),
    ],
    handle: change,
  },
  {
    ...base,
    method: "DELETE",
    path: "/members/{id}",
    operationId: "removeMember",
    audit: {
      what: "member.removed",
      nameOf: async (api, call) => {
        const { id } = await workspaceOf(api, call);
        return (await api.controlPlane.members.find(id, memberId(call)))?.user.name ?? null;
      },
    },
    summary: "Take a person out of a workspace; the person's keys of it stop at once",
    description: "An addition of ours. For Owners and Admins; only an Owner removes an Owner. The last Owner stays.",
    params: userIdParams,
    responses: { 200: shape("removedMember") },
    refusals: [...COMMON, "invalidMemberId", "memberOwnerByOwner", "memberNotFound", "memberLastOwner"],
    handle: remove,
  },
];
