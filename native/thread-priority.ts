/**
 * Which thread waits when there are not processors enough. Linux schedules threads, and each has a niceness of its own (sched(7)); whatever a thread
 * starts, threads and processes, begins with the niceness of that thread. So a thread that gives way takes its usual niceness back while it
 * starts something. Without the right to take it back (setpriority(2)) none gives way.
 */
import { readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { createThreadCpuTime } from "./cpu-time.ts";

/** Of 20. The kernel gives a thread a third of what it gives one without, where both want a processor (sched(7), "The nice value"). */
const NICENESS = 5;
/** linux/capability.h */
const CAP_SYS_NICE = 23n;
/** How often a thread looks at what it used, ms. */
const LOOK_EVERY_MS = 500;

interface Bounds {
  /** Of a processor: a thread that uses less takes nothing that others could miss. */
  readonly much: number;
  /** Of the time. A thread that gives way may get little of a processor and have work all the time, so its waits count here. */
  readonly hardlyBusy: number;
}

const BOUNDS: Bounds = { much: 0.3, hardlyBusy: 0.25 };

/** Of the thread that may give way: its niceness at the start, and whether it gives way now. */
let yielding: { readonly usual: number; isGiving: boolean } | null = null;

/**
 * From now on the calling thread gives way to the others of its process while it uses much of a processor.
 * @param options other bounds, for tests
 * @param again runs something again and again
 * @returns what ends that; null where the thread may not take its niceness back
 */
export function giveWayWhenBusy(
  { much, hardlyBusy }: Bounds = BOUNDS,
  again: (everyMs: number, run: () => void) => () => void = ownTimer,
): (() => void) | null {
  const usual = usualNiceness();
  if (usual === null || yielding !== null) return null;
  const now = { usual, isGiving: false };
  yielding = now;
  const cpuMs = createThreadCpuTime();
  let [beforeMs, cpuBeforeMs] = [performance.now(), cpuMs()];
  let loopBefore: EventLoopUtilization = performance.eventLoopUtilization();
  const look = (): void => {
    const [atMs, cpuAtMs, loop] = [performance.now(), cpuMs(), performance.eventLoopUtilization()];
    const cpuShare = (cpuAtMs - cpuBeforeMs) / (atMs - beforeMs);
    const { utilization } = performance.eventLoopUtilization(loop, loopBefore);
    [beforeMs, cpuBeforeMs, loopBefore] = [atMs, cpuAtMs, loop];
    const isGiving = now.isGiving ? utilization >= hardlyBusy : cpuShare > much;
    if (isGiving === now.isGiving) return;
    now.isGiving = isGiving;
    setQuietly(isGiving ? usual + NICENESS : usual);
  };
  const stopLooking = again(LOOK_EVERY_MS, look);
  return () => {
    stopLooking();
    setQuietly(usual);
    yielding = null;
  };
}

function ownTimer(everyMs: number, run: () => void): () => void {
  const timer = setInterval(run, everyMs).unref();
  return () => clearInterval(timer);
}

/** @returns null where it could not be taken back */
function usualNiceness(): number | null {
  if (process.platform !== "linux") return null;
  try {
    const usual = getPriority(0);
    if (!mayTakeBack(usual, readFileSync("/proc/self/status", "latin1"), readFileSync("/proc/self/limits", "latin1")))
      return null;
    // In a container the right may be one in name only: that is found out at the price of the smallest step.
    setPriority(0, usual + 1);
    setPriority(0, usual);
    return usual + NICENESS < 20 ? usual : null;
  } catch {
    return null;
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
  if (yielding?.isGiving !== true) return start();
  const { usual } = yielding;
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
