/** Who is signed in to the page, and links that sign in once. Only hashes of what is secret. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const sessions = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("sessions"))
    .addColumn("secret_hash", "text", (column) => column.notNull())
    .addColumn("user_id", "bigint", (column) => column.notNull().references("users.id"))
    .addColumn("key_id", "bigint", (column) => column.references("api_keys.id").onDelete("cascade"))
    .addColumn("via", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("seen_at_ms", "bigint", (column) => column.notNull())
    .addColumn("ends_at_ms", "bigint", (column) => column.notNull())
    .addColumn("device", "text", (column) => column.notNull())
    .addColumn("address", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("sessions_by_user").on("sessions").column("user_id").execute();
  // What ends a key looks for its sessions.
  await db.schema.createIndex("sessions_by_key").on("sessions").column("key_id").execute();
  await db.schema
    .createTable("sign_in_codes")
    .addColumn("code_hash", "text", (column) => column.primaryKey())
    .addColumn("user_id", "bigint", (column) => column.notNull().references("users.id"))
    .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
    .execute();
};
