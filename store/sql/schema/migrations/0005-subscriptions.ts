/** Tunnels' sealed fields, subscriptions, and the servers and configs that were imported from them. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { givenId, withId } from "./columns.ts";

export const subscriptions = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await db.schema.alterTable("monitors").addColumn("sealed", "text").execute();
  // Slots are counted by workspace, and a subscription's monitors found, without reading the others.
  await db.schema
    .createIndex("monitors_by_workspace")
    .on("monitors")
    .columns(["organization_id", "family", "pause_reasons"])
    .where(sql.ref("deleted_at_ms"), "is", null)
    .execute();
  await db.schema
    .createIndex("monitors_by_subscription")
    .on("monitors")
    .column("subscription_id")
    .where(sql<boolean>`subscription_id is not null and deleted_at_ms is null`)
    .execute();
  await createSubscriptions(db, dialect);
  await createImports(db, dialect);
};

const createSubscriptions = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("subscriptions"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("organization_id", "bigint", (column) => column.notNull().references("workspaces.id"))
    .addColumn("name", "text")
    .addColumn("url_sealed", "text", (column) => column.notNull())
    .addColumn("url_hash", "text", (column) => column.notNull())
    .addColumn("sync_interval_s", "integer", (column) => column.notNull())
    .addColumn("timeout_s", "integer", (column) => column.notNull())
    .addColumn("max_workers", "integer", (column) => column.notNull())
    .addColumn("engine", "text", (column) => column.notNull())
    .addColumn("enabled", "integer", (column) => column.notNull())
    .addColumn("last_synced_at_ms", "bigint")
    .addColumn("last_server_count", "integer")
    .addColumn("last_sync_status", "text", (column) => column.notNull())
    .addColumn("sync_error_message", "text")
    .addColumn("failures", "integer", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("updated_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("subscriptions_by_url")
    .unique()
    .on("subscriptions")
    .columns(["project_id", "url_hash"])
    .execute();
  await db.schema
    .createTable("hash_keys")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("sealed", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("excluded_servers")
    .addColumn("subscription_id", "bigint", (column) =>
      column.notNull().references("subscriptions.id").onDelete("cascade"),
    )
    .addColumn("server_address", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("excluded_servers_pkey", ["subscription_id", "server_address"])
    .execute();
};

const createImports = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await db.schema
    .createTable("imported_servers")
    .addColumn("monitor_id", givenId(dialect), (column) => column.primaryKey().references("monitors.id"))
    .addColumn("server_address", "text")
    .addColumn("server_name", "text")
    .addColumn("config_count", "integer", (column) => column.notNull())
    .execute();
  await withId(dialect, db.schema.createTable("imported_configs"))
    .addColumn("monitor_id", "bigint", (column) =>
      column.notNull().references("imported_servers.monitor_id").onDelete("cascade"),
    )
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("tag", "text", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("server", "text", (column) => column.notNull())
    .addColumn("port", "integer", (column) => column.notNull())
    .addColumn("sealed", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("imported_configs_in_order")
    .on("imported_configs")
    .columns(["monitor_id", "position"])
    .execute();
  await db.schema
    .createTable("config_results")
    .addColumn("config_id", "bigint", (column) =>
      column.notNull().references("imported_configs.id").onDelete("cascade"),
    )
    .addColumn("location", "text", (column) => column.notNull())
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("success", "integer", (column) => column.notNull())
    .addColumn("total_ms", "double precision", (column) => column.notNull())
    .addColumn("error", "text", (column) => column.notNull())
    .addColumn("error_category", "text", (column) => column.notNull())
    .addColumn("public_ip", "text", (column) => column.notNull())
    .addColumn("engine_used", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("config_results_pkey", ["config_id", "location"])
    .execute();
};
