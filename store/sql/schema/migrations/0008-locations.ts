/** Locations whose checkers are processes of their own, with the key that is sealed to them. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const locations = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("locations"))
    .addColumn("code", "text", (column) => column.notNull().unique())
    .addColumn("key_sealed", "text", (column) => column.notNull())
    .addColumn("next_key_sealed", "text")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
};
