/** The audit log of a workspace, for its Owners and Admins (docs/api-contract.md#audit). */
import { z } from "zod";
import { actorData } from "../../model/event.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import type { AuditEntry } from "../../store/sql/accounts/audit-port.ts";
import type { Api } from "../api.ts";
import { refusal, wordsOf } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { limitParameter, offsetParameter, type QueryParameter, readQuery, timeParameter } from "../query.ts";
import { administered } from "../reach.ts";
import { type KeyCall, type Route, shape } from "../route.ts";
import { organizationParameter } from "./params.ts";

/** Words of ours have two parts. */
const WHAT = /^[a-z][a-z-]{0,39}(?:\.[a-z][a-z-]{0,39})?$/;

const actorParameter: QueryParameter<number | null> = {
  schema: z.int().min(1).optional().describe("Only what this user did."),
  refusal: wordsOf("auditActorInvalid")[1],
  read(text) {
    if (text === "") return null;
    const id = parseId("user", text);
    if (id === undefined) throw refusal("auditActorInvalid");
    return id;
  },
};

const whatParameter: QueryParameter<string | null> = {
  schema: z.string().optional().describe("Only this: `monitor.deleted`, or everything that was done to a `monitor`."),
  refusal: wordsOf("auditWhatInvalid")[1],
  read(text) {
    if (text === "") return null;
    if (!WHAT.test(text)) throw refusal("auditWhatInvalid");
    return text;
  },
};

const listQuery = {
  organization_id: organizationParameter("Of this workspace. Without it: the key's own."),
  from: timeParameter("from", "Only since then."),
  actor: actorParameter,
  what: whatParameter,
  limit: limitParameter(100),
  offset: offsetParameter,
} as const;

async function list(api: Api, call: KeyCall): Promise<ApiResponse> {
  const read = () => readQuery(listQuery, call.request.query);
  const workspace = await administered(api, call, () => read().organization_id, "auditForbidden");
  const { from, actor, what, limit, offset } = read();
  const filter = { fromMs: from, userId: actor, what, limit, offset };
  const { rows, total } = await api.controlPlane.audit.list(workspace.id, filter, call.nowMs);
  return ok({ entries: rows.map(view), total });
}

function view({ id, atMs, actor, what, subject, detail, projectId, address }: AuditEntry) {
  return {
    id: formatId("audit", id),
    at: formatIso(atMs),
    actor: actorData(actor),
    what,
    subject,
    detail,
    project_id: projectId === null ? null : formatId("project", projectId),
    address,
  };
}

export const audits: readonly Route[] = [
  listed({
    method: "GET",
    path: "/audit",
    operationId: "listAudit",
    group: "Audit",
    summary: "List what was changed in a workspace, and by whom, newest first",
    description: "An addition of ours. For Owners and Admins. Entries are kept for 400 days, and 100,000 at most.",
    scope: "key",
    query: listQuery,
    responses: { 200: shape("auditList") },
    refusals: [
      "auditForbidden",
      "noOrganizationAccess",
      "invalidOrganizationId",
      "auditActorInvalid",
      "auditWhatInvalid",
    ],
    handle: list,
  }),
];
