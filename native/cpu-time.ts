/** Processor time of the calling thread: what others on the machine take is not in it. */
import { performance } from "node:perf_hooks";
import { CLOCK_THREAD_CPUTIME_ID, loadLibc } from "./libc.ts";

/** struct timespec: seconds and nanoseconds, 64 bits each. Their low halves are read: they last for 136 years, and a bigint would be an object a call. */
const TIMESPEC_BYTES = 16;

/** @returns ms with a fraction since the thread began; where there is no native way, the time in which its event loop was busy */
export function createThreadCpuTime(): () => number {
  const libc = loadLibc();
  if (libc === null) return () => performance.eventLoopUtilization().active;
  const timespec = Buffer.alloc(TIMESPEC_BYTES);
  return () => {
    libc.clock_gettime(CLOCK_THREAD_CPUTIME_ID, timespec);
    return timespec.readUInt32LE(0) * 1_000 + timespec.readUInt32LE(8) / 1e6;
  };
}

/** A cheap read takes less, so what several of them used is counted with one of them, ms. */
const KEPT_MS = 0.1;

/**
 * The same for callers that ask with every request: within KEPT_MS they get the same value. The kernel is asked through a foreign function, which takes a tenth of what
 * a cheap read does.
 * @param nowMs monotonic
 */
export function keptCpuTime(cpuMs = createThreadCpuTime(), nowMs = () => performance.now()): () => number {
  let [usedMs, atMs] = [cpuMs(), nowMs()];
  return () => {
    const ms = nowMs();
    if (ms - atMs < KEPT_MS) return usedMs;
    atMs = ms;
    usedMs = cpuMs();
    return usedMs;
  };
}
