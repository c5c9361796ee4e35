/**
 * Schedule: how often and how long, by plan; when a retry comes and when a heartbeat is late (contract "Monitors", open-points 3.2, 6.1,
 * 11, 18.1.9; design 3.6).
 */
import type { Plan } from "./plan.ts";
import type { LocationState } from "./status.ts";
import { isOwnVerdict, type Verdict } from "./verdict.ts";

/** Longest wait while retrying, seconds (open-points 6.1). */
export const RETRY_DELAY_S = 30;

/** Seconds; contract: POST and PUT /servers. */
export const LONGEST_INTERVAL_S = 86_400;
export const SHORTEST_TIMEOUT_S = 10;
export const LONGEST_TIMEOUT_S = 120;
export const DEFAULT_TIMEOUT_S = 60;
export const MOST_RETRIES = 10;
export const DEFAULT_RETRIES = 2;
export const SHORTEST_PERIOD_S = 60;
export const LONGEST_PERIOD_S = 604_800;
export const LONGEST_GRACE_S = 604_800;
const DEFAULT_INTERVAL_S = 180;
const SHORTEST_DEFAULT_GRACE_S = 60;

/** Why a number cannot be used: it is none or out of range (the contract's 400), or below the plan's shortest (its 403). */
export interface Refusal {
  readonly reason: "range" | "plan";
  /** The contract's words. */
  readonly message: string;
}

/** Checks every so often unless the caller says otherwise. */
export function defaultIntervalS(plan: Pick<Plan, "shortestIntervalS">): number {
  return Math.max(DEFAULT_INTERVAL_S, plan.shortestIntervalS);
}

/** A fifth of the period in whole seconds, a minute at least. */
export function defaultGraceS(periodS: number): number {
  return Math.max(SHORTEST_DEFAULT_GRACE_S, Math.round(periodS / 5));
}

/** 0 asks for the default, as does leaving it out. */
export function timeoutOrDefaultS(givenS: number | undefined): number {
  return givenS === undefined || givenS === 0 ? DEFAULT_TIMEOUT_S : givenS;
}

/** 0 asks for the default, as does leaving it out. */
export function retriesOrDefault(given: number | undefined): number {
  return given === undefined || given === 0 ? DEFAULT_RETRIES : given;
}

/** @returns why the interval of a monitor cannot be used; undefined when it can */
export function refuseInterval(value: unknown, plan: Pick<Plan, "shortestIntervalS">): Refusal | undefined {
  return refuseSeconds("interval", value, 1, LONGEST_INTERVAL_S, plan.shortestIntervalS);
}

/** @returns why the period of a heartbeat cannot be used; undefined when it can */
export function refusePeriod(value: unknown, plan: Pick<Plan, "shortestPeriodS">): Refusal | undefined {
  return refuseSeconds("period", value, SHORTEST_PERIOD_S, LONGEST_PERIOD_S, plan.shortestPeriodS);
}

function refuseSeconds(name: string, value: unknown, from: number, to: number, shortest: number): Refusal | undefined {
  if (typeof value !== "number" || !Number.isInteger(value) || value < from || value > to) {
    return { reason: "range", message: `${name} must be a whole number from ${from} to ${to}.` };
  }
  if (value >= shortest) return undefined;
  return {
    reason: "plan",
    message: `The shortest ${name} on your plan is ${shortest} seconds (requested ${value}).`,
  };
}

/**
 * The wait after a check until the location's next one at the latest; its turn in the pattern may come sooner.
 * Soon while retrying, and after a fault of ours that may have passed by then (design 7.1).
 */
export function delayAfterS(state: Pick<LocationState, "status">, verdict: Verdict, intervalS: number): number {
  // What this machine cannot measure at all it will not be able to measure in half a minute.
  if (verdict === "unsupported") return intervalS;
  const isOpen = state.status === "pending" || isOwnVerdict(verdict);
  return isOpen ? Math.min(intervalS, RETRY_DELAY_S) : intervalS;
}

export interface HeartbeatFacts {
  readonly periodS: number;
  readonly graceS: number;
  /** null before the first call. */
  readonly lastCallAtMs: number | null;
  /** Creation, or the latest resume. */
  readonly activeSinceMs: number;
  /** When this service began to hear calls. */
  readonly readyAtMs: number;
  /** Until when the run before it heard them; null when there was none, or nobody knows. */
  readonly heardUntilMs: number | null;
}

/**
 * When a heartbeat is late: period + grace after its last call, or after creation or resume where that is later. A deadline that fell
 * into our own downtime moves to period + grace after we were ready, because calls could not be heard.
 */
export function heartbeatDeadlineMs(facts: HeartbeatFacts): number {
  const patienceMs = (facts.periodS + facts.graceS) * 1_000;
  const deadlineMs = Math.max(facts.lastCallAtMs ?? facts.activeSinceMs, facts.activeSinceMs) + patienceMs;
  const fellIntoDowntime =
    deadlineMs <= facts.readyAtMs && deadlineMs > (facts.heardUntilMs ?? Number.NEGATIVE_INFINITY);
  return fellIntoDowntime ? facts.readyAtMs + patienceMs : deadlineMs;
}
