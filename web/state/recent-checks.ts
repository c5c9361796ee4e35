/** What the latest checks of a monitor amount to. Pure. */

export interface Recent {
  /** A letter a check, oldest first. */
  readonly letters: string;
  /** 95 % of the checks that have a latency were as fast, ms. */
  readonly p95Ms: number | null;
  readonly passed: number;
}

/** @param latencies of the checks that have one, ms */
export function recentFrom(letters: string, latencies: readonly (number | null)[]): Recent {
  const sorted = latencies.filter((ms) => ms !== null).sort((a, b) => a - b);
  return {
    letters,
    p95Ms: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null,
    passed: [...letters].filter((letter) => letter === "h").length,
  };
}
