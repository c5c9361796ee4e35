/** Rules of alerts as the API and the operator's command read and show them, and who would be notified by them (docs/api-contract.md#alerts). */
import type { z } from "zod";
import { UPTIME_KINDS } from "../engine/contract/registry.ts";
import {
  type AlertEvent,
  type AlertFacts,
  type AlertMonitor,
  type AlertRule,
  DEFAULT_RULE,
  type Grouping,
  matchingRules,
  mismatchOf,
  type RuleSettings,
} from "../model/alerting-rule.ts";
import { awaitsConfirmation } from "../model/channel.ts";
import { formatId, parseId } from "../model/ids.ts";
import { isLetThrough, type QuietHours, quietUntil } from "../model/quiet-hours.ts";
import { readSelector, type Selector, selectableKinds, writeSelector } from "../model/selector.ts";
import { formatIso } from "../model/time.ts";
import { faultOf } from "../scheduler/alerts/rule-words.ts";
import type { ChannelRecord } from "../store/sql/alerts/channels-port.ts";
import type { Draft, Versioned } from "../store/sql/alerts/port.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import type { JsonObject } from "./body.ts";
import { ApiError, badRequest } from "./errors.ts";
import { issueWords } from "./issue-words.ts";
import { alertRulesBody } from "./schemas/alerts.ts";

const WORDS = { kinds: selectableKinds(UPTIME_KINDS) };

/** @throws 400 with the path of the first fault */
export function parsed<Schema extends z.ZodType>(schema: Schema, body: JsonObject): z.output<Schema> {
  const read = schema.safeParse(body, { error: issueWords });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.map(String).join(".").slice(0, 100) ?? "";
  throw badRequest(`${path === "" ? "body" : path}: ${issue?.message.slice(0, 200) ?? "invalid"}`);
}

/** What a project has that rules name, by id. */
interface Nameable {
  readonly channels: ReadonlySet<number>;
  readonly quietHours: ReadonlySet<number>;
}

/** Also channels that a rule names and that were removed since: such a rule must not keep all others from being written. */
export async function nameableOf(
  { alerts, channels }: Pick<ControlPlane, "alerts" | "channels">,
  projectId: number,
): Promise<Nameable> {
  const { items: rules } = await alerts.rules(projectId);
  const named = rules.flatMap((rule) => [
    ...(rule.channels ?? []),
    ...rule.escalation.flatMap((step) => step.channels),
  ]);
  return {
    channels: new Set([...(await channels.list(projectId)).map(({ id }) => id), ...named]),
    quietHours: new Set((await alerts.quietHours(projectId)).items.map(({ id }) => id)),
  };
}

/** @throws 400 */
export function readRules(body: JsonObject, there: Nameable): Versioned<Draft<AlertRule>> {
  const sent = parsed(alertRulesBody, body);
  const items = sent.rules.map((rule, at) => draftOf(rule, `rules.${at}`, there.channels, there.quietHours));
  return { version: sent.version, items };
}

/** The same for those that answer in words of their own. @returns why it cannot be, as one line */
export function readRulesOrFault(body: JsonObject, there: Nameable): Versioned<Draft<AlertRule>> | string {
  try {
    return readRules(body, there);
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

type SentRule = z.output<typeof alertRulesBody>["rules"][number];

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
    id: sent.id,
    name: sent.name,
    active: sent.active,
    goesOn: sent.continue,
    groupBy: groupBy as Grouping,
    match: { events: match.events, severity: match.severity, select: selectorOf(match.select, `${path}.match.select`) },
    channels: sent.channels === null ? null : channelsOf(sent.channels, "channels"),
    delayS: sent.delay_s,
    waitS: sent.wait_s,
    intervalS: sent.interval_s,
    repeatS: sent.repeat_s,
    repeatGrowth: sent.repeat_growth,
    recovered: sent.recovered,
    quietHoursId,
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

export function viewRules({ version, items }: Versioned<AlertRule>) {
  return { version, rules: (items.length === 0 ? [DEFAULT_RULE] : items).map(viewRule) };
}

function viewRule({ id, ...rule }: AlertRule) {
  const fields = ruleFields(rule, (channelId) => formatId("channel", channelId));
  const { match } = rule;
  return {
    id,
    ...fields,
    match: { ...match, select: match.select === null ? null : writeSelector(match.select) },
    escalation: fields.escalation.map((step) => ({ ...step, unless: "acknowledged" as const })),
    template: rule.template,
  };
}

/** A rule by the names of its fields. @param channelName how a channel is named there */
export function ruleFields(rule: RuleSettings, channelName: (id: number) => string) {
  return {
    name: rule.name,
    active: rule.active,
    continue: rule.goesOn,
    match: rule.match,
    channels: rule.channels === null ? null : rule.channels.map(channelName),
    delay_s: rule.delayS,
    group_by: rule.groupBy,
    wait_s: rule.waitS,
    interval_s: rule.intervalS,
    repeat_s: rule.repeatS,
    repeat_growth: rule.repeatGrowth,
    recovered: rule.recovered,
    quiet_hours: rule.quietHoursId,
    escalation: rule.escalation.map(({ afterS, channels }) => ({
      after_s: afterS,
      channels: channels.map(channelName),
    })),
  };
}

interface Question {
  readonly monitor: AlertMonitor;
  readonly event: AlertEvent;
  readonly nowMs: number;
}

/** What a project has. */
interface Audience {
  readonly rules: readonly AlertRule[];
  readonly channels: readonly ChannelRecord[];
  readonly quietHours: readonly QuietHours[];
}

/** Who would be notified, and why the others would not. */
export function hearing({ monitor, event, nowMs }: Question, { rules, channels, quietHours }: Audience) {
  const severity = event === "down" ? "critical" : "warning";
  const facts: AlertFacts = { event, severity, subject: "preview", monitor, subscriptionId: monitor.subscriptionId };
  const matching = new Set(matchingRules(rules, facts).map((rule) => rule.id));
  const active = channels.filter((channel) => channel.active && !awaitsConfirmation(channel));
  const quiet = new Map(quietHours.map((hours) => [hours.id, hours]));
  const steps = (rules.length === 0 ? [DEFAULT_RULE] : rules).map((rule) => {
    const matched = matching.has(rule.id);
    const waitS = Math.max(rule.waitS, event === "down" || event === "login_refused" ? rule.delayS : 0);
    const hours = quiet.get(rule.quietHoursId ?? 0);
    const dueMs = nowMs + waitS * 1_000;
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
  return { steps, silent_because: isHeard ? null : silence(active, matching.size) };
}

function heard({ channels }: AlertRule, active: readonly ChannelRecord[]) {
  const wanted = active.filter(({ id }) => channels === null || channels.includes(id));
  return wanted.map(({ id, kind, name }) => ({ id: formatId("channel", id), kind, name }));
}

function silence(active: readonly ChannelRecord[], matching: number): string {
  if (active.length === 0) return "The project has no active channel.";
  return matching === 0 ? "No rule matches." : "The rules that match name no active channel.";
}
