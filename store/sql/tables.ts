/**
 * The schema as the query builder sees it; migrations/ makes it, schema.*.sql shows it. Times are Unix ms, booleans 0 or 1,
 * lists and objects JSON text.
 */
import type { Generated } from "kysely";

export type Flag = 0 | 1;

export interface Tables {
  readonly meta: MetaTable;
  readonly generation: GenerationTable;
  readonly users: UserTable;
  readonly workspaces: WorkspaceTable;
  readonly memberships: MembershipTable;
  readonly projects: ProjectTable;
  readonly api_keys: KeyTable;
  readonly monitors: MonitorTable;
  readonly live: LiveTable;
  readonly heartbeats: HeartbeatTable;
  readonly heartbeat_inbox: InboxTable;
  readonly incidents: IncidentTable;
  readonly incident_events: IncidentEventTable;
  readonly history: HistoryTable;
  readonly shards: ShardTable;
  readonly schedulers: SchedulerTable;
  readonly sink_spools: SinkSpoolTable;
  readonly outbox: OutboxTable;
  readonly webhooks: WebhookTable;
  readonly webhook_deliveries: DeliveryTable;
  readonly webhook_attempts: AttemptTable;
  readonly leases: LeaseTable;
  readonly maintenance_windows: MaintenanceTable;
  readonly expiry_alerts: ExpiryAlertTable;
  readonly jobs: JobTable;
  readonly on_demand: OnDemandTable;
  readonly subscriptions: SubscriptionTable;
  readonly excluded_servers: ExcludedServerTable;
  readonly hash_keys: HashKeyTable;
  readonly imported_servers: ImportedServerTable;
  readonly imported_configs: ImportedConfigTable;
  readonly config_results: ConfigResultTable;
  readonly locations: LocationTable;
  readonly quarantine: QuarantineTable;
}

interface MetaTable {
  name: string;
  value: string;
}

/** One row, id 1. */
interface GenerationTable {
  id: number;
  value: number;
}

interface UserTable {
  id: Generated<number>;
  email: string;
  /** Lowercased, unique. */
  email_key: string;
  name: string | null;
  active: Flag;
  created_at_ms: number;
}

interface WorkspaceTable {
  id: Generated<number>;
  name: string;
  plan: string;
  suspended: Flag;
  created_at_ms: number;
}

interface MembershipTable {
  organization_id: number;
  user_id: number;
  role: string;
  created_at_ms: number;
}

interface ProjectTable {
  id: Generated<number>;
  organization_id: number;
  name: string;
  active: Flag;
  created_at_ms: number;
}

interface KeyTable {
  id: Generated<number>;
  name: string;
  kind: string;
  user_id: number;
  organization_id: number | null;
  secret_hash: string;
  active: Flag;
  expires_at_ms: number | null;
  created_at_ms: number;
  last_used_at_ms: number | null;
}

export interface MonitorTable {
  id: Generated<number>;
  project_id: number;
  organization_id: number;
  name: string;
  name_key: string;
  search_key: string;
  kind: string;
  family: string;
  settings: string;
  sealed: string | null;
  /** A website's whole address where `settings` shows only a part of it. */
  url_sealed: string | null;
  interval_s: number;
  timeout_s: number;
  max_retries: number;
  tags: string;
  pause_reasons: string;
  /** 1 when there is no pause reason. */
  active: Flag;
  paused_at_ms: number | null;
  locations: string;
  disabled_locations: string;
  notify_on_partial: Flag;
  host: string | null;
  ssl_expiration_days: number | null;
  domain_expiration_days: number | null;
  grace_s: number | null;
  /** What the maintenance windows come to that have not ended. */
  maintenance_from_ms: number | null;
  maintenance_until_ms: number | null;
  subscription_id: number | null;
  created_at_ms: number;
  updated_at_ms: number;
  /** Set: a tombstone. */
  deleted_at_ms: number | null;
  /** The generation that its latest change raised. */
  generation: number;
}

/** One row per monitor that is not deleted. */
export interface LiveTable {
  monitor_id: number;
  status: string;
  last_checked_at_ms: number | null;
  latency_ms: number | null;
  connect_ms: number | null;
  region: string | null;
  lateness_ms: number | null;
  seq: number;
  last_row_status: string | null;
  certificate_valid: Flag | null;
  certificate_expires_at_ms: number | null;
  location_states: string;
  error_message: string | null;
}

interface HeartbeatTable {
  monitor_id: number;
  token_hash: string;
  token_sealed: string;
  last_call_at_ms: number | null;
}

interface InboxTable {
  id: Generated<number>;
  monitor_id: number;
  at_ms: number;
  up: Flag;
  message: string | null;
  ping_ms: number | null;
}

export interface IncidentTable {
  id: Generated<number>;
  monitor_id: number;
  project_id: number;
  level: string;
  started_at_ms: number;
  ended_at_ms: number | null;
  acknowledged_at_ms: number | null;
  acknowledged_by: string | null;
  error_message: string;
  error_category: string | null;
  locations: string;
  event_count: number;
}

export interface IncidentEventTable {
  id: Generated<number>;
  incident_id: number;
  type: string;
  at_ms: number;
  message: string;
  actor: string;
  location: string | null;
  data: string;
}

interface HistoryTable {
  id: Generated<number>;
  monitor_id: number;
  type: string;
  at_ms: number;
  message: string;
  actor: string;
}

interface ShardTable {
  shard: number;
  /** A scheduler's id; null: free. */
  holder: string | null;
  /** Counts takings. */
  epoch: number;
  /** Turns that no prober ran. */
  skipped: number;
}

interface SchedulerTable {
  /** Of its spool. */
  id: string;
  name: string;
  beat: number;
  report: string;
}

/** Up to which sequence a spool's results are applied. */
interface SinkSpoolTable {
  spool: string;
  applied_seq: number;
}

/** Events that no delivery was made of yet. */
interface OutboxTable {
  id: Generated<number>;
  /** Its name outside, given once and for all. */
  event_id: string;
  type: string;
  project_id: number;
  /** The only webhook that gets it; null: those of the project that want the type. */
  webhook_id: number | null;
  at_ms: number;
  data: string;
}

/** Work that was asked for; open until it has an end. */
export interface JobTable {
  id: Generated<number>;
  kind: string;
  project_id: number;
  monitor_id: number | null;
  subscription_id: number | null;
  incident_id: number | null;
  test_id: string | null;
  location: string | null;
  created_at_ms: number;
  expires_at_ms: number | null;
  ended_at_ms: number | null;
  /** Of a test: how it ended. */
  result: string | null;
}

/** On-demand tests that a workspace used, by calendar month (`YYYY-MM`, UTC). */
export interface SubscriptionTable {
  id: Generated<number>;
  project_id: number;
  organization_id: number;
  name: string | null;
  url_sealed: string;
  url_hash: string;
  sync_interval_s: number;
  timeout_s: number;
  max_workers: number;
  engine: string;
  enabled: Flag;
  last_synced_at_ms: number | null;
  last_server_count: number | null;
  last_sync_status: string;
  sync_error_message: string | null;
  failures: number;
  /** Lists in a row that were refused as shrunken. */
  shrunken: number;
  attempted_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Keys that hashes of secrets are made with. */
interface HashKeyTable {
  id: number;
  sealed: string;
}

interface ExcludedServerTable {
  subscription_id: number;
  server_address: string;
}

/** One row per monitor that was imported. */
export interface ImportedServerTable {
  monitor_id: number;
  server_address: string | null;
  server_name: string | null;
  config_count: number;
}

export interface ImportedConfigTable {
  id: Generated<number>;
  monitor_id: number;
  position: number;
  identity: string;
  tag: string;
  type: string;
  server: string;
  port: number;
  sealed: string;
}

export interface ConfigResultTable {
  config_id: number;
  location: string;
  at_ms: number;
  success: Flag;
  total_ms: number;
  error: string;
  error_category: string;
  public_ip: string;
  engine_used: string;
}

interface OnDemandTable {
  organization_id: number;
  month: string;
  used: number;
}

export interface WebhookTable {
  id: Generated<number>;
  project_id: number;
  /** As it is shown; in clear where `url_sealed` is null. */
  url: string;
  url_sealed: string | null;
  secret_sealed: string;
  /** Signs as well until then. */
  old_secret_sealed: string | null;
  old_secret_until_ms: number | null;
  /** null: every type. */
  events: string | null;
  active: Flag;
  off_reason: string | null;
  off_at_ms: number | null;
  /** The first failure since the last success. */
  failing_since_ms: number | null;
  last_success_at_ms: number | null;
  /** The earliest next attempt of its deliveries; null when none waits. */
  next_due_at_ms: number | null;
  created_at_ms: number;
}

export interface DeliveryTable {
  id: Generated<number>;
  webhook_id: number;
  /** The same for every webhook and every attempt of one event. */
  event_id: string;
  type: string;
  body: string;
  /** The incident that it tells of: its events say whether the alert arrived. */
  incident_id: number | null;
  state: string;
  attempts: number;
  /** null: it has ended. */
  next_attempt_at_ms: number | null;
  created_at_ms: number;
  ended_at_ms: number | null;
}

export interface AttemptTable {
  id: Generated<number>;
  delivery_id: number;
  at_ms: number;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
}

interface LeaseTable {
  name: string;
  holder: string | null;
  epoch: number;
  beat: number;
}

interface LocationTable {
  id: Generated<number>;
  /** Unique. */
  code: string;
  key_sealed: string;
  /** Of a rotation that is not finished. */
  next_key_sealed: string | null;
  created_at_ms: number;
}

interface QuarantineTable {
  id: Generated<number>;
  /** Unique. */
  fingerprint: string;
  kind: string;
  reason: string;
  strikes: number;
  monitor_id: number | null;
  location: string;
  first_at_ms: number;
  last_at_ms: number;
  until_ms: number;
}

interface MaintenanceTable {
  id: Generated<number>;
  monitor_id: number;
  starts_at_ms: number;
  ends_at_ms: number;
}

/** The most urgent threshold that was told of a certificate or a registration; another expiry date is another one. */
interface ExpiryAlertTable {
  monitor_id: number;
  subject: string;
  expires_at_ms: number;
  threshold_days: number;
}
