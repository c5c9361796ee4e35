/**
 * THE LIST of tables and their columns, as the migrations left them: names, types and nullability are compared with both databases by
 * tests. Times are Unix ms, booleans 0 or 1, lists and objects JSON text.
 */
import type { Selectable } from "kysely";
import type { Actor } from "../../../model/actor.ts";
import type { EventType, ExpirySubject } from "../../../model/event.ts";
import type { IncidentLevel } from "../../../model/incident.ts";
import { type Family, familyOf, type Kind } from "../../../model/kind.ts";
import type { Schedule } from "../../../model/maintenance-schedule.ts";
import { isActive, type Monitor, type PauseReason } from "../../../model/monitor.ts";
import type { PlanName, Role } from "../../../model/plan.ts";
import type { Selector } from "../../../model/selector.ts";
import type { LiveState, LiveStatus, LocationState, RowStatus } from "../../../model/status.ts";
import type { Engines, SyncStatus } from "../../../model/subscription.ts";
import type { ErrorCategory } from "../../../model/verdict.ts";
import { configCell, SEALED_CELLS } from "../../sealed-cells.ts";
import {
  ALERT_GROUPS,
  ALERT_MEMBERS,
  ALERT_RULE_VERSIONS,
  ALERT_RULES,
  CHANNELS,
  NOTIFICATION_ATTEMPTS,
  NOTIFICATIONS,
  QUIET_HOURS,
} from "./alert-tables.ts";
import { AUDIT } from "./audit-table.ts";
import {
  bigint,
  derived,
  flag,
  float,
  id,
  int,
  json,
  type KyselyTable,
  list,
  named,
  nullable,
  prose,
  sealed,
  storeOnly,
  type Table,
  table,
  text,
  time,
} from "./column.ts";
import { DOCUMENT_THINGS, DOCUMENTS } from "./document-tables.ts";
import { SAVED_VIEWS } from "./saved-view-table.ts";
import { IDENTITIES, PASSKEYS, SESSIONS, SIGN_IN_ATTEMPTS, SIGN_IN_CODES } from "./sign-in-tables.ts";
import { STATUS_PAGE_DOMAINS, STATUS_PAGE_UPDATES, STATUS_PAGES } from "./status-page-tables.ts";
import { caseKey, searchKey } from "./text.ts";
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOKS } from "./webhook-tables.ts";

const meta = table("meta", { name: text(), value: text() });
/** One row, id 1. */
const generation = table("generation", { id: int(), value: bigint() });

export const USERS = table("users", {
  id: id(),
  email: prose(),
  /** Lowercased, unique. */
  email_key: derived(text(), (user: { readonly email: string }) => caseKey(user.email)),
  name: nullable(prose()),
  active: flag(),
  created_at_ms: storeOnly(bigint()),
});

export const WORKSPACES = table("workspaces", {
  id: id(),
  name: prose(),
  plan: text<PlanName>(),
  suspended: flag(),
  created_at_ms: bigint(),
});

const memberships = table("memberships", {
  organization_id: bigint(),
  user_id: bigint(),
  role: text<Role>(),
  created_at_ms: bigint(),
});

export const PROJECTS = table("projects", {
  id: id(),
  organization_id: bigint(),
  name: prose(),
  active: flag(),
  created_at_ms: bigint(),
});

export const API_KEYS = table("api_keys", {
  id: id(),
  name: prose(),
  kind: text<"workspace" | "account">(),
  user_id: bigint(),
  organization_id: nullable(bigint()),
  secret_hash: text(),
  active: flag(),
  expires_at_ms: nullable(bigint()),
  created_at_ms: bigint(),
  last_used_at_ms: nullable(bigint()),
});

type Written = Omit<Monitor, "id">;

/** The members of Monitor under their own names; `maintenance`, `sealed` and `urlSealed` are made in monitors/rows.ts. */
export const MONITORS = table("monitors", {
  id: id(),
  project_id: bigint(),
  organization_id: bigint(),
  name: prose(),
  name_key: derived(text(), (monitor: Written) => caseKey(monitor.name)),
  search_key: derived(text(), (monitor: Written) => searchKey(monitor)),
  kind: text<Kind>(),
  family: derived(text<Family>(), (monitor: Written) => familyOf(monitor.kind)),
  settings: json<Monitor["settings"]>(),
  sealed: storeOnly(nullable(sealed(SEALED_CELLS.tunnel, text()))),
  /** A website's whole address where `settings` shows only a part of it. */
  url_sealed: derived(
    nullable(sealed(SEALED_CELLS.target, text())),
    (monitor: Written): string | null => monitor.urlSealed ?? null,
  ),
  interval_s: int(),
  timeout_s: int(),
  timeout_follows_interval: flag(),
  max_retries: int(),
  tags: list(),
  pause_reasons: list<PauseReason>(),
  /** 1 when there is no pause reason. */
  active: derived(flag(), (monitor: Written) => isActive(monitor)),
  paused_at_ms: nullable(bigint()),
  locations: list(),
  disabled_locations: list(),
  notify_on_partial: flag(),
  host: nullable(prose()),
  ssl_expiration_days: nullable(int()),
  domain_expiration_days: nullable(int()),
  grace_s: nullable(int()),
  /** What the maintenance windows come to that have not ended. */
  maintenance_from_ms: storeOnly(nullable(bigint())),
  maintenance_until_ms: storeOnly(nullable(bigint())),
  subscription_id: nullable(bigint()),
  created_at_ms: bigint(),
  updated_at_ms: bigint(),
  /** Set: a tombstone. */
  deleted_at_ms: storeOnly(nullable(bigint())),
  /** The generation that its latest change raised. */
  generation: storeOnly(bigint()),
});

/** One row per monitor that is not deleted: the members of LiveState under their own names, but for `certificate`. */
export const LIVE = table("live", {
  monitor_id: bigint(),
  status: text<LiveStatus>(),
  last_checked_at_ms: nullable(time()),
  latency_ms: nullable(float()),
  connect_ms: nullable(float()),
  region: nullable(text()),
  lateness_ms: nullable(float()),
  seq: bigint(),
  last_row_status: nullable(text<RowStatus>()),
  last_row_id: nullable(text()),
  certificate_valid: derived(nullable(flag()), ({ certificate }: LiveState) => certificate?.valid ?? null),
  certificate_expires_at_ms: derived(
    nullable(time()),
    ({ certificate }: LiveState) => certificate?.expiresAtMs ?? null,
  ),
  location_states: named("locations", json<Readonly<Record<string, LocationState>>>()),
  error_message: nullable(prose()),
  status_since_ms: nullable(time()),
});

const heartbeats = table("heartbeats", {
  monitor_id: bigint(),
  token_hash: text(),
  token_sealed: sealed(SEALED_CELLS.heartbeat, text()),
  last_call_at_ms: nullable(bigint()),
});

export const HEARTBEAT_INBOX = table("heartbeat_inbox", {
  id: id(),
  monitor_id: bigint(),
  at_ms: bigint(),
  up: flag(),
  message: nullable(prose()),
  ping_ms: nullable(float()),
});

export const INCIDENTS = table("incidents", {
  id: id(),
  monitor_id: bigint(),
  project_id: bigint(),
  level: text<IncidentLevel>(),
  started_at_ms: bigint(),
  ended_at_ms: nullable(bigint()),
  acknowledged_at_ms: nullable(bigint()),
  acknowledged_by: nullable(json<Actor>()),
  error_message: prose(),
  error_category: nullable(text<ErrorCategory>()),
  locations: json<readonly string[]>(),
  event_count: int(),
  /** What people wrote of it (incidents/report.ts). */
  public_title: storeOnly(nullable(prose())),
  postmortem: storeOnly(nullable(prose())),
  postmortem_public: storeOnly(nullable(flag())),
});

export const INCIDENT_EVENTS = table("incident_events", {
  id: id(),
  incident_id: storeOnly(bigint()),
  type: text(),
  at_ms: time(),
  message: prose(),
  actor: json<Actor>(),
  location: nullable(prose()),
  data: json<Readonly<Record<string, unknown>>>(),
});

export const HISTORY = table("history", {
  id: id(),
  monitor_id: storeOnly(bigint()),
  type: text<"created" | "updated" | "paused" | "resumed">(),
  at_ms: bigint(),
  message: prose(),
  actor: json<Actor>(),
});

const shards = table("shards", {
  shard: int(),
  /** A scheduler's id; null: free. */
  holder: nullable(text()),
  /** Counts takings. */
  epoch: bigint(),
  /** Turns that no prober ran. */
  skipped: bigint(),
});

const schedulers = table("schedulers", {
  /** Of its spool. */
  id: text(),
  name: text(),
  beat: bigint(),
  report: text(),
});

/** Up to which sequence a spool's results are applied. */
const sinkSpools = table("sink_spools", { spool: text(), applied_seq: bigint() });

/** Events that no delivery was made of yet. */
export const OUTBOX = table("outbox", {
  id: id(),
  /** Its name outside, given once and for all. */
  event_id: text(),
  type: text<EventType>(),
  project_id: bigint(),
  /** The only webhook that gets it; null: all webhooks of the project with this event type. */
  webhook_id: nullable(bigint()),
  at_ms: bigint(),
  data: json<Readonly<Record<string, unknown>>>(),
});

const leases = table("leases", { name: text(), holder: nullable(text()), epoch: bigint(), beat: bigint() });

const maintenanceWindows = table("maintenance_windows", {
  id: id(),
  monitor_id: bigint(),
  starts_at_ms: bigint(),
  ends_at_ms: bigint(),
  /** The schedule whose turn it is; null: a request made it. */
  maintenance_id: nullable(bigint()),
});

/** Schedules of maintenance. */
export const MAINTENANCES = table("maintenances", {
  id: id(),
  project_id: bigint(),
  title: prose(),
  text: prose(),
  selector: json<Selector>(),
  schedule: json<Schedule>(),
  timezone: text(),
  starts_on: nullable(text()),
  ends_on: nullable(text()),
  announce: flag(),
  /** Turns that began before it were ended. */
  ended_until_ms: nullable(bigint()),
  over_at_ms: nullable(bigint()),
  created_at_ms: bigint(),
  updated_at_ms: storeOnly(bigint()),
});

/** The most urgent threshold of a certificate or a registration of which an alert was sent; another expiry date is another one. */
const expiryAlerts = table("expiry_alerts", {
  monitor_id: bigint(),
  subject: text<ExpirySubject>(),
  expires_at_ms: bigint(),
  threshold_days: int(),
});

/** Work that was asked for; open until it has an end. */
const jobs = table("jobs", {
  id: id(),
  kind: text<"test" | "retest" | "sync">(),
  project_id: bigint(),
  monitor_id: nullable(bigint()),
  subscription_id: nullable(bigint()),
  incident_id: nullable(bigint()),
  test_id: nullable(text()),
  location: nullable(text()),
  created_at_ms: bigint(),
  expires_at_ms: nullable(bigint()),
  ended_at_ms: nullable(bigint()),
  /** Of a test: how it ended. */
  result: nullable(text()),
});

/** On-demand tests that a workspace used, by calendar month (`YYYY-MM`, UTC). */
const onDemand = table("on_demand", { organization_id: bigint(), month: text(), used: bigint() });

export const SUBSCRIPTIONS = table("subscriptions", {
  id: id(),
  project_id: bigint(),
  organization_id: bigint(),
  name: nullable(prose()),
  url_sealed: sealed(SEALED_CELLS.subscription, text()),
  url_hash: storeOnly(text()),
  sync_interval_s: int(),
  timeout_s: int(),
  max_workers: int(),
  config_alert_percent: int(),
  engine: text<Engines>(),
  enabled: flag(),
  last_synced_at_ms: nullable(bigint()),
  last_server_count: nullable(int()),
  last_sync_status: text<SyncStatus>(),
  sync_error_message: nullable(prose()),
  failures: int(),
  /** Lists in a row that were refused as shrunken. */
  shrunken: storeOnly(int()),
  attempted_at_ms: storeOnly(nullable(bigint())),
  created_at_ms: bigint(),
  updated_at_ms: bigint(),
});

const excludedServers = table("excluded_servers", { subscription_id: bigint(), server_address: text() });

/** Keys that hashes of secrets are made with. */
const hashKeys = table("hash_keys", { id: int(), sealed: sealed(SEALED_CELLS.hashKey, text()) });

/** One row per monitor that was imported. */
export const IMPORTED_SERVERS = table("imported_servers", {
  monitor_id: storeOnly(bigint()),
  server_address: nullable(prose()),
  server_name: nullable(prose()),
  config_count: int(),
});

export const IMPORTED_CONFIGS = table("imported_configs", {
  id: id(),
  monitor_id: bigint(),
  position: int(),
  identity: text(),
  tag: prose(),
  type: text<Kind>(),
  server: prose(),
  port: int(),
  // A config is sealed before it has a row, so it is bound to what it says.
  sealed: sealed((projectId = 0, identity = "") => configCell(Number(projectId), String(identity)), text(), [
    "(select m.project_id from monitors m where m.id = imported_configs.monitor_id)",
    "identity",
  ]),
});

export const CONFIG_RESULTS = table("config_results", {
  config_id: bigint(),
  location: text(),
  at_ms: time(),
  success: flag(),
  total_ms: float(),
  error: prose(),
  error_category: text(),
  public_ip: prose(),
  engine_used: text(),
  exit_country: text(),
});

const LOCATIONS = table("locations", {
  id: storeOnly(id()),
  /** Unique. */
  code: text(),
  key_sealed: sealed(SEALED_CELLS.location, text(), ["code"]),
  /** Of a rotation that is not finished. */
  next_key_sealed: nullable(sealed(SEALED_CELLS.location, text(), ["code"])),
  created_at_ms: bigint(),
});

const QUARANTINE = table("quarantine", {
  id: id(),
  /** Unique. */
  fingerprint: text(),
  kind: text(),
  reason: text(),
  strikes: int(),
  monitor_id: nullable(bigint()),
  location: text(),
  first_at_ms: bigint(),
  last_at_ms: bigint(),
  until_ms: bigint(),
});

export const TABLES = {
  meta,
  generation,
  users: USERS,
  workspaces: WORKSPACES,
  memberships,
  projects: PROJECTS,
  api_keys: API_KEYS,
  sessions: SESSIONS,
  sign_in_codes: SIGN_IN_CODES,
  identities: IDENTITIES,
  sign_in_attempts: SIGN_IN_ATTEMPTS,
  passkeys: PASSKEYS,
  saved_views: SAVED_VIEWS,
  heartbeats,
  hash_keys: hashKeys,
  monitors: MONITORS,
  live: LIVE,
  heartbeat_inbox: HEARTBEAT_INBOX,
  incidents: INCIDENTS,
  incident_events: INCIDENT_EVENTS,
  history: HISTORY,
  shards,
  schedulers,
  sink_spools: sinkSpools,
  outbox: OUTBOX,
  webhooks: WEBHOOKS,
  webhook_deliveries: WEBHOOK_DELIVERIES,
  webhook_attempts: WEBHOOK_ATTEMPTS,
  channels: CHANNELS,
  alert_rules: ALERT_RULES,
  alert_rule_versions: ALERT_RULE_VERSIONS,
  quiet_hours: QUIET_HOURS,
  alert_groups: ALERT_GROUPS,
  alert_members: ALERT_MEMBERS,
  notifications: NOTIFICATIONS,
  notification_attempts: NOTIFICATION_ATTEMPTS,
  leases,
  maintenance_windows: maintenanceWindows,
  maintenances: MAINTENANCES,
  expiry_alerts: expiryAlerts,
  jobs,
  on_demand: onDemand,
  subscriptions: SUBSCRIPTIONS,
  excluded_servers: excludedServers,
  imported_servers: IMPORTED_SERVERS,
  imported_configs: IMPORTED_CONFIGS,
  config_results: CONFIG_RESULTS,
  locations: LOCATIONS,
  quarantine: QUARANTINE,
  audit: AUDIT,
  status_pages: STATUS_PAGES,
  status_page_domains: STATUS_PAGE_DOMAINS,
  status_page_updates: STATUS_PAGE_UPDATES,
  documents: DOCUMENTS,
  document_things: DOCUMENT_THINGS,
} as const;

/** The schema as the query builder sees it. */
export type Tables = {
  readonly [Name in keyof typeof TABLES]: (typeof TABLES)[Name] extends Table<string, infer Of>
    ? KyselyTable<Of>
    : never;
};
/** What a query answers of all columns. */
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
