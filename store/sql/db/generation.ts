/** The generation: one number that every change of keys, rights, plans and monitors raises. */
import { type Session, statement } from "./database.ts";

const READ = statement("generation", "select value from generation where id = 1");
const RAISE = statement("raise_generation", "update generation set value = value + 1 where id = 1 returning value");

export async function readGeneration(session: Session): Promise<number> {
  return numberIn(await session.query<{ value: number }>(READ));
}

/**
 * Runs in the transaction of the change. Locks the row until its end, so that a reader that has seen a number has seen every change up
 * to it. Always locked after the rows of the change, so that two transactions cannot deadlock.
 */
export async function raiseGeneration(session: Session): Promise<number> {
  return numberIn(await session.query<{ value: number }>(RAISE));
}

function numberIn(rows: readonly { readonly value: number }[]): number {
  const row = rows[0];
  if (row === undefined) throw new Error("the generation row is missing");
  return row.value;
}
