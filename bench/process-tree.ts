/** CPU time and memory of a process with all its descendants, from /proc (proc(5)): what "per CPU second" divides by. */
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second of /proc's times: 100 on every Linux that Node runs on (sysconf _SC_CLK_TCK). */
const TICKS_PER_S = 100;

export interface TreeUse {
  /** User and system time of all its processes since they started, children that ended included; seconds. */
  readonly cpuS: number;
  /** Resident memory now, summed (shared pages count for each); MiB. */
  readonly residentMiB: number;
  readonly processes: number;
}

export function useOf(pid: number): TreeUse {
  let ticks = 0;
  let kib = 0;
  const pids = [pid, ...descendants(pid)];
  for (const one of pids) {
    const stat = readOr(`/proc/${one}/stat`);
    // Fields after the parenthesised name; utime, stime, cutime, cstime are 14 to 17 counted from 1.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    for (let field = 11; field <= 14; field++) ticks += Number(fields[field] ?? 0);
    kib += Number(/VmRSS:\s+(\d+)/.exec(readOr(`/proc/${one}/status`))?.[1] ?? 0);
  }
  return {
    cpuS: ticks / TICKS_PER_S,
    residentMiB: kib / 1024,
    processes: pids.length,
  };
}

/**
 * Resident memory of a process with all its descendants, where a page that several processes of the machine use counts for each by its part
 * (proc_pid_smaps_rollup(5), Pss); MiB. The kernel holds a process while it is read, up to 25 ms: not while its speed is measured.
 */
export function proportionalMiBOf(pid: number): number {
  const kib = [pid, ...descendants(pid)].map((one) =>
    Number(/^Pss:\s+(\d+)/m.exec(readOr(`/proc/${one}/smaps_rollup`))?.[1] ?? 0),
  );
  return kib.reduce((sum, one) => sum + one, 0) / 1024;
}

/** @returns the process ids of its children, theirs, and so on */
export function descendants(pid: number): readonly number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readOr(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (let next = parents.get(pid) ?? []; next.length > 0; next = next.flatMap((child) => parents.get(child) ?? []))
    found.push(...next);
  return found;
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
