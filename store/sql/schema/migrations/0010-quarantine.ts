/** Configurations that brought a prober down, by a keyed hash. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const quarantine = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("quarantine"))
    .addColumn("fingerprint", "text", (column) => column.notNull().unique())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("strikes", "integer", (column) => column.notNull())
    // No reference: it outlives the monitor.
    .addColumn("monitor_id", "bigint")
    .addColumn("location", "text", (column) => column.notNull())
    .addColumn("first_at_ms", "bigint", (column) => column.notNull())
    .addColumn("last_at_ms", "bigint", (column) => column.notNull())
    .addColumn("until_ms", "bigint", (column) => column.notNull())
    .execute();
};
