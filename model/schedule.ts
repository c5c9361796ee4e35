/**
 * Schedule: how often and how long, by plan; when a retry comes and when a heartbeat is late (docs/api-contract.md#plans, #monitors, #uptime-fields,
 * #status).
 */
import type { Plan } from "./plan.ts";
import type { LocationState } from "./status.ts";
import { isOwnVerdict, type Verdict } from "./verdict.ts";

/** Longest wait while retrying, seconds (docs/api-contract.md#status). */
const RETRY_DELAY_S = 30;

/** Seconds between checks (docs/api-contract.md#plans); the plan may ask for more than the least. */
export const INTERVAL_S = { least: 1, most: 86_400, standard: 180 } as const;
/** Seconds a check may take (docs/api-contract.md#monitors); 0 asks for the standard. */
export const TIMEOUT_S = { least: 10, most: 120, standard: 60 } as const;
/** Failures in a row that confirm down (docs/api-contract.md#monitors); 0 asks for the standard. */
export const RETRIES = { least: 1, most: 10, standard: 2 } as const;
/** Seconds between the calls of a heartbeat's job (docs/api-contract.md#monitors); the plan may ask for more than the least. */
export const PERIOD_S = { least: 60, most: 604_800 } as const;
/** Seconds a call may be late (docs/api-contract.md#monitors, #uptime-fields). */
export const GRACE_S = { least: 0, most: 604_800, leastStandard: 60 } as const;

/** How long a check may take, ms: what was chosen, or the interval within the same bounds. */
export function timeoutMsOf(monitor: {
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly timeoutFollowsInterval: boolean;
}): number {
  const { intervalS, timeoutS, timeoutFollowsInterval } = monitor;
  const seconds = timeoutFollowsInterval ? Math.min(Math.max(intervalS, TIMEOUT_S.least), TIMEOUT_S.most) : timeoutS;
  return seconds * 1_000;
}

/** Seconds between checks unless the caller says otherwise. */
export function defaultIntervalS(plan: Pick<Plan, "shortestIntervalS">): number {
  return Math.max(INTERVAL_S.standard, plan.shortestIntervalS);
}

/** A fifth of the period in whole seconds, a minute at least. */
export function defaultGraceS(periodS: number): number {
  return Math.max(GRACE_S.leastStandard, Math.round(periodS / 5));
}

/** @returns the contract's 403 when the plan does not check that often */
export function refuseInterval(intervalS: number, plan: Pick<Plan, "shortestIntervalS">): string | undefined {
  return refuseShort("interval", intervalS, plan.shortestIntervalS);
}

/** @returns the contract's 403 when the plan has no heartbeats that short */
export function refusePeriod(periodS: number, plan: Pick<Plan, "shortestPeriodS">): string | undefined {
  return refuseShort("period", periodS, plan.shortestPeriodS);
}

function refuseShort(name: string, valueS: number, shortestS: number): string | undefined {
  if (valueS >= shortestS) return undefined;
  return `The shortest ${name} on your plan is ${shortestS} seconds (requested ${valueS}).`;
}

/**
 * The wait after a check until the location's next one at the latest; its turn in the pattern may come sooner.
 * Soon while retrying, and after a fault of ours that may have passed by then (docs/decisions/0003-whose-fault.md).
 */
export function delayAfterS(state: Pick<LocationState, "status">, verdict: Verdict, intervalS: number): number {
  // What this machine cannot measure at all it will not be able to measure in half a minute.
  if (verdict === "unsupported") return intervalS;
  const isOpen = state.status === "pending" || isOwnVerdict(verdict);
  return isOpen ? Math.min(intervalS, RETRY_DELAY_S) : intervalS;
}

/** How long a heartbeat may stay silent, ms. */
export function heartbeatPatienceMs(monitor: { readonly intervalS: number; readonly graceS: number | null }): number {
  return (monitor.intervalS + (monitor.graceS ?? 0)) * 1_000;
}

interface HeartbeatFacts {
  readonly periodS: number;
  readonly graceS: number;
  /** null before the first call. */
  readonly lastCallAtMs: number | null;
  /** Creation, or the latest resume. */
  readonly activeSinceMs: number;
  /** When this service began to take calls. */
  readonly readyAtMs: number;
  /** Until when the run before it took them; null when there was none, or it is not known. */
  readonly heardUntilMs: number | null;
}

/**
 * When a heartbeat is late: period + grace after its last call, or after creation or resume where that is later. A deadline that fell
 * into our own downtime moves to period + grace after we were ready, because calls could not arrive.
 */
export function heartbeatDeadlineMs(facts: HeartbeatFacts): number {
  const patienceMs = (facts.periodS + facts.graceS) * 1_000;
  const deadlineMs = Math.max(facts.lastCallAtMs ?? facts.activeSinceMs, facts.activeSinceMs) + patienceMs;
  const fellIntoDowntime =
    deadlineMs <= facts.readyAtMs && deadlineMs > (facts.heardUntilMs ?? Number.NEGATIVE_INFINITY);
  return fellIntoDowntime ? facts.readyAtMs + patienceMs : deadlineMs;
}
