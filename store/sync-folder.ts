/** A name in a folder that survives a power cut. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Syncs the folder: without it a file's name may be gone after a power cut. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
