/**
 * The last step of a restore. What was unpacked and found whole stands in one folder inside the data folder; its renaming decides that the
 * restore counts. From then on its contents move up one by one, and who claims the folder after a death in between goes on.
 */
import { existsSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "./sync-folder.ts";

/** Not whole, or not checked yet: of no use after a death. */
export const RESTORING = ".restoring";
const RESTORED = ".restored";

/** @param path of the data folder, which is claimed */
export function decideRestore(path: string): void {
  renameSync(join(path, RESTORING), join(path, RESTORED));
  syncFolder(path);
  finishRestore(path);
}

/** Moves up what a restore left; nothing else is in its way, because the folder was empty. */
export function finishRestore(path: string): void {
  const folder = join(path, RESTORED);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) renameSync(join(folder, name), join(path, name));
  syncFolder(path);
  rmdirSync(folder);
}
