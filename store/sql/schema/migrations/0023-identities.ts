/** Who a person is at a provider of identities, and sign-ins that were begun and not ended. Only hashes of what is secret. */
import type { Kysely } from "kysely";

export const identities = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable("identities")
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("user_id", "bigint", (column) => column.notNull().references("users.id"))
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("linked_at_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("identities_key", ["provider", "subject"])
    .execute();
  // One account of a provider for each person: an address that the provider gives to the next employee signs no other person in.
  await db.schema
    .createIndex("identities_by_user")
    .unique()
    .on("identities")
    .columns(["user_id", "provider"])
    .execute();
  await db.schema
    .createTable("sign_in_attempts")
    .addColumn("attempt_hash", "text", (column) => column.primaryKey())
    .addColumn("purpose", "text", (column) => column.notNull())
    .addColumn("user_id", "bigint", (column) => column.references("users.id"))
    .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("sign_in_attempts_by_end").on("sign_in_attempts").column("expires_at_ms").execute();
};
