/** The share of working configs below which a monitor of a subscription alerts. */
import type { Kysely } from "kysely";

export const configAlertPercent = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .alterTable("subscriptions")
    .addColumn("config_alert_percent", "integer", (column) => column.notNull().defaultTo(50))
    .execute();
};
