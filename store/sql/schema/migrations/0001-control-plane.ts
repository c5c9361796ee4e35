/** People, workspaces, projects, keys; monitors with live state, heartbeats, incidents and history; the sink's place. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { givenId, sortedText, withId } from "./columns.ts";

type Step = (db: Kysely<unknown>, dialect: Dialect) => Promise<void>;

export const controlPlane: Step = async (db, dialect) => {
  await createBookkeeping(db);
  await createAccounts(db, dialect);
  await createKeys(db, dialect);
  await createMonitors(db, dialect);
  await createLive(db, dialect);
  await createHeartbeats(db, dialect);
  await createIncidents(db, dialect);
  await createHistory(db, dialect);
};

const createBookkeeping = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable("meta")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("generation")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("value", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into generation (id, value) values (1, 1)`.execute(db);
  await db.schema
    .createTable("sink_shards")
    .addColumn("shard", "integer", (column) => column.primaryKey())
    .addColumn("applied_seq", "bigint", (column) => column.notNull())
    .execute();
};

const createAccounts: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("users"))
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_key", "text", (column) => column.notNull().unique())
    .addColumn("name", "text")
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await withId(dialect, db.schema.createTable("workspaces"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("plan", "text", (column) => column.notNull())
    .addColumn("suspended", "integer", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("memberships")
    .addColumn("organization_id", "bigint", (column) => column.notNull().references("workspaces.id"))
    .addColumn("user_id", "bigint", (column) => column.notNull().references("users.id"))
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("memberships_pkey", ["user_id", "organization_id"])
    .execute();
  await db.schema.createIndex("memberships_by_workspace").on("memberships").column("organization_id").execute();
  await withId(dialect, db.schema.createTable("projects"))
    .addColumn("organization_id", "bigint", (column) => column.notNull().references("workspaces.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("projects_by_workspace").on("projects").column("organization_id").execute();
};

const createKeys: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("api_keys"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("user_id", "bigint", (column) => column.notNull().references("users.id"))
    .addColumn("organization_id", "bigint", (column) => column.references("workspaces.id"))
    .addColumn("secret_hash", "text", (column) => column.notNull())
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("last_used_at_ms", "bigint")
    .execute();
  await db.schema.createIndex("api_keys_by_workspace").on("api_keys").column("organization_id").execute();
  await db.schema.createIndex("api_keys_by_user").on("api_keys").column("user_id").execute();
};

const createMonitors: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("monitors"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("organization_id", "bigint", (column) => column.notNull().references("workspaces.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("name_key", sortedText(dialect), (column) => column.notNull())
    .addColumn("search_key", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("family", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("interval_s", "integer", (column) => column.notNull())
    .addColumn("timeout_s", "integer", (column) => column.notNull())
    .addColumn("max_retries", "integer", (column) => column.notNull())
    .addColumn("tags", "text", (column) => column.notNull())
    .addColumn("pause_reasons", "text", (column) => column.notNull())
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("paused_at_ms", "bigint")
    .addColumn("locations", "text", (column) => column.notNull())
    .addColumn("disabled_locations", "text", (column) => column.notNull())
    .addColumn("notify_on_partial", "integer", (column) => column.notNull())
    .addColumn("host", "text")
    .addColumn("ssl_expiration_days", "integer")
    .addColumn("domain_expiration_days", "integer")
    .addColumn("grace_s", "integer")
    .addColumn("subscription_id", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("updated_at_ms", "bigint", (column) => column.notNull())
    .addColumn("deleted_at_ms", "bigint")
    .addColumn("generation", "bigint", (column) => column.notNull())
    .execute();
  // Holds everything that lists filter by but the live status, so that counting reads no row of the table. The tombstone's time is a
  // column and not a condition, because SQLite reads the row when a condition names a column that the index does not have.
  await db.schema
    .createIndex("monitors_by_name")
    .on("monitors")
    .columns(["project_id", "deleted_at_ms", "name_key", "id", "family", "kind", "active"])
    .execute();
  await db.schema
    .createIndex("monitors_by_host")
    .on("monitors")
    .columns(["project_id", "host"])
    .where(sql.ref("deleted_at_ms"), "is", null)
    .execute();
  await db.schema
    .createIndex("monitors_deleted")
    .on("monitors")
    .columns(["project_id", "deleted_at_ms"])
    .where(sql.ref("deleted_at_ms"), "is not", null)
    .execute();
  await db.schema.createIndex("monitors_by_generation").on("monitors").column("generation").execute();
};

const createLive: Step = async (db, dialect) => {
  await db.schema
    .createTable("live")
    .addColumn("monitor_id", givenId(dialect), (column) => column.primaryKey())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("last_checked_at_ms", "bigint")
    .addColumn("latency_ms", "double precision")
    .addColumn("connect_ms", "double precision")
    .addColumn("region", "text")
    .addColumn("lateness_ms", "double precision")
    .addColumn("seq", "bigint", (column) => column.notNull())
    .addColumn("last_row_status", "text")
    .addColumn("certificate_valid", "integer")
    .addColumn("certificate_expires_at_ms", "bigint")
    .addColumn("location_states", "text", (column) => column.notNull())
    .addColumn("error_message", "text")
    .execute();
};

const createHeartbeats: Step = async (db, dialect) => {
  await db.schema
    .createTable("heartbeats")
    .addColumn("monitor_id", givenId(dialect), (column) => column.primaryKey())
    .addColumn("token_hash", "text", (column) => column.notNull().unique())
    .addColumn("token_sealed", "text", (column) => column.notNull())
    .addColumn("last_call_at_ms", "bigint")
    .execute();
  await withId(dialect, db.schema.createTable("heartbeat_inbox"))
    .addColumn("monitor_id", "bigint", (column) => column.notNull())
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("up", "integer", (column) => column.notNull())
    .addColumn("message", "text")
    .addColumn("ping_ms", "double precision")
    .execute();
  await db.schema.createIndex("heartbeat_inbox_by_monitor").on("heartbeat_inbox").column("monitor_id").execute();
};

const createIncidents: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("incidents"))
    .addColumn("monitor_id", "bigint", (column) => column.notNull().references("monitors.id"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("level", "text", (column) => column.notNull())
    .addColumn("started_at_ms", "bigint", (column) => column.notNull())
    .addColumn("ended_at_ms", "bigint")
    .addColumn("acknowledged_at_ms", "bigint")
    .addColumn("acknowledged_by", "text")
    .addColumn("error_message", "text", (column) => column.notNull())
    .addColumn("error_category", "text")
    .addColumn("locations", "text", (column) => column.notNull())
    .addColumn("event_count", "integer", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("incidents_one_open")
    .unique()
    .on("incidents")
    .column("monitor_id")
    .where(sql.ref("ended_at_ms"), "is", null)
    .execute();
  await db.schema
    .createIndex("incidents_open")
    .on("incidents")
    .column("project_id")
    .where(sql.ref("ended_at_ms"), "is", null)
    .execute();
  await db.schema
    .createIndex("incidents_by_start")
    .on("incidents")
    .columns(["project_id", "started_at_ms", "id"])
    .execute();
  await db.schema
    .createIndex("incidents_by_monitor")
    .on("incidents")
    .columns(["monitor_id", "started_at_ms", "id"])
    .execute();
  await withId(dialect, db.schema.createTable("incident_events"))
    .addColumn("incident_id", "bigint", (column) => column.notNull().references("incidents.id").onDelete("cascade"))
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("location", "text")
    .addColumn("data", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("incident_events_in_order")
    .on("incident_events")
    .columns(["incident_id", "at_ms", "id"])
    .execute();
};

const createHistory: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("history"))
    .addColumn("monitor_id", "bigint", (column) => column.notNull().references("monitors.id"))
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("history_in_order").on("history").columns(["monitor_id", "at_ms", "id"]).execute();
};
