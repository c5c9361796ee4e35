/** What other processes of our own user may see of this one. */
import { loadKernel } from "./kernel.ts";

/** linux/prctl.h */
const PR_SET_DUMPABLE = 4;

/**
 * From now on no other process of the same user may trace this one, read its memory, its environment or its descriptors in /proc, and it leaves no
 * core dump (prctl(2), PR_SET_DUMPABLE). Children are not hidden by it: execve(2) makes them visible again.
 * @returns whether it is so
 */
export function hideFromOthers(): boolean {
  return loadKernel()?.prctl(PR_SET_DUMPABLE, 0) === 0;
}
