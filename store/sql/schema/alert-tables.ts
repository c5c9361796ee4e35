/** Tables of channels, alert rules, alert groups and their messages; tables.ts has THE LIST. */
import type { SayReason, Told } from "../../../model/alerting.ts";
import type { NotificationState } from "../../../model/alerting-delivery.ts";
import type { AlertEvent, AlertRule, AlertSeverity, AlertTemplate, Grouping } from "../../../model/alerting-rule.ts";
import type { QuietHours, QuietMode } from "../../../model/quiet-hours.ts";
import { SEALED_CELLS } from "../../sealed-cells.ts";
import { bigint, flag, float, id, int, json, nullable, prose, sealed, storeOnly, table, text, time } from "./column.ts";

/** Where messages go. */
export const CHANNELS = table("channels", {
  id: id(),
  project_id: bigint(),
  kind: text(),
  /** Unique in the project. */
  name: prose(),
  /** Without what is secret. */
  settings: json<Readonly<Record<string, unknown>>>(),
  /** Of the settings that are in `sealed`. */
  secret_names: json<readonly string[]>(),
  /** JSON of the secret settings; null: there are none. */
  sealed: storeOnly(nullable(sealed(SEALED_CELLS.channel, text()))),
  active: flag(),
  /** When the person at the address agreed; null where nothing has to be agreed to, or it was not yet. */
  verified_at_ms: nullable(bigint()),
  /** The first failure since the last success. */
  failing_since_ms: nullable(bigint()),
  /** Attempts in a row that the service refused for good. */
  refusals: int(),
  last_success_at_ms: nullable(bigint()),
  last_error: nullable(prose()),
  /** Always empty: what a document has is in document_things. */
  external_key: storeOnly(nullable(text())),
  managed_by: storeOnly(nullable(bigint())),
  created_at_ms: bigint(),
  updated_at_ms: bigint(),
});

/** Of the project without any: the default rule counts, which has no row. */
export const ALERT_RULES = table("alert_rules", {
  id: id(),
  project_id: storeOnly(bigint()),
  position: storeOnly(int()),
  name: prose(),
  active: flag(),
  goes_on: flag(),
  match: json<AlertRule["match"]>(),
  channels: nullable(json<readonly number[]>()),
  group_by: text<Grouping>(),
  delay_s: int(),
  wait_s: int(),
  interval_s: int(),
  repeat_s: nullable(int()),
  repeat_growth: int(),
  recovered: flag(),
  quiet_hours_id: nullable(bigint()),
  escalation: json<AlertRule["escalation"]>(),
  template: nullable(json<AlertTemplate>()),
  external_key: storeOnly(nullable(text())),
  managed_by: storeOnly(nullable(bigint())),
  /** Set: it governs the groups that it began, and matches nothing new. */
  removed_at_ms: storeOnly(nullable(bigint())),
});

/** How often the lists of a project were written. */
export const ALERT_RULE_VERSIONS = table("alert_rule_versions", {
  project_id: bigint(),
  rules: bigint(),
  quiet_hours: bigint(),
});

export const QUIET_HOURS = table("quiet_hours", {
  id: id(),
  project_id: storeOnly(bigint()),
  name: prose(),
  timezone: text(),
  spans: json<QuietHours["spans"]>(),
  mode: text<QuietMode>(),
  let_through: json<QuietHours["letThrough"]>(),
});

/** What one rule reports together. */
export const ALERT_GROUPS = table("alert_groups", {
  id: id(),
  project_id: bigint(),
  /** 0: the default rule. */
  rule_id: bigint(),
  key: prose(),
  is_notice: flag(),
  is_fold: flag(),
  state: text<"open" | "over">(),
  folded_into: nullable(bigint()),
  step: int(),
  repeats: int(),
  first_told_at_ms: nullable(bigint()),
  told_at_ms: nullable(bigint()),
  /** null: only another event changes something. */
  due_at_ms: nullable(bigint()),
  /** When something joined it last. */
  changed_at_ms: bigint(),
  opened_at_ms: bigint(),
  closed_at_ms: nullable(bigint()),
});

export const ALERT_MEMBERS = table("alert_members", {
  group_id: bigint(),
  subject: text(),
  event: text<AlertEvent>(),
  severity: text<AlertSeverity>(),
  told_severity: nullable(text<AlertSeverity>()),
  firing: flag(),
  told: text<Told>(),
  acknowledged: flag(),
  monitor_id: nullable(bigint()),
  incident_id: nullable(bigint()),
  /** It is about this channel, which is not notified of itself. */
  channel_id: nullable(bigint()),
  /** What it is about, where that is no monitor. */
  name: nullable(prose()),
  why: prose(),
  since_ms: time(),
  joined_at_ms: bigint(),
  ended_at_ms: nullable(bigint()),
  /** When a message about it was made last. */
  said_at_ms: nullable(bigint()),
});

/** One message to one channel. */
export const NOTIFICATIONS = table("notifications", {
  id: id(),
  channel_id: bigint(),
  group_id: bigint(),
  project_id: bigint(),
  reason: text<SayReason>(),
  state: text<NotificationState>(),
  attempts: int(),
  /** Attempts that were begun: more than `attempts` after a death. */
  begun: int(),
  next_attempt_at_ms: nullable(bigint()),
  came_and_went: int(),
  /** What the service called it. */
  external_ref: nullable(prose()),
  /** The title as it was sent last. */
  shown: nullable(prose()),
  last_error: nullable(prose()),
  created_at_ms: bigint(),
  ended_at_ms: nullable(bigint()),
});

export const NOTIFICATION_ATTEMPTS = table("notification_attempts", {
  id: storeOnly(id()),
  notification_id: storeOnly(bigint()),
  at_ms: bigint(),
  status_code: nullable(int()),
  error: nullable(prose()),
  duration_ms: float(),
});
