/** The id of each monitor's latest result row: what the status says was checked can be listed before the result store has the row. */
import type { Kysely } from "kysely";

export const lastRow = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable("live").addColumn("last_row_id", "text").execute();
};
