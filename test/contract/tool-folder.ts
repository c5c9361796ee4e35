/** The folder that an installed tool is kept in. Several test files may install the same tool at the same time. */
import { existsSync, renameSync, rmSync } from "node:fs";

/**
 * Gives a finished folder its lasting name. Another process may have been quicker with the same content: then its folder stays.
 * @throws when the folder cannot be renamed for another reason
 */
export function takeInto(finished: string, lasting: string): void {
  try {
    renameSync(finished, lasting);
  } catch (error) {
    if (!existsSync(lasting)) throw error;
    rmSync(finished, { recursive: true, force: true });
  }
}
