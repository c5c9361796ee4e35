/**
 * Addresses of websites and webhooks, sealed. The columns that held them in clear keep what may be shown. A process that has the key
 * seals the rows (store/sealing/row-form.ts); until then an address stands in clear and its sealed column is empty.
 */
import type { Kysely } from "kysely";

export const sealedTargets = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable("monitors").addColumn("url_sealed", "text").execute();
  await db.schema.alterTable("webhooks").addColumn("url_sealed", "text").execute();
};
