/** Filters and orders of monitors that people have named. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const savedViews = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("saved_views"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    // Null: of everyone in the project.
    .addColumn("user_id", "bigint", (column) => column.references("users.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("query", "text", (column) => column.notNull())
    .execute();
  // For a unique index, rows without a person differ from each other: they have an index of their own.
  await db.schema
    .createIndex("saved_views_by_name")
    .unique()
    .on("saved_views")
    .columns(["project_id", "user_id", "name"])
    .execute();
  await db.schema
    .createIndex("saved_views_for_all")
    .unique()
    .on("saved_views")
    .columns(["project_id", "name"])
    .where(sql.ref("user_id"), "is", null)
    .execute();
};
