/** Quiet hours, which rules of alerts name (docs/api-contract.md#alerts). */
import type { QuietHours } from "../../model/quiet-hours.ts";
import type { Versioned } from "../../store/sql/alerts/port.ts";
import type { Api } from "../api.ts";
import { readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { EDITORS_ONLY, type ProjectCall, type Route, shape } from "../route.ts";
import { parsed } from "../rule-body.ts";
import { quietHoursBody } from "../schemas/alerts.ts";

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(view(await api.controlPlane.alerts.quietHours(call.project.id)));
}

async function write(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const sent = parsed(quietHoursBody, readObject(call.request));
  const drafts = sent.quiet_hours.map(({ let_through: letThrough, ...one }) => ({
    ...one,
    letThrough: { ...letThrough, tags: letThrough.tags.map((tag) => tag.trim().toLowerCase()) },
  }));
  const written = await api.controlPlane.alerts.writeQuietHours(call.project.id, sent.version, drafts);
  if (written === "moved") throw refusal("alertRulesMoved");
  if (written === "unknown") throw refusal("quietHoursUnknown");
  if (written === "used") throw refusal("quietHoursUsed");
  return ok(view(written));
}

function view({ version, items }: Versioned<QuietHours>) {
  return { version, quiet_hours: items.map(({ letThrough, ...one }) => ({ ...one, let_through: letThrough })) };
}

const group = { group: "Alerts", scope: "project", description: "An addition of ours." } as const;

export const quietHours: readonly Route[] = [
  {
    ...group,
    method: "GET",
    path: "/quiet-hours",
    operationId: "getQuietHours",
    summary: "Read the project's quiet hours",
    responses: { 200: shape("quietHours") },
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    path: "/quiet-hours",
    operationId: "setQuietHours",
    audit: "quiethours.updated",
    summary: "Replace the project's quiet hours",
    editorsOnly: EDITORS_ONLY,
    body: { schema: quietHoursBody, required: true },
    responses: { 200: shape("quietHours") },
    refusals: [
      [400, "quiet_hours.0.timezone: must be a name of the IANA database, such as Europe/Berlin"],
      ...(["alertRulesMoved", "quietHoursUnknown", "quietHoursUsed"] as const),
    ],
    handle: write,
  },
];
