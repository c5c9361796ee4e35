/** Rules of alerts: the whole list is read and written, and asked who would hear (docs/api-contract.md#alerts). */
import type { z } from "zod";
import { UPTIME_KINDS } from "../../engine/contract/registry.ts";
import {
  type AlertEvent,
  type AlertFacts,
  type AlertMonitor,
  type AlertRule,
  DEFAULT_RULE,
  type Grouping,
  matchingRules,
  mismatchOf,
} from "../../model/alerting-rule.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { isLetThrough, quietUntil } from "../../model/quiet-hours.ts";
import { readSelector, type Selector, selectableKinds, writeSelector } from "../../model/selector.ts";
import { formatIso } from "../../model/time.ts";
import { faultOf } from "../../scheduler/alerts/rule-words.ts";
import type { ChannelRecord } from "../../store/sql/alerts/channels-port.ts";
import type { Draft, Versioned } from "../../store/sql/alerts/port.ts";
import type { Api } from "../api.ts";
import { type JsonObject, readObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import type { ProjectCall, Refusal, Route } from "../route.ts";
import * as schemas from "../schemas/index.ts";

const EDITORS_ONLY = "You do not have permission to edit this project";
const WORDS = { kinds: selectableKinds(UPTIME_KINDS) };

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(view(await api.controlPlane.alerts.rules(call.project.id)));
}

async function write(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { alerts, channels } = api.controlPlane;
  const sent = parsed(schemas.alertRulesBody, readObject(call.request));
  const known = new Set((await channels.list(call.project.id)).map(({ id }) => id));
  const quiet = new Set((await alerts.quietHours(call.project.id)).items.map(({ id }) => id));
  const drafts = sent.rules.map((rule, at) => draftOf(rule, `rules.${at}`, known, quiet));
  const written = await alerts.writeRules(call.project.id, sent.version, drafts, call.nowMs);
  if (written === "moved") throw refusal("alertRulesMoved");
  if (written === "unknown") throw refusal("alertRuleUnknown");
  return ok(view(written));
}

/** @throws 400 with the path of the first fault */
export function parsed<Schema extends z.ZodType>(schema: Schema, body: JsonObject): z.output<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.map(String).join(".").slice(0, 100) ?? "";
  throw badRequest(`${path === "" ? "body" : path}: ${issue?.message.slice(0, 200) ?? "invalid"}`);
}

type SentRule = z.output<typeof schemas.alertRulesBody>["rules"][number];

function draftOf(
  sent: SentRule,
  path: string,
  channels: ReadonlySet<number>,
  quiet: ReadonlySet<number>,
): Draft<AlertRule> {
  const { match, group_by: groupBy, quiet_hours: quietHoursId } = sent;
  if (quietHoursId !== null && !quiet.has(quietHoursId))
    throw badRequest(`${path}.quiet_hours: there are none of this id`);
  const channelsOf = (ids: readonly string[], at: string): readonly number[] =>
    ids.map((text) => {
      const id = parseId("channel", text);
      if (id === undefined || !channels.has(id))
        throw badRequest(`${path}.${at}: there is no channel ${text.slice(0, 30)}`);
      return id;
    });
  return {
    ...{ id: sent.id, name: sent.name, active: sent.active, goesOn: sent.continue, groupBy: groupBy as Grouping },
    match: { events: match.events, severity: match.severity, select: selectorOf(match.select, `${path}.match.select`) },
    channels: sent.channels === null ? null : channelsOf(sent.channels, "channels"),
    ...{ delayS: sent.delay_s, waitS: sent.wait_s, intervalS: sent.interval_s, repeatS: sent.repeat_s },
    ...{ repeatGrowth: sent.repeat_growth, recovered: sent.recovered, quietHoursId },
    template: templateOf(sent.template, `${path}.template`),
    escalation: sent.escalation.map((step) => ({
      afterS: step.after_s,
      channels: channelsOf(step.channels, "escalation"),
    })),
  };
}

function templateOf(template: SentRule["template"], path: string): SentRule["template"] {
  for (const [name, text] of Object.entries(template ?? {})) {
    const fault = text === null ? null : faultOf(text);
    if (fault !== null) throw badRequest(`${path}.${name}: ${fault}`);
  }
  return template;
}

function selectorOf(value: unknown, what: string): Selector | null {
  if (value === null) return null;
  const read = readSelector(value, WORDS, what);
  if ("fault" in read) throw badRequest(read.fault);
  return read.selector;
}

function view({ version, items }: Versioned<AlertRule>) {
  return { version, rules: (items.length === 0 ? [DEFAULT_RULE] : items).map(viewRule) };
}

function viewRule(rule: AlertRule) {
  const { match } = rule;
  const channelIds = (ids: readonly number[]): readonly string[] => ids.map((id) => formatId("channel", id));
  return {
    ...{ id: rule.id, name: rule.name, active: rule.active, continue: rule.goesOn },
    match: { ...match, select: match.select === null ? null : writeSelector(match.select) },
    channels: rule.channels === null ? null : channelIds(rule.channels),
    ...{ delay_s: rule.delayS, group_by: rule.groupBy, wait_s: rule.waitS, interval_s: rule.intervalS },
    ...{ repeat_s: rule.repeatS, repeat_growth: rule.repeatGrowth, recovered: rule.recovered },
    quiet_hours: rule.quietHoursId,
    escalation: rule.escalation.map(({ afterS, channels }) => ({
      ...{ after_s: afterS, channels: channelIds(channels), unless: "acknowledged" as const },
    })),
    template: rule.template,
  };
}

/** What is asked about. */
async function previewed(api: Api, call: ProjectCall): Promise<{ monitor: AlertMonitor; event: AlertEvent }> {
  const sent = parsed(schemas.previewBody, readObject(call.request));
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

/** Who would hear, and why the others would not. */
async function preview(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { monitor, event } = await previewed(api, call);
  const { alerts, channels } = api.controlPlane;
  const severity = event === "down" ? "critical" : "warning";
  const facts: AlertFacts = { event, severity, subject: "preview", monitor, subscriptionId: monitor.subscriptionId };
  const { items } = await alerts.rules(call.project.id);
  const rules = items.length === 0 ? [DEFAULT_RULE] : items;
  const matching = new Set(matchingRules(items, facts).map((rule) => rule.id));
  const active = (await channels.list(call.project.id)).filter((channel) => channel.active);
  const quiet = new Map((await alerts.quietHours(call.project.id)).items.map((hours) => [hours.id, hours]));
  const steps = rules.map((rule) => {
    const matched = matching.has(rule.id);
    const waitS = Math.max(rule.waitS, event === "down" || event === "login_refused" ? rule.delayS : 0);
    const hours = quiet.get(rule.quietHoursId ?? 0);
    const dueMs = call.nowMs + waitS * 1_000;
    const untilMs =
      hours === undefined || isLetThrough(hours, { severity, tags: monitor.tags }) ? null : quietUntil(hours, dueMs);
    return {
      rule: { id: rule.id, name: rule.name },
      matched,
      because: matched ? "the rule matches" : (mismatchOf(rule, facts) ?? "a rule before it matches"),
      channels: matched ? heard(rule, active) : [],
      after_s: matched ? waitS : null,
      at: matched ? formatIso(untilMs ?? dueMs) : null,
    };
  });
  const isHeard = steps.some((step) => step.channels.length > 0);
  return ok({ steps, silent_because: isHeard ? null : silence(active, matching.size) });
}

function heard({ channels }: AlertRule, active: readonly ChannelRecord[]) {
  const wanted = active.filter(({ id }) => channels === null || channels.includes(id));
  return wanted.map(({ id, kind, name }) => ({ id: formatId("channel", id), kind, name }));
}

function silence(active: readonly ChannelRecord[], matching: number): string {
  if (active.length === 0) return "The project has no active channel.";
  return matching === 0 ? "No rule matches." : "The rules that match name no active channel.";
}

const group = { group: "Alerts", scope: "project", description: "An addition of ours." } as const;
const FAULTS: readonly Refusal[] = [[400, "rules.0.name: Invalid input: expected string, received undefined"]];

export const alertRules: readonly Route[] = [
  {
    ...group,
    method: "GET",
    path: "/alert-rules",
    operationId: "getAlertRules",
    summary: "Read the project's rules of alerts, in their order",
    responses: { 200: schemas.alertRules },
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
    body: { schema: schemas.alertRulesBody, required: true },
    responses: { 200: schemas.alertRules },
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
    body: { schema: schemas.previewBody, required: true },
    responses: { 200: schemas.alertPreview },
    refusals: [[400, "body: send either server_id or incident_id"], "serverNotFound", "incidentNotFound"],
    handle: preview,
  },
];
