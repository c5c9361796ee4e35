/**
 * Merge: what the locations of a monitor make of its status (docs/api-contract.md#locations).
 *
 * One location: its state is the monitor's, so it is `degraded` while it retries or has met a fault of ours, unless it is down.
 * Several: each counts with its last confirmed verdict, also while it retries; left out is only what was never judged or has no checker.
 *
 *   up      down    refused credentials   status
 *   some    none    any                   healthy
 *   none    some    any                   down
 *   some    some    any                   partial
 *   none    none    any                   degraded; unknown when nothing was ever checked
 */
import type { LiveStatus, LocationState } from "./status.ts";

/** @param states of the monitor's enabled locations */
export function mergeLocations(states: readonly LocationState[]): LiveStatus {
  const only = states[0];
  if (only === undefined) return "unknown";
  if (states.length === 1) return statusOfOne(only);

  let up = false;
  let down = false;
  let wasChecked = false;
  for (const state of states) {
    wasChecked ||= isChecked(state);
    if (state.status === "unavailable") continue;
    if (state.confirmed === "up") up = true;
    else if (state.confirmed === "down") down = true;
  }
  if (up) return down ? "partial" : "healthy";
  if (down) return "down";
  return wasChecked ? "degraded" : "unknown";
}

function statusOfOne(state: LocationState): LiveStatus {
  switch (state.status) {
    case "up":
      return "healthy";
    case "down":
      return "down";
    case "pending":
    case "degraded":
      return "degraded";
    case "unknown":
    case "unavailable":
      return isChecked(state) ? "degraded" : "unknown";
  }
}

/** Checks inside a maintenance window change no status: they alone leave a location unknown. */
function isChecked(state: LocationState): boolean {
  return state.status === "unavailable" ? state.lastCheckAtMs !== null : state.status !== "unknown";
}
