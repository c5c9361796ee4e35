/**
 * The audit log's only writer: one entry for each request that changed something, made of its route's rule, right after the change. It holds
 * names of fields, counts and words of closed lists; never a value that was sent, because such a value may be a secret.
 */
import type { AuditSubject, AuditWord } from "../model/audit.ts";
import type { Api } from "./api.ts";
import { type JsonObject, objectOf } from "./body.ts";
import { type ApiAnswer, type ApiResponse, isStream } from "./http.ts";
import type { AuditRule, Change, KeyCall, ProjectCall, Route } from "./route.ts";
import { namesIn } from "./warnings.ts";

/** Code points of a subject's name. */
const MAX_NAME = 255;

/** Runs the handler, and writes what it changed. A refusal leaves no entry. */
export async function withAudit(
  api: Api,
  route: Route,
  rule: AuditRule,
  call: KeyCall | ProjectCall,
  work: () => ApiAnswer | Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  // The handler adds what cannot be read here.
  const name = (await rule.nameOf?.(api, call).catch(() => null)) ?? null;
  const answer = await work();
  if (!isStream(answer) && answer.status < 300)
    await recordChange(api, route, rule, call, { ...answer, nameBefore: name });
  return answer;
}

/** @returns null for routes that change nothing */
export function auditRule({ method, audit }: Route): AuditRule | null {
  if (method === "GET" || audit === null || audit === undefined) return null;
  return typeof audit === "string" ? { what: audit } : audit;
}

interface Answered extends Pick<ApiResponse, "body" | "answered"> {
  /** What the subject was called before. */
  readonly nameBefore?: string | null;
}

/** Never rejects: what was done is done, and is answered so. */
export async function recordChange(
  api: Api,
  route: Route,
  rule: AuditRule,
  call: KeyCall | ProjectCall,
  { body, answered: known, nameBefore = null }: Answered,
): Promise<void> {
  try {
    const sent = objectOf(call.request) ?? {};
    // A plan of thousands is not read again to learn that it was one.
    if (rule.isLook?.(sent) === true) return;
    const answered = known ?? parsed(body);
    const change: Change = { call, sent, answered };
    if (rule.isChange?.(change) === false) return;
    const what = typeof rule.what === "string" ? rule.what : rule.what(change);
    await api.controlPlane.audit.add({
      organizationId: organizationOf(route, call),
      projectId: "project" in call ? call.project.id : null,
      atMs: call.nowMs,
      actor: call.actor,
      what,
      subject: subjectOf(what, change, nameBefore),
      detail: rule.detail?.(change) ?? fieldsOf(route, change.sent),
      address: call.clientAddress,
    });
  } catch (error) {
    api.log.error({ route: route.path, err: error, userId: call.user.id }, "a change has no entry in the audit log");
  }
}

function parsed(body: ApiResponse["body"]): JsonObject {
  return typeof body === "string" && body.startsWith("{") ? (JSON.parse(body) as JsonObject) : {};
}

/** The workspace that was named and let in, where the route takes one. */
function organizationOf(route: Route, { request, workspace }: KeyCall): number {
  if (route.query?.organization_id === undefined) return workspace.id;
  return Number(new URLSearchParams(request.query).get("organization_id")) || workspace.id;
}

function subjectOf(what: AuditWord, { call, answered }: Change, nameBefore: string | null): AuditSubject {
  const id = answered.id ?? call.params.at(-1) ?? null;
  const name = answered.name ?? answered.title ?? answered.server_name ?? nameBefore;
  return {
    type: what.slice(0, what.indexOf(".")),
    id: typeof id === "string" || typeof id === "number" ? String(id) : null,
    name: typeof name === "string" ? [...name].slice(0, MAX_NAME).join("") : null,
  };
}

/** Names of the fields that a change sent and that its route knows. */
function fieldsOf({ method, body }: Route, sent: JsonObject): JsonObject {
  if (method !== "PUT" || body === undefined) return {};
  const known = namesIn(body.schema);
  return { fields: Object.keys(sent).filter((name) => known.has(name)) };
}
