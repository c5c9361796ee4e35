/**
 * The share of a server's configs that work. One that works makes the monitor healthy (docs/api-contract.md#subscriptions), so that the loss of most of
 * the others is reported by an event of its own. Pure.
 */
import { type ErrorCategory, isOwnVerdict, type Verdict } from "./verdict.ts";

export interface ConfigShare {
  readonly working: number;
  readonly total: number;
}

/** Too few configs work · enough work again. */
export type ShareChange = "failing" | "recovered";

/** One location's checks in a row with too small a share, and what the latest one changes. */
export interface ShareStep {
  readonly lowChecks: number;
  readonly change: ShareChange | null;
}

export interface ConfigResult {
  readonly success: boolean;
  /** `checker_error`: a fault of our own, such as a config that no core here can run. It does not count. */
  readonly errorCategory: string;
}

/** @returns null when the check says nothing of the share: a fault of our own, or no config works, which the incident reports */
export function shareOf(verdict: Verdict, configs: readonly ConfigResult[]): ConfigShare | null {
  const judged = configs.filter(({ errorCategory }) => errorCategory !== ("checker_error" satisfies ErrorCategory));
  const working = judged.filter(({ success }) => success).length;
  return isOwnVerdict(verdict) || working === 0 ? null : { working, total: judged.length };
}

/**
 * Changes once, by the check that confirms it, and again when the share is back.
 * @param lowChecks of the check before
 * @param leastPercent of all configs; 0 is never low
 * @param maxRetries checks in a row that confirm, as for every failure
 */
export function shareStep(
  lowChecks: number,
  { working, total }: ConfigShare,
  leastPercent: number,
  maxRetries: number,
): ShareStep {
  const confirming = Math.max(1, maxRetries);
  if (working * 100 >= leastPercent * total)
    return { lowChecks: 0, change: lowChecks >= confirming ? "recovered" : null };
  // Not beyond it: the number is kept with the monitor.
  const now = Math.min(lowChecks + 1, confirming);
  return { lowChecks: now, change: now === confirming && lowChecks < confirming ? "failing" : null };
}
