/** The country that a configuration's traffic left from. */
import type { Kysely } from "kysely";

export const exitCountry = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .alterTable("config_results")
    .addColumn("exit_country", "text", (column) => column.notNull().defaultTo(""))
    .execute();
};
