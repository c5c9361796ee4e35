/**
 * Which thread waits when there are not processors enough. Linux schedules threads, and each has a niceness of its own (sched(7)); whatever a thread
 * starts, threads and processes, begins with the niceness of that thread. So a thread that gives way takes its usual niceness back while it
 * starts something. Without the right to take it back (setpriority(2)) none gives way.
 */
import { readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Of 20. The kernel gives a thread a third of what it gives one without, where both want a processor (sched(7), "The nice value"). */
const NICENESS = 5;
/** linux/capability.h */
const CAP_SYS_NICE = 23n;

/** Of this thread before it gave way; null: it does not. */
let usual: number | null = null;

/** From now on the calling thread gives way to the others of its process. @returns whether it does */
export function giveWay(): boolean {
  if (process.platform !== "linux" || usual !== null) return usual !== null;
  try {
    const before = getPriority(0);
    if (!mayTakeBack(before, readFileSync("/proc/self/status", "latin1"), readFileSync("/proc/self/limits", "latin1")))
      return false;
    // In a container the right may be one in name only: that is found out at the price of the smallest step.
    setPriority(0, before + 1);
    setPriority(0, before);
    setPriority(0, before + NICENESS);
    usual = before;
    return true;
  } catch {
    return false;
  }
}

/** Whether a thread may return to this niceness. @param status of /proc/self/status @param limits of /proc/self/limits */
export function mayTakeBack(niceness: number, status: string, limits: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]{1,16})$/m.exec(status)?.[1];
  if (effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_SYS_NICE) & 1n) === 1n) return true;
  // The limit counts upwards: 20 is niceness 0 (getrlimit(2), RLIMIT_NICE).
  const limit = /^Max nice priority\s+(\d{1,3}|unlimited)\s/m.exec(limits)?.[1];
  return limit === "unlimited" || 20 - niceness <= Number(limit ?? 0);
}

/** Starts a thread or a process that is not to inherit that its starter gives way. */
export function atUsualPriority<Started>(start: () => Started): Started {
  if (usual === null) return start();
  setQuietly(usual);
  try {
    return start();
  } finally {
    setQuietly(usual + NICENESS);
  }
}

/** What cannot be set is no reason to start nothing. */
function setQuietly(niceness: number): void {
  try {
    setPriority(0, niceness);
  } catch {
    // It stays as it is.
  }
}
