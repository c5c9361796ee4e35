/** Makes a folder and those above it, closed to other users. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * One call of the kernel for each missing folder. Node's own `recursive` never ends where the kernel answers ENOENT although the folder above is
 * there, as in /proc (Node 20).
 * @throws what mkdir(2) refuses
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
