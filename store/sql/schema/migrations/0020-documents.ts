/** Documents of `sonde apply`, and which thing each of their keys stands for. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const documents = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("documents"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("applied_at_ms", "bigint", (column) => column.notNull())
    .addColumn("applied_by", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("documents_by_name").unique().on("documents").columns(["project_id", "name"]).execute();
  await db.schema
    .createTable("document_things")
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("thing_id", "bigint", (column) => column.notNull())
    // Null: no document has it any more; the same key takes it back.
    .addColumn("document_id", "bigint", (column) => column.references("documents.id"))
    .addColumn("marks", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("document_things_pkey", ["project_id", "kind", "key"])
    .execute();
  // One thing has one key.
  await db.schema
    .createIndex("document_things_by_thing")
    .unique()
    .on("document_things")
    .columns(["kind", "thing_id"])
    .execute();
};
