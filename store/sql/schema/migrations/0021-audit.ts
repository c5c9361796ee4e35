/** Who changed what by a request. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const audit = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("audit"))
    .addColumn("organization_id", "bigint", (column) => column.notNull())
    .addColumn("project_id", "bigint")
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("user_id", "bigint")
    .addColumn("what", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("detail", "text", (column) => column.notNull())
    .addColumn("address", "text")
    .execute();
  await db.schema.createIndex("audit_in_order").on("audit").columns(["organization_id", "at_ms", "id"]).execute();
};
