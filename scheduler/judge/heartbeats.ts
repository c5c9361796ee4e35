/**
 * Heartbeats: signs of life sent to us. Calls come from the inbox, missed deadlines from the wheel. Both become outcomes like those
 * of checks, so that status, incidents and rows have one code path (docs/api-contract.md#status, #heartbeat-address, docs/decisions/0006-stores.md).
 */

import type { Monitor } from "../../model/monitor.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { InboxRow } from "../../store/sql/monitors/heartbeats-port.ts";

/** The outcome of a call. Its latency is the `ping` that the job sent. */
export function callOutcome(call: InboxRow, checkId: number): CheckOutcome {
  return {
    ...silentOutcome(checkId, call.atMs),
    verdict: call.up ? "ok" : "rejected",
    peerAnswered: true,
    latencyMs: call.up && call.pingMs !== null ? Math.round(call.pingMs) : null,
    message: call.up ? null : (call.message ?? "The job reported that it is down"),
  };
}

/** The outcome of a deadline that passed without a call. */
export function missedOutcome(
  monitor: Monitor,
  deadlineAtMs: number,
  firedAtMs: number,
  checkId: number,
): CheckOutcome {
  return {
    ...silentOutcome(checkId, firedAtMs),
    verdict: "timeout",
    latenessMs: Math.max(0, Math.round(firedAtMs - deadlineAtMs)),
    peerAnswered: true,
    message: `No call within ${monitor.intervalS} s and ${monitor.graceS ?? 0} s of grace`,
    explanation: {
      stage: null,
      address: null,
      peer: null,
      hint: "Look whether the job ran, and whether it reached heartbeat_url.",
    },
  };
}

function silentOutcome(checkId: number, atMs: number): CheckOutcome {
  return {
    checkId,
    verdict: "ok",
    startedAtMs: Math.round(atMs),
    latenessMs: 0,
    durationMs: 0,
    latencyMs: null,
    connectMs: null,
    peerAnswered: false,
    message: null,
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}
