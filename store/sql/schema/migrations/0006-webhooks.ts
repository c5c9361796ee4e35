/** Webhooks with their deliveries and attempts, leases, maintenance windows, and which expiries were told. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

type Step = (db: Kysely<unknown>, dialect: Dialect) => Promise<void>;

export const webhooks: Step = async (db, dialect) => {
  await createWebhooks(db, dialect);
  await createDeliveries(db, dialect);
  await db.schema
    .createTable("leases")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("holder", "text")
    .addColumn("epoch", "bigint", (column) => column.notNull())
    .addColumn("beat", "bigint", (column) => column.notNull())
    .execute();
  await createMaintenance(db, dialect);
  await db.schema
    .createTable("expiry_alerts")
    .addColumn("monitor_id", "bigint", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
    .addColumn("threshold_days", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("expiry_alerts_pkey", ["monitor_id", "subject", "expires_at_ms"])
    .execute();
};

const createWebhooks: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("webhooks"))
    .addColumn("project_id", "bigint", (column) => column.notNull().references("projects.id"))
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("secret_sealed", "text", (column) => column.notNull())
    .addColumn("old_secret_sealed", "text")
    .addColumn("old_secret_until_ms", "bigint")
    .addColumn("events", "text")
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("off_reason", "text")
    .addColumn("off_at_ms", "bigint")
    .addColumn("failing_since_ms", "bigint")
    .addColumn("last_success_at_ms", "bigint")
    .addColumn("next_due_at_ms", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("webhooks_by_project").on("webhooks").column("project_id").execute();
  // What the sender looks at several times a second holds only those that have something to send.
  await db.schema
    .createIndex("webhooks_due")
    .on("webhooks")
    .column("next_due_at_ms")
    .where(sql.ref("next_due_at_ms"), "is not", null)
    .execute();
};

const createDeliveries: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("webhook_deliveries"))
    .addColumn("webhook_id", "bigint", (column) => column.notNull().references("webhooks.id").onDelete("cascade"))
    .addColumn("event_id", "text", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("body", "text", (column) => column.notNull())
    .addColumn("incident_id", "bigint")
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("next_attempt_at_ms", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("ended_at_ms", "bigint")
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_due")
    .on("webhook_deliveries")
    .columns(["webhook_id", "next_attempt_at_ms", "id"])
    .where(sql.ref("next_attempt_at_ms"), "is not", null)
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_in_order")
    .on("webhook_deliveries")
    .columns(["webhook_id", "id"])
    .execute();
  await withId(dialect, db.schema.createTable("webhook_attempts"))
    .addColumn("delivery_id", "bigint", (column) =>
      column.notNull().references("webhook_deliveries.id").onDelete("cascade"),
    )
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("status_code", "integer")
    .addColumn("error", "text")
    .addColumn("duration_ms", "double precision", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("webhook_attempts_by_delivery").on("webhook_attempts").column("delivery_id").execute();
};

const createMaintenance: Step = async (db, dialect) => {
  await withId(dialect, db.schema.createTable("maintenance_windows"))
    .addColumn("monitor_id", "bigint", (column) => column.notNull().references("monitors.id"))
    .addColumn("starts_at_ms", "bigint", (column) => column.notNull())
    .addColumn("ends_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("maintenance_windows_by_monitor")
    .on("maintenance_windows")
    .columns(["monitor_id", "ends_at_ms"])
    .execute();
  // What the windows come to, beside the monitor, because every check is asked for it.
  await db.schema.alterTable("monitors").addColumn("maintenance_from_ms", "bigint").execute();
  await db.schema.alterTable("monitors").addColumn("maintenance_until_ms", "bigint").execute();
};
