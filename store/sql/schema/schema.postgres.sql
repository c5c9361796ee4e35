-- The schema on postgres; written by the tests, compared by them.

create table alert_groups (
  id bigint not null identity,
  project_id bigint not null,
  rule_id bigint not null,
  key text not null,
  is_notice integer not null,
  is_fold integer not null,
  state text not null,
  folded_into bigint,
  step integer not null,
  repeats integer not null,
  first_told_at_ms bigint,
  told_at_ms bigint,
  due_at_ms bigint,
  changed_at_ms bigint not null,
  opened_at_ms bigint not null,
  closed_at_ms bigint,
  constraint alert_groups_pkey PRIMARY KEY (id)
);
CREATE INDEX alert_groups_closed ON public.alert_groups USING btree (closed_at_ms) WHERE (closed_at_ms IS NOT NULL);
CREATE INDEX alert_groups_due ON public.alert_groups USING btree (due_at_ms) WHERE (due_at_ms IS NOT NULL);
CREATE UNIQUE INDEX alert_groups_open ON public.alert_groups USING btree (project_id, rule_id, key) WHERE (closed_at_ms IS NULL);
CREATE UNIQUE INDEX alert_groups_pkey ON public.alert_groups USING btree (id);

create table alert_members (
  group_id bigint not null,
  subject text not null,
  event text not null,
  severity text not null,
  told_severity text,
  firing integer not null,
  told text not null,
  acknowledged integer not null,
  monitor_id bigint,
  incident_id bigint,
  channel_id bigint,
  name text,
  why text not null,
  since_ms bigint not null,
  joined_at_ms bigint not null,
  ended_at_ms bigint,
  said_at_ms bigint,
  constraint alert_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES alert_groups(id) ON DELETE CASCADE,
  constraint alert_members_key PRIMARY KEY (group_id, subject)
);
CREATE INDEX alert_members_by_monitor ON public.alert_members USING btree (monitor_id);
CREATE INDEX alert_members_by_subject ON public.alert_members USING btree (subject);
CREATE UNIQUE INDEX alert_members_key ON public.alert_members USING btree (group_id, subject);

create table alert_rule_versions (
  project_id bigint not null,
  rules bigint not null,
  quiet_hours bigint not null,
  constraint alert_rule_versions_pkey PRIMARY KEY (project_id)
);
CREATE UNIQUE INDEX alert_rule_versions_pkey ON public.alert_rule_versions USING btree (project_id);

create table alert_rules (
  id bigint not null identity,
  project_id bigint not null,
  position integer not null,
  name text not null,
  active integer not null,
  goes_on integer not null,
  match text not null,
  channels text,
  group_by text not null,
  delay_s integer not null,
  wait_s integer not null,
  interval_s integer not null,
  repeat_s integer,
  repeat_growth integer not null,
  recovered integer not null,
  quiet_hours_id bigint,
  escalation text not null,
  template text,
  external_key text,
  managed_by bigint,
  removed_at_ms bigint,
  constraint alert_rules_pkey PRIMARY KEY (id)
);
CREATE INDEX alert_rules_in_order ON public.alert_rules USING btree (project_id, "position");
CREATE UNIQUE INDEX alert_rules_pkey ON public.alert_rules USING btree (id);

create table api_keys (
  id bigint not null identity,
  name text not null,
  kind text not null,
  user_id bigint not null,
  organization_id bigint,
  secret_hash text not null,
  active integer not null,
  expires_at_ms bigint,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES workspaces(id),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX api_keys_by_user ON public.api_keys USING btree (user_id);
CREATE INDEX api_keys_by_workspace ON public.api_keys USING btree (organization_id);
CREATE UNIQUE INDEX api_keys_pkey ON public.api_keys USING btree (id);

create table audit (
  id bigint not null identity,
  organization_id bigint not null,
  project_id bigint,
  at_ms bigint not null,
  actor text not null,
  user_id bigint,
  what text not null,
  subject text not null,
  detail text not null,
  address text,
  constraint audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_in_order ON public.audit USING btree (organization_id, at_ms, id);
CREATE UNIQUE INDEX audit_pkey ON public.audit USING btree (id);

create table channels (
  id bigint not null identity,
  project_id bigint not null,
  kind text not null,
  name text not null,
  settings text not null,
  secret_names text not null,
  sealed text,
  active integer not null,
  verified_at_ms bigint,
  failing_since_ms bigint,
  refusals integer not null,
  last_success_at_ms bigint,
  last_error text,
  external_key text,
  managed_by bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  constraint channels_pkey PRIMARY KEY (id),
  constraint channels_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX channels_by_name ON public.channels USING btree (project_id, name);
CREATE UNIQUE INDEX channels_pkey ON public.channels USING btree (id);

create table config_results (
  config_id bigint not null,
  location text not null,
  at_ms bigint not null,
  success integer not null,
  total_ms double precision not null,
  error text not null,
  error_category text not null,
  public_ip text not null,
  engine_used text not null,
  exit_country text not null,
  constraint config_results_config_id_fkey FOREIGN KEY (config_id) REFERENCES imported_configs(id) ON DELETE CASCADE,
  constraint config_results_pkey PRIMARY KEY (config_id, location)
);
CREATE UNIQUE INDEX config_results_pkey ON public.config_results USING btree (config_id, location);

create table document_things (
  project_id bigint not null,
  kind text not null,
  key text not null,
  thing_id bigint not null,
  document_id bigint,
  marks text not null,
  constraint document_things_document_id_fkey FOREIGN KEY (document_id) REFERENCES documents(id),
  constraint document_things_pkey PRIMARY KEY (project_id, kind, key),
  constraint document_things_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX document_things_by_thing ON public.document_things USING btree (kind, thing_id);
CREATE UNIQUE INDEX document_things_pkey ON public.document_things USING btree (project_id, kind, key);

create table documents (
  id bigint not null identity,
  project_id bigint not null,
  name text not null,
  applied_at_ms bigint not null,
  applied_by text not null,
  hash text not null,
  constraint documents_pkey PRIMARY KEY (id),
  constraint documents_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX documents_by_name ON public.documents USING btree (project_id, name);
CREATE UNIQUE INDEX documents_pkey ON public.documents USING btree (id);

create table excluded_servers (
  subscription_id bigint not null,
  server_address text not null,
  constraint excluded_servers_pkey PRIMARY KEY (subscription_id, server_address),
  constraint excluded_servers_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX excluded_servers_pkey ON public.excluded_servers USING btree (subscription_id, server_address);

create table expiry_alerts (
  monitor_id bigint not null,
  subject text not null,
  expires_at_ms bigint not null,
  threshold_days integer not null,
  constraint expiry_alerts_pkey PRIMARY KEY (monitor_id, subject, expires_at_ms)
);
CREATE UNIQUE INDEX expiry_alerts_pkey ON public.expiry_alerts USING btree (monitor_id, subject, expires_at_ms);

create table generation (
  id integer not null,
  value bigint not null,
  constraint generation_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX generation_pkey ON public.generation USING btree (id);

create table hash_keys (
  id integer not null,
  sealed text not null,
  constraint hash_keys_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX hash_keys_pkey ON public.hash_keys USING btree (id);

create table heartbeat_inbox (
  id bigint not null identity,
  monitor_id bigint not null,
  at_ms bigint not null,
  up integer not null,
  message text,
  ping_ms double precision,
  constraint heartbeat_inbox_pkey PRIMARY KEY (id)
);
CREATE INDEX heartbeat_inbox_by_monitor ON public.heartbeat_inbox USING btree (monitor_id);
CREATE UNIQUE INDEX heartbeat_inbox_pkey ON public.heartbeat_inbox USING btree (id);

create table heartbeats (
  monitor_id bigint not null,
  token_hash text not null,
  token_sealed text not null,
  last_call_at_ms bigint,
  constraint heartbeats_pkey PRIMARY KEY (monitor_id),
  constraint heartbeats_token_hash_key UNIQUE (token_hash)
);
CREATE UNIQUE INDEX heartbeats_pkey ON public.heartbeats USING btree (monitor_id);
CREATE UNIQUE INDEX heartbeats_token_hash_key ON public.heartbeats USING btree (token_hash);

create table history (
  id bigint not null identity,
  monitor_id bigint not null,
  type text not null,
  at_ms bigint not null,
  message text not null,
  actor text not null,
  constraint history_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id),
  constraint history_pkey PRIMARY KEY (id)
);
CREATE INDEX history_in_order ON public.history USING btree (monitor_id, at_ms, id);
CREATE UNIQUE INDEX history_pkey ON public.history USING btree (id);

create table identities (
  provider text not null,
  subject text not null,
  user_id bigint not null,
  email text not null,
  linked_at_ms bigint not null,
  constraint identities_key PRIMARY KEY (provider, subject),
  constraint identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX identities_by_user ON public.identities USING btree (user_id, provider);
CREATE UNIQUE INDEX identities_key ON public.identities USING btree (provider, subject);

create table imported_configs (
  id bigint not null identity,
  monitor_id bigint not null,
  position integer not null,
  identity text not null,
  tag text not null,
  type text not null,
  server text not null,
  port integer not null,
  sealed text not null,
  constraint imported_configs_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES imported_servers(monitor_id) ON DELETE CASCADE,
  constraint imported_configs_pkey PRIMARY KEY (id)
);
CREATE INDEX imported_configs_in_order ON public.imported_configs USING btree (monitor_id, "position");
CREATE UNIQUE INDEX imported_configs_pkey ON public.imported_configs USING btree (id);

create table imported_servers (
  monitor_id bigint not null,
  server_address text,
  server_name text,
  config_count integer not null,
  constraint imported_servers_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id),
  constraint imported_servers_pkey PRIMARY KEY (monitor_id)
);
CREATE UNIQUE INDEX imported_servers_pkey ON public.imported_servers USING btree (monitor_id);

create table incident_events (
  id bigint not null identity,
  incident_id bigint not null,
  type text not null,
  at_ms bigint not null,
  message text not null,
  actor text not null,
  location text,
  data text not null,
  constraint incident_events_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE,
  constraint incident_events_pkey PRIMARY KEY (id)
);
CREATE INDEX incident_events_in_order ON public.incident_events USING btree (incident_id, at_ms, id);
CREATE UNIQUE INDEX incident_events_pkey ON public.incident_events USING btree (id);

create table incidents (
  id bigint not null identity,
  monitor_id bigint not null,
  project_id bigint not null,
  level text not null,
  started_at_ms bigint not null,
  ended_at_ms bigint,
  acknowledged_at_ms bigint,
  acknowledged_by text,
  error_message text not null,
  error_category text,
  locations text not null,
  event_count integer not null,
  public_title text,
  postmortem text,
  postmortem_public integer,
  constraint incidents_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id),
  constraint incidents_pkey PRIMARY KEY (id),
  constraint incidents_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX incidents_by_monitor ON public.incidents USING btree (monitor_id, started_at_ms, id);
CREATE INDEX incidents_by_start ON public.incidents USING btree (project_id, started_at_ms, id);
CREATE UNIQUE INDEX incidents_one_open ON public.incidents USING btree (monitor_id) WHERE (ended_at_ms IS NULL);
CREATE INDEX incidents_open ON public.incidents USING btree (project_id) WHERE (ended_at_ms IS NULL);
CREATE UNIQUE INDEX incidents_pkey ON public.incidents USING btree (id);

create table jobs (
  id bigint not null identity,
  kind text not null,
  project_id bigint not null,
  monitor_id bigint,
  subscription_id bigint,
  incident_id bigint,
  test_id text,
  location text,
  created_at_ms bigint not null,
  expires_at_ms bigint,
  ended_at_ms bigint,
  result text,
  constraint jobs_pkey PRIMARY KEY (id)
);
CREATE INDEX jobs_by_monitor ON public.jobs USING btree (monitor_id);
CREATE INDEX jobs_ended ON public.jobs USING btree (ended_at_ms) WHERE (ended_at_ms IS NOT NULL);
CREATE UNIQUE INDEX jobs_one_sync ON public.jobs USING btree (subscription_id) WHERE ((subscription_id IS NOT NULL) AND (ended_at_ms IS NULL));
CREATE INDEX jobs_open ON public.jobs USING btree (kind, id) WHERE (ended_at_ms IS NULL);
CREATE UNIQUE INDEX jobs_pkey ON public.jobs USING btree (id);

create table kysely_migration (
  name character varying(255) not null,
  timestamp character varying(255) not null,
  constraint kysely_migration_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX kysely_migration_pkey ON public.kysely_migration USING btree (name);

create table kysely_migration_lock (
  id character varying(255) not null,
  is_locked integer not null,
  constraint kysely_migration_lock_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX kysely_migration_lock_pkey ON public.kysely_migration_lock USING btree (id);

create table leases (
  name text not null,
  holder text,
  epoch bigint not null,
  beat bigint not null,
  constraint leases_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX leases_pkey ON public.leases USING btree (name);

create table live (
  monitor_id bigint not null,
  status text not null,
  last_checked_at_ms bigint,
  latency_ms double precision,
  connect_ms double precision,
  region text,
  lateness_ms double precision,
  seq bigint not null,
  last_row_status text,
  certificate_valid integer,
  certificate_expires_at_ms bigint,
  location_states text not null,
  error_message text,
  last_row_id text,
  status_since_ms bigint,
  constraint live_pkey PRIMARY KEY (monitor_id)
);
CREATE UNIQUE INDEX live_pkey ON public.live USING btree (monitor_id);

create table locations (
  id bigint not null identity,
  code text not null,
  key_sealed text not null,
  next_key_sealed text,
  created_at_ms bigint not null,
  constraint locations_code_key UNIQUE (code),
  constraint locations_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX locations_code_key ON public.locations USING btree (code);
CREATE UNIQUE INDEX locations_pkey ON public.locations USING btree (id);

create table maintenance_windows (
  id bigint not null identity,
  monitor_id bigint not null,
  starts_at_ms bigint not null,
  ends_at_ms bigint not null,
  maintenance_id bigint,
  constraint maintenance_windows_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES monitors(id),
  constraint maintenance_windows_pkey PRIMARY KEY (id)
);
CREATE INDEX maintenance_windows_by_monitor ON public.maintenance_windows USING btree (monitor_id, ends_at_ms);
CREATE INDEX maintenance_windows_by_schedule ON public.maintenance_windows USING btree (maintenance_id, starts_at_ms, monitor_id);
CREATE INDEX maintenance_windows_open ON public.maintenance_windows USING btree (ends_at_ms);
CREATE UNIQUE INDEX maintenance_windows_pkey ON public.maintenance_windows USING btree (id);

create table maintenances (
  id bigint not null identity,
  project_id bigint not null,
  title text not null,
  text text not null,
  selector text not null,
  schedule text not null,
  timezone text not null,
  starts_on text,
  ends_on text,
  announce integer not null,
  ended_until_ms bigint,
  over_at_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  constraint maintenances_pkey PRIMARY KEY (id),
  constraint maintenances_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX maintenances_by_project ON public.maintenances USING btree (project_id);
CREATE UNIQUE INDEX maintenances_pkey ON public.maintenances USING btree (id);

create table memberships (
  organization_id bigint not null,
  user_id bigint not null,
  role text not null,
  created_at_ms bigint not null,
  constraint memberships_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES workspaces(id),
  constraint memberships_pkey PRIMARY KEY (user_id, organization_id),
  constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX memberships_by_workspace ON public.memberships USING btree (organization_id);
CREATE UNIQUE INDEX memberships_pkey ON public.memberships USING btree (user_id, organization_id);

create table meta (
  name text not null,
  value text not null,
  constraint meta_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX meta_pkey ON public.meta USING btree (name);

create table monitors (
  id bigint not null identity,
  project_id bigint not null,
  organization_id bigint not null,
  name text not null,
  name_key text collate "C" not null,
  search_key text not null,
  kind text not null,
  family text not null,
  settings text not null,
  interval_s integer not null,
  timeout_s integer not null,
  max_retries integer not null,
  tags text not null,
  pause_reasons text not null,
  active integer not null,
  paused_at_ms bigint,
  locations text not null,
  disabled_locations text not null,
  notify_on_partial integer not null,
  host text,
  ssl_expiration_days integer,
  domain_expiration_days integer,
  grace_s integer,
  subscription_id bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  deleted_at_ms bigint,
  generation bigint not null,
  sealed text,
  maintenance_from_ms bigint,
  maintenance_until_ms bigint,
  url_sealed text,
  timeout_follows_interval integer not null,
  constraint monitors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES workspaces(id),
  constraint monitors_pkey PRIMARY KEY (id),
  constraint monitors_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX monitors_by_generation ON public.monitors USING btree (generation);
CREATE INDEX monitors_by_host ON public.monitors USING btree (project_id, host, ((COALESCE(ssl_expiration_days, 0) + COALESCE(domain_expiration_days, 0))) DESC, id) WHERE (deleted_at_ms IS NULL);
CREATE INDEX monitors_by_name ON public.monitors USING btree (project_id, deleted_at_ms, name_key, id, family, kind, active);
CREATE INDEX monitors_by_subscription ON public.monitors USING btree (subscription_id) WHERE ((subscription_id IS NOT NULL) AND (deleted_at_ms IS NULL));
CREATE INDEX monitors_by_workspace ON public.monitors USING btree (organization_id, family, pause_reasons) WHERE (deleted_at_ms IS NULL);
CREATE INDEX monitors_deleted ON public.monitors USING btree (project_id, deleted_at_ms) WHERE (deleted_at_ms IS NOT NULL);
CREATE UNIQUE INDEX monitors_pkey ON public.monitors USING btree (id);

create table notification_attempts (
  id bigint not null identity,
  notification_id bigint not null,
  at_ms bigint not null,
  status_code integer,
  error text,
  duration_ms double precision not null,
  constraint notification_attempts_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id) ON DELETE CASCADE,
  constraint notification_attempts_pkey PRIMARY KEY (id)
);
CREATE INDEX attempts_of_notification ON public.notification_attempts USING btree (notification_id);
CREATE UNIQUE INDEX notification_attempts_pkey ON public.notification_attempts USING btree (id);

create table notifications (
  id bigint not null identity,
  channel_id bigint not null,
  group_id bigint not null,
  project_id bigint not null,
  reason text not null,
  state text not null,
  attempts integer not null,
  begun integer not null,
  next_attempt_at_ms bigint,
  came_and_went integer not null,
  external_ref text,
  shown text,
  last_error text,
  created_at_ms bigint not null,
  ended_at_ms bigint,
  constraint notifications_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
  constraint notifications_group_id_fkey FOREIGN KEY (group_id) REFERENCES alert_groups(id) ON DELETE CASCADE,
  constraint notifications_pkey PRIMARY KEY (id)
);
CREATE INDEX notifications_due ON public.notifications USING btree (next_attempt_at_ms, channel_id) WHERE (next_attempt_at_ms IS NOT NULL);
CREATE INDEX notifications_of_channel ON public.notifications USING btree (channel_id, id);
CREATE INDEX notifications_of_group ON public.notifications USING btree (group_id, channel_id);
CREATE UNIQUE INDEX notifications_pkey ON public.notifications USING btree (id);

create table on_demand (
  organization_id bigint not null,
  month text not null,
  used bigint not null,
  constraint on_demand_pkey PRIMARY KEY (organization_id, month)
);
CREATE UNIQUE INDEX on_demand_pkey ON public.on_demand USING btree (organization_id, month);

create table outbox (
  id bigint not null identity,
  event_id text not null,
  type text not null,
  project_id bigint not null,
  webhook_id bigint,
  at_ms bigint not null,
  data text not null,
  constraint outbox_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX outbox_pkey ON public.outbox USING btree (id);

create table passkeys (
  id bigint not null identity,
  credential_id text not null,
  user_id bigint not null,
  public_key text not null,
  counter bigint not null,
  name text not null,
  added_via text not null,
  created_at_ms bigint not null,
  used_at_ms bigint,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX passkeys_by_credential ON public.passkeys USING btree (credential_id);
CREATE INDEX passkeys_by_user ON public.passkeys USING btree (user_id);
CREATE UNIQUE INDEX passkeys_pkey ON public.passkeys USING btree (id);

create table projects (
  id bigint not null identity,
  organization_id bigint not null,
  name text not null,
  active integer not null,
  created_at_ms bigint not null,
  constraint projects_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES workspaces(id),
  constraint projects_pkey PRIMARY KEY (id)
);
CREATE INDEX projects_by_workspace ON public.projects USING btree (organization_id);
CREATE UNIQUE INDEX projects_pkey ON public.projects USING btree (id);

create table quarantine (
  id bigint not null identity,
  fingerprint text not null,
  kind text not null,
  reason text not null,
  strikes integer not null,
  monitor_id bigint,
  location text not null,
  first_at_ms bigint not null,
  last_at_ms bigint not null,
  until_ms bigint not null,
  constraint quarantine_fingerprint_key UNIQUE (fingerprint),
  constraint quarantine_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX quarantine_fingerprint_key ON public.quarantine USING btree (fingerprint);
CREATE UNIQUE INDEX quarantine_pkey ON public.quarantine USING btree (id);

create table quiet_hours (
  id bigint not null identity,
  project_id bigint not null,
  name text not null,
  timezone text not null,
  spans text not null,
  mode text not null,
  let_through text not null,
  constraint quiet_hours_pkey PRIMARY KEY (id)
);
CREATE INDEX quiet_hours_of_project ON public.quiet_hours USING btree (project_id);
CREATE UNIQUE INDEX quiet_hours_pkey ON public.quiet_hours USING btree (id);

create table saved_views (
  id bigint not null identity,
  project_id bigint not null,
  user_id bigint,
  name text not null,
  query text not null,
  constraint saved_views_pkey PRIMARY KEY (id),
  constraint saved_views_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint saved_views_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX saved_views_by_name ON public.saved_views USING btree (project_id, user_id, name);
CREATE UNIQUE INDEX saved_views_for_all ON public.saved_views USING btree (project_id, name) WHERE (user_id IS NULL);
CREATE UNIQUE INDEX saved_views_pkey ON public.saved_views USING btree (id);

create table schedulers (
  id text not null,
  name text not null,
  beat bigint not null,
  report text not null,
  constraint schedulers_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX schedulers_pkey ON public.schedulers USING btree (id);

create table sessions (
  id bigint not null identity,
  secret_hash text not null,
  user_id bigint not null,
  key_id bigint,
  via text not null,
  created_at_ms bigint not null,
  seen_at_ms bigint not null,
  ends_at_ms bigint not null,
  device text not null,
  address text not null,
  constraint sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sessions_by_key ON public.sessions USING btree (key_id);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);
CREATE UNIQUE INDEX sessions_pkey ON public.sessions USING btree (id);

create table shards (
  shard integer not null,
  holder text,
  epoch bigint not null,
  skipped bigint not null,
  constraint shards_pkey PRIMARY KEY (shard)
);
CREATE UNIQUE INDEX shards_pkey ON public.shards USING btree (shard);

create table sign_in_attempts (
  attempt_hash text not null,
  purpose text not null,
  user_id bigint,
  expires_at_ms bigint not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (attempt_hash),
  constraint sign_in_attempts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sign_in_attempts_by_end ON public.sign_in_attempts USING btree (expires_at_ms);
CREATE UNIQUE INDEX sign_in_attempts_pkey ON public.sign_in_attempts USING btree (attempt_hash);

create table sign_in_codes (
  code_hash text not null,
  user_id bigint not null,
  expires_at_ms bigint not null,
  constraint sign_in_codes_pkey PRIMARY KEY (code_hash),
  constraint sign_in_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX sign_in_codes_pkey ON public.sign_in_codes USING btree (code_hash);

create table sink_spools (
  spool text not null,
  applied_seq bigint not null,
  constraint sink_spools_pkey PRIMARY KEY (spool)
);
CREATE UNIQUE INDEX sink_spools_pkey ON public.sink_spools USING btree (spool);

create table status_page_domains (
  domain text not null,
  status_page_id bigint not null,
  constraint status_page_domains_pkey PRIMARY KEY (domain),
  constraint status_page_domains_status_page_id_fkey FOREIGN KEY (status_page_id) REFERENCES status_pages(id) ON DELETE CASCADE
);
CREATE INDEX domains_by_status_page ON public.status_page_domains USING btree (status_page_id);
CREATE UNIQUE INDEX status_page_domains_pkey ON public.status_page_domains USING btree (domain);

create table status_page_updates (
  id bigint not null identity,
  status_page_id bigint not null,
  at_ms bigint not null,
  level text not null,
  title text not null,
  text text not null,
  ends_at_ms bigint,
  actor text not null,
  constraint status_page_updates_pkey PRIMARY KEY (id),
  constraint status_page_updates_status_page_id_fkey FOREIGN KEY (status_page_id) REFERENCES status_pages(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX status_page_updates_pkey ON public.status_page_updates USING btree (id);
CREATE INDEX updates_of_status_page ON public.status_page_updates USING btree (status_page_id, at_ms);

create table status_pages (
  id bigint not null identity,
  project_id bigint not null,
  slug text not null,
  title text not null,
  published integer not null,
  settings text not null,
  groups text not null,
  css text,
  logo text,
  access text not null,
  access_sealed text not null,
  badge_name text not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  constraint status_pages_badge_name_key UNIQUE (badge_name),
  constraint status_pages_pkey PRIMARY KEY (id),
  constraint status_pages_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint status_pages_slug_key UNIQUE (slug)
);
CREATE UNIQUE INDEX status_pages_badge_name_key ON public.status_pages USING btree (badge_name);
CREATE INDEX status_pages_by_project ON public.status_pages USING btree (project_id);
CREATE UNIQUE INDEX status_pages_pkey ON public.status_pages USING btree (id);
CREATE UNIQUE INDEX status_pages_slug_key ON public.status_pages USING btree (slug);

create table subscriptions (
  id bigint not null identity,
  project_id bigint not null,
  organization_id bigint not null,
  name text,
  url_sealed text not null,
  url_hash text not null,
  sync_interval_s integer not null,
  timeout_s integer not null,
  max_workers integer not null,
  engine text not null,
  enabled integer not null,
  last_synced_at_ms bigint,
  last_server_count integer,
  last_sync_status text not null,
  sync_error_message text,
  failures integer not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  attempted_at_ms bigint,
  shrunken integer not null,
  config_alert_percent integer not null,
  constraint subscriptions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES workspaces(id),
  constraint subscriptions_pkey PRIMARY KEY (id),
  constraint subscriptions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX subscriptions_by_url ON public.subscriptions USING btree (project_id, url_hash);
CREATE UNIQUE INDEX subscriptions_pkey ON public.subscriptions USING btree (id);

create table users (
  id bigint not null identity,
  email text not null,
  email_key text not null,
  name text,
  active integer not null,
  created_at_ms bigint not null,
  constraint users_email_key_key UNIQUE (email_key),
  constraint users_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX users_email_key_key ON public.users USING btree (email_key);
CREATE UNIQUE INDEX users_pkey ON public.users USING btree (id);

create table webhook_attempts (
  id bigint not null identity,
  delivery_id bigint not null,
  at_ms bigint not null,
  status_code integer,
  error text,
  duration_ms double precision not null,
  constraint webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(id) ON DELETE CASCADE,
  constraint webhook_attempts_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_attempts_by_delivery ON public.webhook_attempts USING btree (delivery_id);
CREATE UNIQUE INDEX webhook_attempts_pkey ON public.webhook_attempts USING btree (id);

create table webhook_deliveries (
  id bigint not null identity,
  webhook_id bigint not null,
  event_id text not null,
  type text not null,
  body text not null,
  incident_id bigint,
  state text not null,
  attempts integer not null,
  next_attempt_at_ms bigint,
  created_at_ms bigint not null,
  ended_at_ms bigint,
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at_ms, id) WHERE (next_attempt_at_ms IS NOT NULL);
CREATE INDEX webhook_deliveries_in_order ON public.webhook_deliveries USING btree (webhook_id, id);
CREATE UNIQUE INDEX webhook_deliveries_pkey ON public.webhook_deliveries USING btree (id);

create table webhooks (
  id bigint not null identity,
  project_id bigint not null,
  url text not null,
  secret_sealed text not null,
  old_secret_sealed text,
  old_secret_until_ms bigint,
  events text,
  active integer not null,
  off_reason text,
  off_at_ms bigint,
  failing_since_ms bigint,
  last_success_at_ms bigint,
  next_due_at_ms bigint,
  created_at_ms bigint not null,
  url_sealed text,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX webhooks_by_project ON public.webhooks USING btree (project_id);
CREATE INDEX webhooks_due ON public.webhooks USING btree (next_due_at_ms) WHERE (next_due_at_ms IS NOT NULL);
CREATE UNIQUE INDEX webhooks_pkey ON public.webhooks USING btree (id);

create table workspaces (
  id bigint not null identity,
  name text not null,
  plan text not null,
  suspended integer not null,
  created_at_ms bigint not null,
  constraint workspaces_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX workspaces_pkey ON public.workspaces USING btree (id);
