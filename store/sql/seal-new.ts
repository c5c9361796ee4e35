/** Secrets of a row that is being made: sealed when it has its id, in the same transaction. */
import type { ToSeal } from "./ports/sealed.ts";

export function sealedFor(id: number, secret: ToSeal): string {
  return typeof secret === "string" ? secret : secret(id);
}

/** Stands in a column that may not be empty until then. */
export const NOT_SEALED_YET = "";
