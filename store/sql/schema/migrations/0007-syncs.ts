/** When a subscription was last tried, and how often in a row its list was refused as shrunken. */
import type { Kysely } from "kysely";

export const syncs = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable("subscriptions").addColumn("attempted_at_ms", "bigint").execute();
  await db.schema
    .alterTable("subscriptions")
    .addColumn("shrunken", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
};
