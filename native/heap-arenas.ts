/**
 * How many heaps the C library keeps. glibc gives nearly every thread one of its own, up to eight a core, and what a thread frees stays in its heap:
 * a process with fifteen threads keeps some tens of MiB that none of them uses.
 */
import { createRequire } from "node:module";

/** malloc.h */
const M_ARENA_MAX = -8;
/** One more than the main heap: threads that allocate at the same moment need not wait. */
const ARENAS = 2;

/** For threads that start from now on. @returns whether it is so: other C libraries have no such heaps */
export function shareHeapArenas(): boolean {
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    return koffi.load(null).func("int mallopt(int, int)")(M_ARENA_MAX, ARENAS) === 1;
  } catch {
    return false;
  }
}
