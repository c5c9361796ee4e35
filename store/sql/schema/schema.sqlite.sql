-- The schema on sqlite; written by the tests, compared by them.

CREATE TABLE "alert_groups" ("id" integer primary key autoincrement,
  "project_id" bigint not null,
  "rule_id" bigint not null,
  "key" text not null,
  "is_notice" integer not null,
  "is_fold" integer not null,
  "state" text not null,
  "folded_into" bigint,
  "step" integer not null,
  "repeats" integer not null,
  "first_told_at_ms" bigint,
  "told_at_ms" bigint,
  "due_at_ms" bigint,
  "changed_at_ms" bigint not null,
  "opened_at_ms" bigint not null,
  "closed_at_ms" bigint);

CREATE INDEX "alert_groups_closed" on "alert_groups" ("closed_at_ms") where "closed_at_ms" is not null;

CREATE INDEX "alert_groups_due" on "alert_groups" ("due_at_ms") where "due_at_ms" is not null;

CREATE UNIQUE INDEX "alert_groups_open" on "alert_groups" ("project_id", "rule_id", "key") where "closed_at_ms" is null;

CREATE TABLE "alert_members" ("group_id" bigint not null references "alert_groups" ("id") on delete cascade,
  "subject" text not null,
  "event" text not null,
  "severity" text not null,
  "told_severity" text,
  "firing" integer not null,
  "told" text not null,
  "acknowledged" integer not null,
  "monitor_id" bigint,
  "incident_id" bigint,
  "channel_id" bigint,
  "name" text,
  "why" text not null,
  "since_ms" bigint not null,
  "joined_at_ms" bigint not null,
  "ended_at_ms" bigint,
  "said_at_ms" bigint, constraint "alert_members_key" primary key ("group_id",
  "subject"));

CREATE INDEX "alert_members_by_monitor" on "alert_members" ("monitor_id");

CREATE INDEX "alert_members_by_subject" on "alert_members" ("subject");

CREATE TABLE "alert_rule_versions" ("project_id" bigint primary key,
  "rules" bigint not null,
  "quiet_hours" bigint not null);

CREATE TABLE "alert_rules" ("id" integer primary key autoincrement,
  "project_id" bigint not null,
  "position" integer not null,
  "name" text not null,
  "active" integer not null,
  "goes_on" integer not null,
  "match" text not null,
  "channels" text,
  "group_by" text not null,
  "delay_s" integer not null,
  "wait_s" integer not null,
  "interval_s" integer not null,
  "repeat_s" integer,
  "repeat_growth" integer not null,
  "recovered" integer not null,
  "quiet_hours_id" bigint,
  "escalation" text not null,
  "template" text,
  "external_key" text,
  "managed_by" bigint,
  "removed_at_ms" bigint);

CREATE INDEX "alert_rules_in_order" on "alert_rules" ("project_id", "position");

CREATE TABLE "api_keys" ("id" integer primary key autoincrement,
  "name" text not null,
  "kind" text not null,
  "user_id" bigint not null references "users" ("id"),
  "organization_id" bigint references "workspaces" ("id"),
  "secret_hash" text not null,
  "active" integer not null,
  "expires_at_ms" bigint,
  "created_at_ms" bigint not null,
  "last_used_at_ms" bigint);

CREATE INDEX "api_keys_by_user" on "api_keys" ("user_id");

CREATE INDEX "api_keys_by_workspace" on "api_keys" ("organization_id");

CREATE TABLE "audit" ("id" integer primary key autoincrement,
  "organization_id" bigint not null,
  "project_id" bigint,
  "at_ms" bigint not null,
  "actor" text not null,
  "user_id" bigint,
  "what" text not null,
  "subject" text not null,
  "detail" text not null,
  "address" text);

CREATE INDEX "audit_in_order" on "audit" ("organization_id", "at_ms", "id");

CREATE TABLE "channels" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "kind" text not null,
  "name" text not null,
  "settings" text not null,
  "secret_names" text not null,
  "sealed" text,
  "active" integer not null,
  "verified_at_ms" bigint,
  "failing_since_ms" bigint,
  "refusals" integer not null,
  "last_success_at_ms" bigint,
  "last_error" text,
  "external_key" text,
  "managed_by" bigint,
  "created_at_ms" bigint not null,
  "updated_at_ms" bigint not null);

CREATE UNIQUE INDEX "channels_by_name" on "channels" ("project_id", "name");

CREATE TABLE "config_results" ("config_id" bigint not null references "imported_configs" ("id") on delete cascade,
  "location" text not null,
  "at_ms" bigint not null,
  "success" integer not null,
  "total_ms" double precision not null,
  "error" text not null,
  "error_category" text not null,
  "public_ip" text not null,
  "engine_used" text not null,
  "exit_country" text default '' not null, constraint "config_results_pkey" primary key ("config_id",
  "location"));

CREATE TABLE "document_things" ("project_id" bigint not null references "projects" ("id"),
  "kind" text not null,
  "key" text not null,
  "thing_id" bigint not null,
  "document_id" bigint references "documents" ("id"),
  "marks" text not null, constraint "document_things_pkey" primary key ("project_id",
  "kind",
  "key"));

CREATE UNIQUE INDEX "document_things_by_thing" on "document_things" ("kind", "thing_id");

CREATE TABLE "documents" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "name" text not null,
  "applied_at_ms" bigint not null,
  "applied_by" text not null,
  "hash" text not null);

CREATE UNIQUE INDEX "documents_by_name" on "documents" ("project_id", "name");

CREATE TABLE "excluded_servers" ("subscription_id" bigint not null references "subscriptions" ("id") on delete cascade,
  "server_address" text not null, constraint "excluded_servers_pkey" primary key ("subscription_id",
  "server_address"));

CREATE TABLE "expiry_alerts" ("monitor_id" bigint not null,
  "subject" text not null,
  "expires_at_ms" bigint not null,
  "threshold_days" integer not null, constraint "expiry_alerts_pkey" primary key ("monitor_id",
  "subject",
  "expires_at_ms"));

CREATE TABLE "generation" ("id" integer primary key,
  "value" bigint not null);

CREATE TABLE "hash_keys" ("id" integer primary key,
  "sealed" text not null);

CREATE TABLE "heartbeat_inbox" ("id" integer primary key autoincrement,
  "monitor_id" bigint not null,
  "at_ms" bigint not null,
  "up" integer not null,
  "message" text,
  "ping_ms" double precision);

CREATE INDEX "heartbeat_inbox_by_monitor" on "heartbeat_inbox" ("monitor_id");

CREATE TABLE "heartbeats" ("monitor_id" integer primary key,
  "token_hash" text not null unique,
  "token_sealed" text not null,
  "last_call_at_ms" bigint);

CREATE TABLE "history" ("id" integer primary key autoincrement,
  "monitor_id" bigint not null references "monitors" ("id"),
  "type" text not null,
  "at_ms" bigint not null,
  "message" text not null,
  "actor" text not null);

CREATE INDEX "history_in_order" on "history" ("monitor_id", "at_ms", "id");

CREATE TABLE "identities" ("provider" text not null,
  "subject" text not null,
  "user_id" bigint not null references "users" ("id"),
  "email" text not null,
  "linked_at_ms" bigint not null, constraint "identities_key" primary key ("provider",
  "subject"));

CREATE UNIQUE INDEX "identities_by_user" on "identities" ("user_id", "provider");

CREATE TABLE "imported_configs" ("id" integer primary key autoincrement,
  "monitor_id" bigint not null references "imported_servers" ("monitor_id") on delete cascade,
  "position" integer not null,
  "identity" text not null,
  "tag" text not null,
  "type" text not null,
  "server" text not null,
  "port" integer not null,
  "sealed" text not null);

CREATE INDEX "imported_configs_in_order" on "imported_configs" ("monitor_id", "position");

CREATE TABLE "imported_servers" ("monitor_id" integer primary key references "monitors" ("id"),
  "server_address" text,
  "server_name" text,
  "config_count" integer not null);

CREATE TABLE "incident_events" ("id" integer primary key autoincrement,
  "incident_id" bigint not null references "incidents" ("id") on delete cascade,
  "type" text not null,
  "at_ms" bigint not null,
  "message" text not null,
  "actor" text not null,
  "location" text,
  "data" text not null);

CREATE INDEX "incident_events_in_order" on "incident_events" ("incident_id", "at_ms", "id");

CREATE TABLE "incidents" ("id" integer primary key autoincrement,
  "monitor_id" bigint not null references "monitors" ("id"),
  "project_id" bigint not null references "projects" ("id"),
  "level" text not null,
  "started_at_ms" bigint not null,
  "ended_at_ms" bigint,
  "acknowledged_at_ms" bigint,
  "acknowledged_by" text,
  "error_message" text not null,
  "error_category" text,
  "locations" text not null,
  "event_count" integer not null,
  "public_title" text,
  "postmortem" text,
  "postmortem_public" integer);

CREATE INDEX "incidents_by_monitor" on "incidents" ("monitor_id", "started_at_ms", "id");

CREATE INDEX "incidents_by_start" on "incidents" ("project_id", "started_at_ms", "id");

CREATE UNIQUE INDEX "incidents_one_open" on "incidents" ("monitor_id") where "ended_at_ms" is null;

CREATE INDEX "incidents_open" on "incidents" ("project_id") where "ended_at_ms" is null;

CREATE TABLE "jobs" ("id" integer primary key autoincrement,
  "kind" text not null,
  "project_id" bigint not null,
  "monitor_id" bigint,
  "subscription_id" bigint,
  "incident_id" bigint,
  "test_id" text,
  "location" text,
  "created_at_ms" bigint not null,
  "expires_at_ms" bigint,
  "ended_at_ms" bigint,
  "result" text);

CREATE INDEX "jobs_by_monitor" on "jobs" ("monitor_id");

CREATE INDEX "jobs_ended" on "jobs" ("ended_at_ms") where "ended_at_ms" is not null;

CREATE UNIQUE INDEX "jobs_one_sync" on "jobs" ("subscription_id") where subscription_id is not null and ended_at_ms is null;

CREATE INDEX "jobs_open" on "jobs" ("kind", "id") where "ended_at_ms" is null;

CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key,
  "timestamp" varchar(255) not null);

CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key,
  "is_locked" integer default 0 not null);

CREATE TABLE "leases" ("name" text primary key,
  "holder" text,
  "epoch" bigint not null,
  "beat" bigint not null);

CREATE TABLE "live" ("monitor_id" integer primary key,
  "status" text not null,
  "last_checked_at_ms" bigint,
  "latency_ms" double precision,
  "connect_ms" double precision,
  "region" text,
  "lateness_ms" double precision,
  "seq" bigint not null,
  "last_row_status" text,
  "certificate_valid" integer,
  "certificate_expires_at_ms" bigint,
  "location_states" text not null,
  "error_message" text,
  "last_row_id" text,
  "status_since_ms" bigint);

CREATE TABLE "locations" ("id" integer primary key autoincrement,
  "code" text not null unique,
  "key_sealed" text not null,
  "next_key_sealed" text,
  "created_at_ms" bigint not null);

CREATE TABLE "maintenance_windows" ("id" integer primary key autoincrement,
  "monitor_id" bigint not null references "monitors" ("id"),
  "starts_at_ms" bigint not null,
  "ends_at_ms" bigint not null,
  "maintenance_id" bigint);

CREATE INDEX "maintenance_windows_by_monitor" on "maintenance_windows" ("monitor_id", "ends_at_ms");

CREATE INDEX "maintenance_windows_by_schedule" on "maintenance_windows" ("maintenance_id", "starts_at_ms", "monitor_id");

CREATE INDEX "maintenance_windows_open" on "maintenance_windows" ("ends_at_ms");

CREATE TABLE "maintenances" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "title" text not null,
  "text" text not null,
  "selector" text not null,
  "schedule" text not null,
  "timezone" text not null,
  "starts_on" text,
  "ends_on" text,
  "announce" integer not null,
  "ended_until_ms" bigint,
  "over_at_ms" bigint,
  "created_at_ms" bigint not null,
  "updated_at_ms" bigint not null);

CREATE INDEX "maintenances_by_project" on "maintenances" ("project_id");

CREATE TABLE "memberships" ("organization_id" bigint not null references "workspaces" ("id"),
  "user_id" bigint not null references "users" ("id"),
  "role" text not null,
  "created_at_ms" bigint not null, constraint "memberships_pkey" primary key ("user_id",
  "organization_id"));

CREATE INDEX "memberships_by_workspace" on "memberships" ("organization_id");

CREATE TABLE "meta" ("name" text primary key,
  "value" text not null);

CREATE TABLE "monitors" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "organization_id" bigint not null references "workspaces" ("id"),
  "name" text not null,
  "name_key" text not null,
  "search_key" text not null,
  "kind" text not null,
  "family" text not null,
  "settings" text not null,
  "interval_s" integer not null,
  "timeout_s" integer not null,
  "max_retries" integer not null,
  "tags" text not null,
  "pause_reasons" text not null,
  "active" integer not null,
  "paused_at_ms" bigint,
  "locations" text not null,
  "disabled_locations" text not null,
  "notify_on_partial" integer not null,
  "host" text,
  "ssl_expiration_days" integer,
  "domain_expiration_days" integer,
  "grace_s" integer,
  "subscription_id" bigint,
  "created_at_ms" bigint not null,
  "updated_at_ms" bigint not null,
  "deleted_at_ms" bigint,
  "generation" bigint not null,
  "sealed" text,
  "maintenance_from_ms" bigint,
  "maintenance_until_ms" bigint,
  "url_sealed" text,
  "timeout_follows_interval" integer default 0 not null);

CREATE INDEX "monitors_by_generation" on "monitors" ("generation");

CREATE INDEX monitors_by_host on monitors
    (project_id, host, (coalesce(ssl_expiration_days, 0) + coalesce(domain_expiration_days, 0)) desc, id)
    where deleted_at_ms is null;

CREATE INDEX "monitors_by_name" on "monitors" ("project_id", "deleted_at_ms", "name_key", "id", "family", "kind", "active");

CREATE INDEX "monitors_by_subscription" on "monitors" ("subscription_id") where subscription_id is not null and deleted_at_ms is null;

CREATE INDEX "monitors_by_workspace" on "monitors" ("organization_id", "family", "pause_reasons") where "deleted_at_ms" is null;

CREATE INDEX "monitors_deleted" on "monitors" ("project_id", "deleted_at_ms") where "deleted_at_ms" is not null;

CREATE TABLE "notification_attempts" ("id" integer primary key autoincrement,
  "notification_id" bigint not null references "notifications" ("id") on delete cascade,
  "at_ms" bigint not null,
  "status_code" integer,
  "error" text,
  "duration_ms" double precision not null);

CREATE INDEX "attempts_of_notification" on "notification_attempts" ("notification_id");

CREATE TABLE "notifications" ("id" integer primary key autoincrement,
  "channel_id" bigint not null references "channels" ("id") on delete cascade,
  "group_id" bigint not null references "alert_groups" ("id") on delete cascade,
  "project_id" bigint not null,
  "reason" text not null,
  "state" text not null,
  "attempts" integer not null,
  "begun" integer not null,
  "next_attempt_at_ms" bigint,
  "came_and_went" integer not null,
  "external_ref" text,
  "shown" text,
  "last_error" text,
  "created_at_ms" bigint not null,
  "ended_at_ms" bigint);

CREATE INDEX "notifications_due" on "notifications" ("next_attempt_at_ms", "channel_id") where "next_attempt_at_ms" is not null;

CREATE INDEX "notifications_of_channel" on "notifications" ("channel_id", "id");

CREATE INDEX "notifications_of_group" on "notifications" ("group_id", "channel_id");

CREATE TABLE "on_demand" ("organization_id" bigint not null,
  "month" text not null,
  "used" bigint not null, constraint "on_demand_pkey" primary key ("organization_id",
  "month"));

CREATE TABLE "outbox" ("id" integer primary key autoincrement,
  "event_id" text not null,
  "type" text not null,
  "project_id" bigint not null,
  "webhook_id" bigint,
  "at_ms" bigint not null,
  "data" text not null);

CREATE TABLE "passkeys" ("id" integer primary key autoincrement,
  "credential_id" text not null,
  "user_id" bigint not null references "users" ("id"),
  "public_key" text not null,
  "counter" bigint not null,
  "name" text not null,
  "added_via" text not null,
  "created_at_ms" bigint not null,
  "used_at_ms" bigint);

CREATE UNIQUE INDEX "passkeys_by_credential" on "passkeys" ("credential_id");

CREATE INDEX "passkeys_by_user" on "passkeys" ("user_id");

CREATE TABLE "projects" ("id" integer primary key autoincrement,
  "organization_id" bigint not null references "workspaces" ("id"),
  "name" text not null,
  "active" integer not null,
  "created_at_ms" bigint not null);

CREATE INDEX "projects_by_workspace" on "projects" ("organization_id");

CREATE TABLE "quarantine" ("id" integer primary key autoincrement,
  "fingerprint" text not null unique,
  "kind" text not null,
  "reason" text not null,
  "strikes" integer not null,
  "monitor_id" bigint,
  "location" text not null,
  "first_at_ms" bigint not null,
  "last_at_ms" bigint not null,
  "until_ms" bigint not null);

CREATE TABLE "quiet_hours" ("id" integer primary key autoincrement,
  "project_id" bigint not null,
  "name" text not null,
  "timezone" text not null,
  "spans" text not null,
  "mode" text not null,
  "let_through" text not null);

CREATE INDEX "quiet_hours_of_project" on "quiet_hours" ("project_id");

CREATE TABLE "saved_views" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "user_id" bigint references "users" ("id"),
  "name" text not null,
  "query" text not null);

CREATE UNIQUE INDEX "saved_views_by_name" on "saved_views" ("project_id", "user_id", "name");

CREATE UNIQUE INDEX "saved_views_for_all" on "saved_views" ("project_id", "name") where "user_id" is null;

CREATE TABLE "schedulers" ("id" text primary key,
  "name" text not null,
  "beat" bigint not null,
  "report" text not null);

CREATE TABLE "sessions" ("id" integer primary key autoincrement,
  "secret_hash" text not null,
  "user_id" bigint not null references "users" ("id"),
  "key_id" bigint references "api_keys" ("id") on delete cascade,
  "via" text not null,
  "created_at_ms" bigint not null,
  "seen_at_ms" bigint not null,
  "ends_at_ms" bigint not null,
  "device" text not null,
  "address" text not null);

CREATE INDEX "sessions_by_key" on "sessions" ("key_id");

CREATE INDEX "sessions_by_user" on "sessions" ("user_id");

CREATE TABLE "shards" ("shard" integer primary key,
  "holder" text,
  "epoch" bigint not null,
  "skipped" bigint not null);

CREATE TABLE "sign_in_attempts" ("attempt_hash" text primary key,
  "purpose" text not null,
  "user_id" bigint references "users" ("id"),
  "expires_at_ms" bigint not null);

CREATE INDEX "sign_in_attempts_by_end" on "sign_in_attempts" ("expires_at_ms");

CREATE TABLE "sign_in_codes" ("code_hash" text primary key,
  "user_id" bigint not null references "users" ("id"),
  "expires_at_ms" bigint not null);

CREATE TABLE "sink_spools" ("spool" text primary key,
  "applied_seq" bigint not null);

CREATE TABLE "status_page_domains" ("domain" text primary key,
  "status_page_id" bigint not null references "status_pages" ("id") on delete cascade);

CREATE INDEX "domains_by_status_page" on "status_page_domains" ("status_page_id");

CREATE TABLE "status_page_updates" ("id" integer primary key autoincrement,
  "status_page_id" bigint not null references "status_pages" ("id") on delete cascade,
  "at_ms" bigint not null,
  "level" text not null,
  "title" text not null,
  "text" text not null,
  "ends_at_ms" bigint,
  "actor" text not null);

CREATE INDEX "updates_of_status_page" on "status_page_updates" ("status_page_id", "at_ms");

CREATE TABLE "status_pages" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "slug" text not null unique,
  "title" text not null,
  "published" integer not null,
  "settings" text not null,
  "groups" text not null,
  "css" text,
  "logo" text,
  "access" text not null,
  "access_sealed" text not null,
  "badge_name" text not null unique,
  "created_at_ms" bigint not null,
  "updated_at_ms" bigint not null);

CREATE INDEX "status_pages_by_project" on "status_pages" ("project_id");

CREATE TABLE "subscriptions" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "organization_id" bigint not null references "workspaces" ("id"),
  "name" text,
  "url_sealed" text not null,
  "url_hash" text not null,
  "sync_interval_s" integer not null,
  "timeout_s" integer not null,
  "max_workers" integer not null,
  "engine" text not null,
  "enabled" integer not null,
  "last_synced_at_ms" bigint,
  "last_server_count" integer,
  "last_sync_status" text not null,
  "sync_error_message" text,
  "failures" integer not null,
  "created_at_ms" bigint not null,
  "updated_at_ms" bigint not null,
  "attempted_at_ms" bigint,
  "shrunken" integer default 0 not null,
  "config_alert_percent" integer default 50 not null);

CREATE UNIQUE INDEX "subscriptions_by_url" on "subscriptions" ("project_id", "url_hash");

CREATE TABLE "users" ("id" integer primary key autoincrement,
  "email" text not null,
  "email_key" text not null unique,
  "name" text,
  "active" integer not null,
  "created_at_ms" bigint not null);

CREATE TABLE "webhook_attempts" ("id" integer primary key autoincrement,
  "delivery_id" bigint not null references "webhook_deliveries" ("id") on delete cascade,
  "at_ms" bigint not null,
  "status_code" integer,
  "error" text,
  "duration_ms" double precision not null);

CREATE INDEX "webhook_attempts_by_delivery" on "webhook_attempts" ("delivery_id");

CREATE TABLE "webhook_deliveries" ("id" integer primary key autoincrement,
  "webhook_id" bigint not null references "webhooks" ("id") on delete cascade,
  "event_id" text not null,
  "type" text not null,
  "body" text not null,
  "incident_id" bigint,
  "state" text not null,
  "attempts" integer not null,
  "next_attempt_at_ms" bigint,
  "created_at_ms" bigint not null,
  "ended_at_ms" bigint);

CREATE INDEX "webhook_deliveries_due" on "webhook_deliveries" ("webhook_id", "next_attempt_at_ms", "id") where "next_attempt_at_ms" is not null;

CREATE INDEX "webhook_deliveries_in_order" on "webhook_deliveries" ("webhook_id", "id");

CREATE TABLE "webhooks" ("id" integer primary key autoincrement,
  "project_id" bigint not null references "projects" ("id"),
  "url" text not null,
  "secret_sealed" text not null,
  "old_secret_sealed" text,
  "old_secret_until_ms" bigint,
  "events" text,
  "active" integer not null,
  "off_reason" text,
  "off_at_ms" bigint,
  "failing_since_ms" bigint,
  "last_success_at_ms" bigint,
  "next_due_at_ms" bigint,
  "created_at_ms" bigint not null,
  "url_sealed" text);

CREATE INDEX "webhooks_by_project" on "webhooks" ("project_id");

CREATE INDEX "webhooks_due" on "webhooks" ("next_due_at_ms") where "next_due_at_ms" is not null;

CREATE TABLE "workspaces" ("id" integer primary key autoincrement,
  "name" text not null,
  "plan" text not null,
  "suspended" integer not null,
  "created_at_ms" bigint not null);
