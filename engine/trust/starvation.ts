/** When this machine's processors were fully used: that may have caused the failures of that time. Pure. */

/** What `os.cpus()` says of one processor, as far as it is read; ms since the start. */
export interface ProcessorTimes {
  readonly times: {
    readonly user: number;
    readonly nice: number;
    readonly sys: number;
    readonly idle: number;
    readonly irq: number;
  };
}

/** Busy share of all processors from which on the machine counts as starved; our choice. */
const STARVED_FROM = 0.95;
/** Longest duration of a check (120 s, docs/api-contract.md#monitors): older stretches are no longer needed. */
const REMEMBERED_MS = 120_000;

export class Starvation {
  #stretches: { readonly fromMs: number; readonly toMs: number }[] = [];
  #before: { readonly busyMs: number; readonly allMs: number; readonly atMs: number } | null = null;

  look(processors: readonly ProcessorTimes[], nowMs: number): void {
    let busyMs = 0;
    let allMs = 0;
    for (const { times } of processors) {
      const { user, nice, sys, idle, irq } = times;
      busyMs += user + nice + sys + irq;
      allMs += user + nice + sys + irq + idle;
    }
    const before = this.#before;
    this.#before = { busyMs, allMs, atMs: nowMs };
    if (before === null || allMs <= before.allMs) return;
    if ((busyMs - before.busyMs) / (allMs - before.allMs) < STARVED_FROM) return;
    this.#stretches = this.#stretches.filter(({ toMs }) => toMs > nowMs - REMEMBERED_MS);
    this.#stretches.push({ fromMs: before.atMs, toMs: nowMs });
  }

  /** Part of that time in which nothing was left, 0 to 1. */
  share(fromMs: number, toMs: number): number {
    let starvedMs = 0;
    for (const stretch of this.#stretches) {
      starvedMs += Math.max(0, Math.min(toMs, stretch.toMs) - Math.max(fromMs, stretch.fromMs));
    }
    return starvedMs / Math.max(1, toMs - fromMs);
  }
}
