/** Durable jobs (tests, retests, syncs), and what each workspace used of its monthly tests. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const jobs = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("jobs"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("project_id", "bigint", (column) => column.notNull())
    .addColumn("monitor_id", "bigint")
    .addColumn("subscription_id", "bigint")
    .addColumn("incident_id", "bigint")
    .addColumn("test_id", "text")
    .addColumn("location", "text")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint")
    .addColumn("ended_at_ms", "bigint")
    .addColumn("result", "text")
    .execute();
  await db.schema
    .createIndex("jobs_open")
    .on("jobs")
    .columns(["kind", "id"])
    .where(sql.ref("ended_at_ms"), "is", null)
    .execute();
  await db.schema
    .createIndex("jobs_one_sync")
    .unique()
    .on("jobs")
    .column("subscription_id")
    .where(sql<boolean>`subscription_id is not null and ended_at_ms is null`)
    .execute();
  await db.schema.createIndex("jobs_by_monitor").on("jobs").column("monitor_id").execute();
  await db.schema
    .createIndex("jobs_ended")
    .on("jobs")
    .column("ended_at_ms")
    .where(sql.ref("ended_at_ms"), "is not", null)
    .execute();
  await db.schema
    .createTable("on_demand")
    .addColumn("organization_id", "bigint", (column) => column.notNull())
    .addColumn("month", "text", (column) => column.notNull())
    .addColumn("used", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("on_demand_pkey", ["organization_id", "month"])
    .execute();
};
