/** Schedules of maintenance, whose turns become windows shortly before they begin. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

/** Windows and schedules are named alike outside: their numbers never meet. */
const FIRST_ID = 1_000_000_000;

export const maintenances = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("maintenances"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("selector", "text", (column) => column.notNull())
    .addColumn("schedule", "text", (column) => column.notNull())
    .addColumn("timezone", "text", (column) => column.notNull())
    .addColumn("starts_on", "text")
    .addColumn("ends_on", "text")
    .addColumn("announce", "integer", (column) => column.notNull())
    .addColumn("ended_until_ms", "bigint")
    .addColumn("over_at_ms", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("updated_at_ms", "bigint", (column) => column.notNull())
    .execute();
  if (dialect === "sqlite")
    await sql`insert into sqlite_sequence (name, seq) values ('maintenances', ${sql.lit(FIRST_ID)})`.execute(db);
  else await sql`alter table maintenances alter column id restart with ${sql.lit(FIRST_ID + 1)}`.execute(db);
  await db.schema.createIndex("maintenances_by_project").on("maintenances").column("project_id").execute();
  await db.schema.alterTable("maintenance_windows").addColumn("maintenance_id", "bigint").execute();
  await db.schema.createIndex("maintenance_windows_open").on("maintenance_windows").column("ends_at_ms").execute();
  await db.schema
    .createIndex("maintenance_windows_by_schedule")
    .on("maintenance_windows")
    .columns(["maintenance_id", "starts_at_ms", "monitor_id"])
    .execute();
};
