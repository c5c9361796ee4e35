import type { Session } from "./database.ts";

/**
 * Holds the project on PostgreSQL until the transaction ends, against others that hold it: of two that count at once, the second counts what
 * the first has made.
 * @returns whether it is there
 */
export async function holdProject({ kysely, dialect }: Session, id: number): Promise<boolean> {
  const query = kysely.selectFrom("projects").select("id").where("id", "=", id);
  return (await (dialect === "postgres" ? query.forNoKeyUpdate() : query).executeTakeFirst()) !== undefined;
}
