/** Monitors whose checks may take as long as their interval; `timeout_s` is kept for when they no longer do. */
import type { Kysely } from "kysely";

export const timeoutFollowsInterval = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .alterTable("monitors")
    .addColumn("timeout_follows_interval", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
};
