/** Sealed texts, as store/sealing/sealing.ts makes them: who seals and opens them, and what they say of themselves. */
import type { SealedCell } from "./sealed-cells.ts";

/** Form of a text that is bound to a purpose, a word. */
export const BY_PURPOSE = "1";
/** Form of a text that is bound to a column and a row of SQL. */
export const BY_ROW = "2";

export interface Sealing {
  /** Of the key that seals now. */
  readonly keyId: string;
  /** Whether cells of SQL are sealed in the second form: not while a process runs that knows the first one only. */
  readonly bindsRows: boolean;
  /** @param where a purpose, or a cell of SQL; needed again to open it */
  seal(where: string | SealedCell, plaintext: string): string;
  /** @throws StoreError when it was sealed with a key that the file does not hold, for another purpose or cell, or was changed */
  open(where: string | SealedCell, sealed: string): string;
}

/** For what is carried, not kept: each message is bound to what it is for. */
export interface MessageSealing {
  seal(purpose: string, plaintext: string): string;
  open(purpose: string, sealed: string): string;
}

/** The key that a sealed text names. */
export function keyIdOf(sealed: string): string {
  return sealed.split(".")[1] ?? "unknown";
}

/** The beginning of every cell's text that is sealed as it would be now. */
export function presentPrefix({ keyId, bindsRows }: Pick<Sealing, "keyId" | "bindsRows">): string {
  return `${bindsRows ? BY_ROW : BY_PURPOSE}.${keyId}.`;
}
