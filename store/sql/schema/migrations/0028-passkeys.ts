/** Passkeys: what a person's devices sign in with. Public keys alone, so nothing is secret. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

export const passkeys = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  await withId(dialect, db.schema.createTable("passkeys"))
    .addColumn("credential_id", "text", (column) => column.notNull())
    .addColumn("user_id", "bigint", (column) => column.notNull().references("users.id"))
    .addColumn("public_key", "text", (column) => column.notNull())
    .addColumn("counter", "bigint", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("added_via", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("used_at_ms", "bigint")
    .execute();
  await db.schema.createIndex("passkeys_by_credential").unique().on("passkeys").column("credential_id").execute();
  await db.schema.createIndex("passkeys_by_user").on("passkeys").column("user_id").execute();
};
