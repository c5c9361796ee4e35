/** For how long a configuration that brought a prober down is not run any more, anywhere. Pure. */

const HOUR_MS = 3_600_000;
/** By its strikes, ms; our choice: what brought it down may have been the target's answer of that hour. The last holds for all that follow. */
const HELD_MS = [HOUR_MS, 4 * HOUR_MS, 24 * HOUR_MS] as const;
/** A strike counts no more this long after it, ms. */
const STRIKES_KEPT_MS = 7 * 24 * HOUR_MS;

/** What is known of a configuration that did it before. */
export interface Strikes {
  readonly strikes: number;
  /** Unix ms. */
  readonly lastAtMs: number;
  /** Unix ms. */
  readonly untilMs: number;
}

/** @returns the new state; the same while it is held already, because several processes report one event */
export function strike(known: Strikes | undefined, nowMs: number): Strikes {
  if (known !== undefined && nowMs < known.untilMs) return known;
  const strikes = (known === undefined || nowMs - known.lastAtMs > STRIKES_KEPT_MS ? 0 : known.strikes) + 1;
  const heldMs = HELD_MS[Math.min(strikes, HELD_MS.length) - 1] ?? HOUR_MS;
  return { strikes, lastAtMs: nowMs, untilMs: nowMs + heldMs };
}

/** Nothing is known of it any more. */
export function areForgotten({ lastAtMs, untilMs }: Strikes, nowMs: number): boolean {
  return nowMs >= untilMs && nowMs - lastAtMs > STRIKES_KEPT_MS;
}

/** What the runs are answered with. @param reason how the prober ended */
export function quarantineMessage(reason: string, untilMs: number): string {
  return `This configuration brought a checker's thread down and is quarantined until ${new Date(untilMs).toISOString()} (${reason})`;
}
