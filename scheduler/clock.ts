/**
 * Plan time: wall time driven by the monotonic clock, so that a small correction of the wall clock moves no turn, and a large one is
 * noticed instead of causing a burst or a silence.
 */

/** A wall clock that moved more than this against the monotonic one was set, not slewed; ms (docs/decisions/0002-one-check-one-way.md). */
export const CLOCK_STEP_MS = 1_000;

export interface Clocks {
  /** Wall clock, Unix ms. */
  wallNowMs(): number;
  /** Monotonic, ms with a fraction. */
  monotonicNowMs(): number;
}

export const SYSTEM_CLOCKS: Clocks = { wallNowMs: () => Date.now(), monotonicNowMs: () => performance.now() };

/** Clocks of the machine: the same in all threads, which performance.now() is not. */
export interface MachineClocks {
  wallNowMs(): number;
  steadyNowMs(): number;
}

export const MACHINE_CLOCKS: MachineClocks = {
  wallNowMs: () => Date.now(),
  steadyNowMs() {
    const [seconds, nanos] = process.hrtime();
    return seconds * 1_000 + nanos / 1e6;
  },
};

export interface PlanClock {
  /** Unix ms; never goes back but for a noticed step. */
  nowMs(): number;
  /**
   * Compares the clocks; called about once a second.
   * @returns how far the wall clock was set, ms; 0 when it only drifted
   */
  check(): number;
}

export function createPlanClock(clocks: Clocks): PlanClock {
  let offsetMs = clocks.wallNowMs() - clocks.monotonicNowMs();
  let latestMs = Number.NEGATIVE_INFINITY;
  return {
    nowMs() {
      latestMs = Math.max(latestMs, clocks.monotonicNowMs() + offsetMs);
      return latestMs;
    },
    check() {
      const movedMs = clocks.wallNowMs() - clocks.monotonicNowMs() - offsetMs;
      offsetMs += movedMs;
      if (Math.abs(movedMs) <= CLOCK_STEP_MS) return 0;
      latestMs = Number.NEGATIVE_INFINITY;
      return movedMs;
    },
  };
}
