/**
 * Tables as a move from one database to another takes them: all of schema/tables.ts, in its order, in which no row comes before what it refers
 * to. A table whose key has more columns than the first says so here; a test compares keys and order with the schema.
 */
import { TABLES, type Tables } from "../schema/tables.ts";

export interface CopiedTable {
  readonly name: keyof Tables;
  /** The columns of its key, in which order they are read. */
  readonly key: readonly string[];
  /** Read and written at a time: fewer where a row may hold a whole configuration. */
  readonly rows: number;
}

const ROWS = 1_000;
const LARGE_ROWS = 100;
const LARGE: ReadonlySet<keyof Tables> = new Set(["subscriptions", "monitors", "imported_configs"]);

/** Primary keys that are not the first column alone. */
const KEYS: Readonly<Partial<Record<keyof Tables, readonly string[]>>> = {
  memberships: ["user_id", "organization_id"],
  identities: ["provider", "subject"],
  alert_members: ["group_id", "subject"],
  document_things: ["project_id", "kind", "key"],
  expiry_alerts: ["monitor_id", "subject", "expires_at_ms"],
  on_demand: ["organization_id", "month"],
  excluded_servers: ["subscription_id", "server_address"],
  config_results: ["config_id", "location"],
};

/** What belongs to a database and to the processes on it, and is not carried. */
export const LEFT_TABLES: Readonly<Partial<Record<keyof Tables, string>>> = {
  shards: "a database has as many as it was made with; the count of skipped turns is carried by itself",
  schedulers: "processes that ran on the database before",
  leases: "held by processes, and none runs",
  sign_in_attempts: "a browser waits minutes for its end, and begins anew",
};

const firstColumnOf = (name: keyof Tables): readonly string[] => Object.keys(TABLES[name].columns).slice(0, 1);

export const COPIED_TABLES: readonly CopiedTable[] = (Object.keys(TABLES) as (keyof Tables)[])
  .filter((name) => LEFT_TABLES[name] === undefined)
  .map((name) => ({ name, key: KEYS[name] ?? firstColumnOf(name), rows: LARGE.has(name) ? LARGE_ROWS : ROWS }));
