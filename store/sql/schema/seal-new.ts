/** Secrets of a row that is being made: sealed when it has its id, in the same transaction. */

/** A sealed text, or what makes it once the row that it is bound to has its id. */
export type ToSeal = string | ((id: number) => string);

export function sealedFor(id: number, secret: ToSeal): string {
  return typeof secret === "string" ? secret : secret(id);
}

/** Placeholder for a column that must not be empty, until the sealed text replaces it. */
export const NOT_SEALED_YET = "";
