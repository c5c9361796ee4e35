/** Of a host's checks the one with most days is read whenever another is made: it is the first of the index, however many there are. */
import { type Kysely, sql } from "kysely";

export const expiryByHost = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.dropIndex("monitors_by_host").execute();
  await sql`create index monitors_by_host on monitors
    (project_id, host, (coalesce(ssl_expiration_days, 0) + coalesce(domain_expiration_days, 0)) desc, id)
    where deleted_at_ms is null`.execute(db);
};
