/** Processor time of this process, and of its children once they have ended: what a busy machine does not distort as it does rates. */
import { readFileSync } from "node:fs";

/** Clock ticks per second of /proc's times (sysconf _SC_CLK_TCK). */
const TICKS_PER_S = 100;

/** Seconds, user and system. */
export interface CpuOfUs {
  readonly selfS: number;
  /** Of children that have ended and were waited for. */
  readonly childrenS: number;
}

export function cpuOfUs(): CpuOfUs {
  const { user, system } = process.cpuUsage();
  const stat = readFileSync("/proc/self/stat", "latin1");
  // proc(5): cutime and cstime are fields 16 and 17 counted from 1.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const childTicks = Number(fields[13]) + Number(fields[14]);
  return { selfS: (user + system) / 1e6, childrenS: childTicks / TICKS_PER_S };
}
