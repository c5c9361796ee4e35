/** Channels: where a project's messages go. What is secret of their settings is apart, sealed. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const channels = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("channels"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("secret_names", "text", (column) => column.notNull())
    .addColumn("sealed", "text")
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("verified_at_ms", "bigint")
    .addColumn("failing_since_ms", "bigint")
    .addColumn("refusals", "integer", (column) => column.notNull())
    .addColumn("last_success_at_ms", "bigint")
    .addColumn("last_error", "text")
    .addColumn("external_key", "text")
    .addColumn("managed_by", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("updated_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("channels_by_name").unique().on("channels").columns(["project_id", "name"]).execute();
};
