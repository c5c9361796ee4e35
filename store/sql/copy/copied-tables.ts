/**
 * THE LIST of tables as a move from one database to another takes them, in an order in which no row comes before what it refers to. A test
 * compares it with the schema: a new table is named here, or the test fails.
 */
import type { Tables } from "../schema/tables.ts";

export interface CopiedTable {
  readonly name: keyof Tables;
  /** Columns that tell its rows apart, in which order they are read. */
  readonly key: readonly string[];
  /** Read and written at a time: fewer where a row may hold a whole configuration. */
  readonly rows: number;
}

const ROWS = 1_000;
const LARGE_ROWS = 100;

const by = (name: keyof Tables, ...key: readonly string[]): CopiedTable => ({ name, key, rows: ROWS });
const large = (table: CopiedTable): CopiedTable => ({ ...table, rows: LARGE_ROWS });

export const COPIED_TABLES: readonly CopiedTable[] = [
  by("meta", "name"),
  by("generation", "id"),
  by("users", "id"),
  by("workspaces", "id"),
  by("memberships", "user_id", "organization_id"),
  by("projects", "id"),
  by("api_keys", "id"),
  by("sessions", "id"),
  by("sign_in_codes", "code_hash"),
  by("hash_keys", "id"),
  large(by("subscriptions", "id")),
  by("excluded_servers", "subscription_id", "server_address"),
  large(by("monitors", "id")),
  by("live", "monitor_id"),
  by("heartbeats", "monitor_id"),
  by("heartbeat_inbox", "id"),
  by("imported_servers", "monitor_id"),
  large(by("imported_configs", "id")),
  by("config_results", "config_id", "location"),
  by("maintenance_windows", "id"),
  by("history", "id"),
  by("incidents", "id"),
  by("incident_events", "id"),
  by("expiry_alerts", "monitor_id", "subject", "expires_at_ms"),
  by("jobs", "id"),
  by("on_demand", "organization_id", "month"),
  by("outbox", "id"),
  by("channels", "id"),
  by("webhooks", "id"),
  by("webhook_deliveries", "id"),
  by("webhook_attempts", "id"),
  by("locations", "id"),
  by("quarantine", "id"),
  by("sink_spools", "spool"),
];

/** What belongs to a database and to the processes on it. */
export const LEFT_TABLES: Readonly<Partial<Record<keyof Tables, string>>> = {
  shards:
    "a database has as many as it was made with, and none is held when nothing runs; skipped turns are carried by themselves",
  schedulers: "processes that ran on the database before",
  leases: "held by processes, and none runs",
};
