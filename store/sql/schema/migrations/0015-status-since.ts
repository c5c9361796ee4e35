/** Since when a monitor's status is what it is. Of those that were checked before, incidents tell it; without one it is the monitor's age. */
import { type Kysely, sql } from "kysely";

export const statusSince = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema.alterTable("live").addColumn("status_since_ms", "bigint").execute();
  await sql`update live set status_since_ms = coalesce(
      (select i.started_at_ms from incidents i where i.monitor_id = live.monitor_id and i.ended_at_ms is null),
      (select max(i.ended_at_ms) from incidents i where i.monitor_id = live.monitor_id),
      (select m.created_at_ms from monitors m where m.id = live.monitor_id))
    where status <> 'unknown'`.execute(db);
};
