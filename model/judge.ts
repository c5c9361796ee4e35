/**
 * Judge: what one check makes of one location of a monitor (docs/api-contract.md#status, #locations).
 *
 * Two things are remembered: the last *confirmed* verdict and the number of checks in a row that did not pass.
 *
 *   check                                    confirmed        shown in regional_status        row          streak
 *   passed                                   up               up                              healthy      0
 *   failed, streak reaches maxretries        down             down                            down         + 1
 *   failed, earlier                          as it was        pending; down stays down        degraded ¹   + 1
 *   credentials refused, streak reaches it   degraded         degraded                        degraded     + 1
 *   credentials refused, earlier             as it was        pending; down stays down        degraded     + 1
 *   inconclusive, a fault of ours            as it was        pending; down stays down        degraded     as it was
 *   any, inside a maintenance window         as it was        as it was                       unknown      as it was
 *
 * ¹ `down` where the location is down already: a confirmed verdict is not confirmed anew when maxretries is raised meanwhile.
 * There is one streak: timeouts and refused logins count together, and the verdict of the confirming check decides between the two.
 */
import { familyOf, isPassive, type Kind } from "./kind.ts";
import type { CheckOutcome } from "./result.ts";
import type { LocationState, RowStatus } from "./status.ts";
import { confirmedStatusOf, type ErrorCategory, errorCategoryOf } from "./verdict.ts";

/** What the rules need to know of one check. */
type LocationOutcome = Pick<CheckOutcome, "verdict" | "peerAnswered" | "latencyMs" | "startedAtMs">;

interface LocationRule {
  /** Of the monitor. */
  readonly kind: Kind;
  /** Checks in a row that must fail to confirm it, from 1. Heartbeats have no retries, whatever it says. */
  readonly maxRetries: number;
  readonly inMaintenance: boolean;
}

interface LocationJudgement {
  readonly state: LocationState;
  readonly rowStatus: RowStatus;
  /** Of this check, for its row; null when it passed. */
  readonly errorCategory: ErrorCategory | null;
}

/** A location that was never checked. */
export function newLocationState(): LocationState {
  return {
    status: "unknown",
    confirmed: null,
    notPassed: 0,
    failingSinceMs: null,
    lastCheckAtMs: null,
    pingMs: null,
    errorCategory: null,
  };
}

export function judgeLocation(state: LocationState, outcome: LocationOutcome, rule: LocationRule): LocationJudgement {
  const { verdict, startedAtMs: atMs } = outcome;
  const errorCategory = errorCategoryOf(verdict, familyOf(rule.kind), outcome.peerAnswered);
  const pingMs = verdict === "ok" ? outcome.latencyMs : null;
  if (rule.inMaintenance) {
    const during = { ...state, failingSinceMs: null, lastCheckAtMs: atMs, pingMs };
    return { state: during, rowStatus: "unknown", errorCategory };
  }

  const learned = confirmedStatusOf(verdict);
  if (learned === undefined) {
    return { state: withoutVerdict(state, atMs, errorCategory), rowStatus: "degraded", errorCategory };
  }
  if (learned === "up") {
    const passed: LocationState = {
      status: "up",
      confirmed: "up",
      notPassed: 0,
      failingSinceMs: null,
      lastCheckAtMs: atMs,
      pingMs,
      errorCategory,
    };
    return { state: passed, rowStatus: "healthy", errorCategory };
  }

  const notPassed = state.notPassed + 1;
  // A row of a version before has none.
  const failingSinceMs = state.failingSinceMs ?? atMs;
  const isConfirmed = isPassive(rule.kind) || notPassed >= rule.maxRetries || state.confirmed === learned;
  if (!isConfirmed) {
    const pending = withoutVerdict({ ...state, notPassed, failingSinceMs }, atMs, errorCategory);
    return { state: pending, rowStatus: "degraded", errorCategory };
  }
  const failed: LocationState = {
    status: learned,
    confirmed: learned,
    notPassed,
    failingSinceMs,
    lastCheckAtMs: atMs,
    pingMs,
    errorCategory,
  };
  return { state: failed, rowStatus: learned, errorCategory };
}

/** Nothing was confirmed: a location that is down stays down, for the reason it is down for; others wait for a verdict. */
function withoutVerdict(state: LocationState, atMs: number, errorCategory: ErrorCategory | null): LocationState {
  const isDown = state.confirmed === "down";
  return {
    ...state,
    status: isDown ? "down" : "pending",
    lastCheckAtMs: atMs,
    pingMs: null,
    errorCategory: isDown ? state.errorCategory : errorCategory,
  };
}
