/** Shards of monitors with who holds them, schedulers with their signs of life, and what each spool has applied. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";

/**
 * Fixed when the database is made, because a monitor's shard follows from it. A data folder has one owner, who holds everything; on
 * PostgreSQL sixteen divide among as many schedulers, each shard a sixteenth of the load.
 */
const SHARDS: Readonly<Record<Dialect, number>> = { sqlite: 1, postgres: 16 };

export const shards = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await db.schema
    .createTable("shards")
    .addColumn("shard", "integer", (column) => column.primaryKey())
    .addColumn("holder", "text")
    .addColumn("epoch", "bigint", (column) => column.notNull())
    .addColumn("skipped", "bigint", (column) => column.notNull())
    .execute();
  for (let shard = 0; shard < SHARDS[dialect]; shard += 1) {
    await sql`insert into shards (shard, holder, epoch, skipped) values (${sql.lit(shard)}, null, 0, 0)`.execute(db);
  }
  await db.schema
    .createTable("schedulers")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("beat", "bigint", (column) => column.notNull())
    .addColumn("report", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("sink_spools")
    .addColumn("spool", "text", (column) => column.primaryKey())
    .addColumn("applied_seq", "bigint", (column) => column.notNull())
    .execute();
  // Until now there was one spool, and it had no name here: the empty one is whichever asks.
  await sql`insert into sink_spools (spool, applied_seq) select '', applied_seq from sink_shards where shard = 0`.execute(
    db,
  );
  await db.schema.dropTable("sink_shards").execute();
};
