/** Rules: who is notified of what, and how soon. An ordered list, because people read lists; the first that matches counts, unless it says to go on. Pure. */
import { familyOf, type Kind } from "./kind.ts";
import type { Selected, Selector } from "./selector.ts";
import type { MonitorStatus } from "./status.ts";

/** What a rule can be about. `channel`: another channel does not take its messages. */
export const ALERT_EVENTS = [
  "down",
  "login_refused",
  "partial",
  "configs",
  "certificate",
  "domain",
  "sync",
  "channel",
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

export const ALERT_SEVERITIES = ["critical", "warning"] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** Beside them `tag:<name>`: those that have the tag are one group. */
const GROUPINGS = ["none", "monitor", "host", "subscription", "project"] as const;
export type Grouping = (typeof GROUPINGS)[number] | `tag:${string}`;

/** Tags are in lower case and have no blanks around them. */
const TAG_GROUPING = /^tag:[^\p{Cc}\p{Zs}](?:[^\p{Cc}]{0,48}[^\p{Cc}\p{Zs}])?$/u;

export function isGrouping(text: string): text is Grouping {
  return (GROUPINGS as readonly string[]).includes(text) || TAG_GROUPING.test(text);
}

interface EscalationStep {
  /** After the first message, s. */
  readonly afterS: number;
  readonly channels: readonly number[];
}

export interface AlertTemplate {
  readonly title: string | null;
  readonly summary: string | null;
}

/** What a rule says, whatever its number is. */
export interface RuleSettings {
  readonly name: string;
  readonly active: boolean;
  /** Rules after it are looked at too. */
  readonly goesOn: boolean;
  readonly match: {
    /** null: every one. */
    readonly events: readonly AlertEvent[] | null;
    /** null: every monitor, and what is about none. */
    readonly select: Selector | null;
    /** null: every one. */
    readonly severity: readonly AlertSeverity[] | null;
  };
  /** null: every active channel. */
  readonly channels: readonly number[] | null;
  /** Notifies only if it still holds then, s. */
  readonly delayS: number;
  readonly groupBy: Grouping;
  /** The first message of a group waits for others that belong to it, s. */
  readonly waitS: number;
  /** Between two messages of a group, s. */
  readonly intervalS: number;
  /** Said again while it holds and is not acknowledged, s; null: never. */
  readonly repeatS: number | null;
  /** Each further repetition comes so many times later, a day at most. */
  readonly repeatGrowth: number;
  /** Notifies also when it is over. */
  readonly recovered: boolean;
  readonly quietHoursId: number | null;
  readonly escalation: readonly EscalationStep[];
  readonly template: AlertTemplate | null;
}

export interface AlertRule extends RuleSettings {
  /** 0: the default rule. */
  readonly id: number;
}

const DEFAULT_RULE_ID = 0;

/** Of a project that has no rules: everything, to every active channel. */
export const DEFAULT_RULE: AlertRule = {
  id: DEFAULT_RULE_ID,
  name: "Everything",
  active: true,
  goesOn: false,
  match: { events: null, select: null, severity: null },
  channels: null,
  delayS: 0,
  groupBy: "host",
  // Long enough for the checks of one host that fail in the same round, short enough for a first message within five seconds.
  waitS: 2,
  intervalS: 60,
  repeatS: null,
  repeatGrowth: 2,
  recovered: true,
  quietHoursId: null,
  escalation: [],
  template: null,
};

/** What rules look at of a monitor. */
export interface AlertMonitor {
  readonly id: number;
  readonly name: string;
  readonly kind: Kind;
  readonly tags: readonly string[];
  readonly host: string | null;
  readonly subscriptionId: number | null;
  readonly status: MonitorStatus;
}

/** What a rule is asked about. */
export interface AlertFacts {
  readonly event: AlertEvent;
  readonly severity: AlertSeverity;
  /** `inc_9`, `srv_12:certificate`, `sub_5`, `chn_3`: the subject of an alert. */
  readonly subject: string;
  readonly monitor: AlertMonitor | null;
  readonly subscriptionId: number | null;
}

/** Why a rule does not match; null: it does. */
export function mismatchOf(rule: RuleSettings, facts: AlertFacts): string | null {
  const { events, select, severity } = rule.match;
  if (!rule.active) return "the rule is off";
  if (events !== null && !events.includes(facts.event)) return `the rule is not about ${facts.event}`;
  if (severity !== null && !severity.includes(facts.severity)) return `the severity is ${facts.severity}`;
  if (select === null) return null;
  if (facts.monitor === null) return "it is about no monitor";
  return selects(select, facts.monitor) ? null : "the monitor is not selected";
}

/** The rules that match, in their order. @param rules the project's; none: the default rule */
export function matchingRules(rules: readonly AlertRule[], facts: AlertFacts): readonly AlertRule[] {
  const matching: AlertRule[] = [];
  for (const rule of rules.length === 0 ? [DEFAULT_RULE] : rules) {
    if (mismatchOf(rule, facts) !== null) continue;
    matching.push(rule);
    if (!rule.goesOn) break;
  }
  return matching;
}

function selects({ not, ...selected }: Selector, monitor: AlertMonitor): boolean {
  return isSelected(selected, monitor) && (not === undefined || !isSelected(not, monitor));
}

function isSelected(selected: Selected, { id, name, kind, tags, subscriptionId, status }: AlertMonitor): boolean {
  const { ids, kinds, family, subscriptionIds } = selected;
  if (ids !== undefined && !ids.includes(id)) return false;
  if (selected.tags !== undefined && !selected.tags.every((tag) => tags.includes(tag))) return false;
  if (selected.anyTag !== undefined && !selected.anyTag.some((tag) => tags.includes(tag))) return false;
  if (kinds !== undefined && !kinds.includes(kind)) return false;
  if (family !== undefined && familyOf(kind) !== family) return false;
  if (subscriptionIds !== undefined && !(subscriptionId !== null && subscriptionIds.includes(subscriptionId)))
    return false;
  if (selected.name !== undefined && !folded(name).includes(folded(selected.name))) return false;
  return selected.status === undefined || selected.status.includes(status);
}

/** As the store compares names. */
function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** What belongs together; what has nothing of the kind is alone. */
export function groupKeyOf(groupBy: Grouping, { subject, monitor, subscriptionId }: AlertFacts): string {
  if (groupBy === "project") return "project";
  if (groupBy === "monitor" && monitor !== null) return `monitor:${monitor.id}`;
  if (groupBy === "host" && monitor !== null && monitor.host !== null) return `host:${monitor.host}`;
  const subscription = monitor?.subscriptionId ?? subscriptionId;
  if (groupBy === "subscription" && subscription !== null) return `subscription:${subscription}`;
  if (groupBy.startsWith("tag:") && monitor?.tags.includes(groupBy.slice(4)) === true) return groupBy;
  return `alone:${subject}`;
}

/**
 * A warning to a caller who removed a channel: rules that have no channel left.
 * @param left the project's channels
 */
export function silentRuleWarnings(
  rules: readonly AlertRule[],
  left: readonly { readonly id: number }[],
): readonly string[] {
  const ids = new Set(left.map(({ id }) => id));
  const silent = rules.filter(({ active, channels }) => active && channels?.some((id) => ids.has(id)) === false);
  return silent.map(({ name }) => `the rule "${name}" has no channel left: nothing that it matches is sent`);
}
