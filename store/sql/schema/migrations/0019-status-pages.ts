/** Pages for the public, with their domains and announcements, and what people write of incidents for their readers. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const statusPages = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("status_pages"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("slug", "text", (column) => column.notNull().unique())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("published", "integer", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("groups", "text", (column) => column.notNull())
    .addColumn("css", "text")
    .addColumn("logo", "text")
    .addColumn("access", "text", (column) => column.notNull())
    .addColumn("access_sealed", "text", (column) => column.notNull())
    .addColumn("badge_name", "text", (column) => column.notNull().unique())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("updated_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("status_pages_by_project").on("status_pages").column("project_id").execute();
  await db.schema
    .createTable("status_page_domains")
    .addColumn("domain", "text", (column) => column.primaryKey())
    .addColumn("status_page_id", "bigint", (column) =>
      column.notNull().references("status_pages.id").onDelete("cascade"),
    )
    .execute();
  await db.schema.createIndex("domains_by_status_page").on("status_page_domains").column("status_page_id").execute();
  await withId(dialect, db.schema.createTable("status_page_updates"))
    .addColumn("status_page_id", "bigint", (column) =>
      column.notNull().references("status_pages.id").onDelete("cascade"),
    )
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("level", "text", (column) => column.notNull())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("ends_at_ms", "bigint")
    .addColumn("actor", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("updates_of_status_page")
    .on("status_page_updates")
    .columns(["status_page_id", "at_ms"])
    .execute();
  await db.schema.alterTable("incidents").addColumn("public_title", "text").execute();
  await db.schema.alterTable("incidents").addColumn("postmortem", "text").execute();
  await db.schema.alterTable("incidents").addColumn("postmortem_public", "integer").execute();
};
