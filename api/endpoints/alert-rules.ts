/** Rules of alerts: the whole list is read and written, and asked who would be notified (docs/api-contract.md#alerts). */
import type { AlertEvent, AlertMonitor } from "../../model/alerting-rule.ts";
import { parseId } from "../../model/ids.ts";
import type { Api } from "../api.ts";
import { readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { EDITORS_ONLY, type ProjectCall, type Refusal, type Route, shape } from "../route.ts";
import { hearing, nameableOf, parsed, readRules, viewRules } from "../rule-body.ts";
import { alertRulesBody, previewBody } from "../schemas/alerts.ts";

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(viewRules(await api.controlPlane.alerts.rules(call.project.id)));
}

async function write(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { alerts } = api.controlPlane;
  const there = await nameableOf(api.controlPlane, call.project.id);
  const { version, items } = readRules(readObject(call.request), there);
  const written = await alerts.writeRules(call.project.id, version, items, call.nowMs);
  if (written === "moved") throw refusal("alertRulesMoved");
  if (written === "unknown") throw refusal("alertRuleUnknown");
  return ok(viewRules(written));
}

/** What is asked about. */
async function previewed(api: Api, call: ProjectCall): Promise<{ monitor: AlertMonitor; event: AlertEvent }> {
  const sent = parsed(previewBody, readObject(call.request));
  const { alerts, incidents } = api.controlPlane;
  let [id, event] = [parseId("server", sent.server_id ?? ""), sent.event];
  if (sent.incident_id !== undefined) {
    const incidentId = parseId("incident", sent.incident_id);
    const incident = incidentId === undefined ? undefined : await incidents.find(call.project.id, incidentId);
    if (incident === undefined) throw refusal("incidentNotFound");
    [id, event] = [incident.monitorId, incident.level === "down" ? "down" : "login_refused"];
  }
  const monitor = id === undefined ? undefined : await alerts.monitor(call.project.id, id);
  if (monitor === undefined) throw refusal("serverNotFound");
  return { monitor, event };
}

async function preview(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { monitor, event } = await previewed(api, call);
  const { alerts, channels } = api.controlPlane;
  const { items: rules } = await alerts.rules(call.project.id);
  const { items: quietHours } = await alerts.quietHours(call.project.id);
  const there = { rules, channels: await channels.list(call.project.id), quietHours };
  return ok(hearing({ monitor, event, nowMs: call.nowMs }, there));
}

const group = { group: "Alerts", scope: "project", description: "An addition of ours." } as const;
const FAULTS: readonly Refusal[] = [[400, "rules.0.name: is missing"]];

export const alertRules: readonly Route[] = [
  {
    ...group,
    method: "GET",
    path: "/alert-rules",
    operationId: "getAlertRules",
    summary: "Read the project's rules of alerts, in their order",
    responses: { 200: shape("alertRules") },
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    path: "/alert-rules",
    operationId: "setAlertRules",
    audit: "rules.updated",
    summary: "Replace the project's rules of alerts",
    editorsOnly: EDITORS_ONLY,
    body: { schema: alertRulesBody, required: true },
    responses: { 200: shape("alertRules") },
    refusals: [...FAULTS, "alertRulesMoved", "alertRuleUnknown"],
    handle: write,
  },
  {
    ...group,
    method: "POST",
    path: "/alert-rules/preview",
    operationId: "previewAlertRules",
    audit: null,
    summary: "Ask who would hear of an event of a monitor, or of an incident",
    body: { schema: previewBody, required: true },
    responses: { 200: shape("alertPreview") },
    refusals: [[400, "body: send either server_id or incident_id"], "serverNotFound", "incidentNotFound"],
    handle: preview,
  },
];
