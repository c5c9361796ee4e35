/** Live: what a monitor remembers between two checks, and how one check moves it forward. The sink's hot path. */

import { judgeLocation, newLocationState } from "./judge.ts";
import { isPassive } from "./kind.ts";
import { mergeLocations } from "./merge.ts";
import { enabledLocations, type Monitor } from "./monitor.ts";
import type { CheckOutcome, ResultRow } from "./result.ts";
import type { LiveState, LiveStatus, LocationState } from "./status.ts";

/** What the rules need to know of a monitor. */
export type JudgedMonitor = Pick<Monitor, "kind" | "maxRetries" | "locations" | "disabledLocations">;

export type JudgedOutcome = Pick<
  CheckOutcome,
  "verdict" | "startedAtMs" | "latenessMs" | "latencyMs" | "connectMs" | "peerAnswered" | "message" | "certificate"
>;

/** The columns of the check's row that depend on the state before it, or that a rule leaves empty. */
export type JudgedColumns = Pick<
  ResultRow,
  "seq" | "status" | "changed" | "latency_ms" | "connect_ms" | "error_category" | "error_message"
>;

/** A monitor that was never checked. */
export function newLiveState(monitorId: number): LiveState {
  return {
    monitorId,
    status: "unknown",
    statusSinceMs: null,
    lastCheckedAtMs: null,
    latencyMs: null,
    connectMs: null,
    region: null,
    latenessMs: null,
    seq: 0,
    lastRowStatus: null,
    lastRowId: null,
    certificate: null,
    locations: {},
    errorMessage: null,
  };
}

/**
 * One final attempt of one due time. Applying the same checks in the same order gives the same states and rows: replays rely on it.
 * A check from a location that is not enabled (any more) has its row, but moves no status.
 */
export function applyCheck(
  live: LiveState,
  monitor: JudgedMonitor,
  location: string,
  outcome: JudgedOutcome,
  inMaintenance: boolean,
  rowId: string | null = null,
): { readonly live: LiveState; readonly row: JudgedColumns } {
  const { state, rowStatus, errorCategory } = judgeLocation(live.locations[location] ?? newLocationState(), outcome, {
    kind: monitor.kind,
    maxRetries: monitor.maxRetries,
    inMaintenance,
  });
  const enabled = enabledLocations(monitor);
  const isEnabled = enabled.includes(location);
  const locations = isEnabled ? { ...live.locations, [location]: state } : live.locations;
  const status = isEnabled && !inMaintenance ? statusFrom(enabled, locations) : live.status;
  const hasPassed = outcome.verdict === "ok";
  const latencyMs = hasPassed ? outcome.latencyMs : null;
  const connectMs = hasPassed ? outcome.connectMs : null;
  const errorMessage = hasPassed ? null : outcome.message;
  const seq = live.seq + 1;
  return {
    live: {
      monitorId: live.monitorId,
      status,
      statusSinceMs: status === live.status ? live.statusSinceMs : outcome.startedAtMs,
      lastCheckedAtMs: outcome.startedAtMs,
      latencyMs,
      connectMs,
      region: location,
      latenessMs: outcome.latenessMs,
      seq,
      lastRowStatus: rowStatus,
      lastRowId: rowId,
      certificate: outcome.certificate ?? live.certificate,
      locations,
      errorMessage,
    },
    row: {
      seq,
      status: rowStatus,
      changed: rowStatus === live.lastRowStatus ? 0 : 1,
      latency_ms: latencyMs,
      connect_ms: connectMs,
      error_category: errorCategory,
      error_message: errorMessage,
    },
  };
}

/**
 * Locations without a checker are shown as such and left out of the status; one that has a checker again stands where it stood
 * (docs/api-contract.md#locations).
 * @param nowMs Unix ms @returns the same state when nothing differs
 */
export function withAvailability(
  live: LiveState,
  monitor: JudgedMonitor,
  hasChecker: (location: string) => boolean,
  nowMs: number,
): LiveState {
  // Heartbeats come to us: no checker is needed.
  if (isPassive(monitor.kind)) return live;
  const enabled = enabledLocations(monitor);
  const moved: Record<string, LocationState> = {};
  for (const location of enabled) {
    const state = live.locations[location] ?? newLocationState();
    const isAway = state.status === "unavailable";
    if (hasChecker(location) !== isAway) continue;
    moved[location] = { ...state, status: isAway ? backFrom(state) : "unavailable" };
  }
  const isMoved = Object.keys(moved).length > 0;
  const locations = isMoved ? { ...live.locations, ...moved } : live.locations;
  // Of locations that were chosen just now nothing is known yet: what was shown holds until the first check.
  const isKnown = enabledStates(enabled, locations).some((state) => state.status !== "unknown");
  const status = isKnown ? statusFrom(enabled, locations) : live.status;
  if (status !== live.status) return { ...live, locations, status, statusSinceMs: nowMs };
  return isMoved ? { ...live, locations } : live;
}

/** As it was last judged. */
function backFrom({ confirmed, lastCheckAtMs }: LocationState): LocationState["status"] {
  if (confirmed !== null) return confirmed;
  return lastCheckAtMs === null ? "unknown" : "pending";
}

/** States of the enabled locations, those without any left out. */
export function enabledStates(enabled: readonly string[], locations: LiveState["locations"]): LocationState[] {
  const states: LocationState[] = [];
  for (const location of enabled) states.push(locations[location] ?? newLocationState());
  return states;
}

function statusFrom(enabled: readonly string[], locations: LiveState["locations"]): LiveStatus {
  return mergeLocations(enabledStates(enabled, locations));
}
