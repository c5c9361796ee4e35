/** Mail channels that were there before addresses had to confirm count as confirmed: no one's alerts end with an upgrade. */
import type { Kysely } from "kysely";

export const confirmedMail = async (db: Kysely<unknown>): Promise<void> => {
  await (db as Kysely<{ channels: { kind: string; verified_at_ms: number | null; created_at_ms: number } }>)
    .updateTable("channels")
    .set((of) => ({ verified_at_ms: of.ref("created_at_ms") }))
    .where("kind", "=", "email")
    .where("verified_at_ms", "is", null)
    .execute();
};
