import type { Session } from "../db/database.ts";

/**
 * Holds the person on PostgreSQL until the transaction ends, against others that hold it: who loses the last workspace, or joins a further one, gets
 * no way to sign in at that moment.
 * @returns whether the person belongs to a workspace
 */
export async function holdPerson({ kysely, dialect }: Session, id: number): Promise<boolean> {
  const person = kysely.selectFrom("users").select("id").where("id", "=", id);
  await (dialect === "postgres" ? person.forNoKeyUpdate() : person).execute();
  const membership = kysely.selectFrom("memberships").select("user_id").where("user_id", "=", id).limit(1);
  return (await membership.executeTakeFirst()) !== undefined;
}
