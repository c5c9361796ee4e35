/** Events on their way out: written in the transaction of the change, taken out by the sender. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const outbox = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("outbox"))
    .addColumn("event_id", "text", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("project_id", "bigint", (column) => column.notNull())
    .addColumn("webhook_id", "bigint")
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("data", "text", (column) => column.notNull())
    .execute();
};
