/**
 * Incidents: a stretch of down or degraded, opened, raised and closed by the merged status (docs/api-contract.md#incidents, #locations).
 *
 *   none ──down──▶ open, down ◀──down── open, degraded ◀──credentials confirmed refused── none
 *                     │                     │
 *                     └──────healthy────────┴──▶ none (recovered)
 *
 * At most one is open. It is raised, never lowered. Partial keeps it open. Retrying, verdicts about us and checks inside a maintenance
 * window neither open, change nor close anything.
 */
import { enabledStates, type JudgedMonitor, type JudgedOutcome } from "./live.ts";
import { ANY_LOCATION, enabledLocations } from "./monitor.ts";
import type { LiveState, LocationState } from "./status.ts";
import { type ErrorCategory, isOwnVerdict } from "./verdict.ts";

export type IncidentLevel = "down" | "degraded";

export function severityOf(level: IncidentLevel): "critical" | "warning" {
  return level === "down" ? "critical" : "warning";
}

/** What an incident says of the failure; rewritten only when one of the three changes. */
interface Failure {
  /** The latest message of a check that failed. */
  readonly message: string;
  readonly category: ErrorCategory | null;
  /** Where it fails now: `["any"]` unless locations were chosen. */
  readonly locations: readonly string[];
}

/** What must be remembered of an open incident. After a restart the failure is not known: null. */
export interface OpenIncident {
  readonly level: IncidentLevel;
  readonly failure: Failure | null;
}

/**
 * What a check changes about incidents. Named by monitor, because at most one incident of a monitor is open; changes to deleted monitors are ignored.
 * open · raise: degraded became down; never the other way · message: the latest message during the incident · location · close
 */
export type IncidentChange =
  | ({
      readonly type: "open";
      readonly monitorId: number;
      readonly atMs: number;
      /** Of the first failure of those that led here: at most `atMs`. */
      readonly startedAtMs: number;
      readonly level: IncidentLevel;
    } & Failure)
  | ({ readonly type: "raise" | "message"; readonly monitorId: number; readonly atMs: number } & Failure)
  | {
      readonly type: "location";
      readonly monitorId: number;
      readonly atMs: number;
      readonly location: string;
      readonly status: string;
      readonly message: string | null;
    }
  | { readonly type: "close"; readonly monitorId: number; readonly atMs: number };

interface IncidentStep {
  readonly open: OpenIncident | null;
  readonly changes: readonly IncidentChange[];
}

/** The check that led from one live state to the next. */
interface IncidentCheck {
  readonly location: string;
  readonly outcome: Pick<JudgedOutcome, "verdict" | "startedAtMs" | "message">;
  /** Of the check's row. */
  readonly errorCategory: ErrorCategory | null;
  readonly inMaintenance: boolean;
}

const NO_CHANGES: readonly IncidentChange[] = [];
const NOTHING: IncidentStep = { open: null, changes: NO_CHANGES };

/** @param open the monitor's open incident, null when there is none */
export function incidentStep(
  open: OpenIncident | null,
  monitor: JudgedMonitor,
  before: LiveState,
  after: LiveState,
  check: IncidentCheck,
): IncidentStep {
  if (open === null && (after.status === "healthy" || after.status === "unknown" || after.status === "partial")) {
    return NOTHING;
  }
  if (check.inMaintenance || isOwnVerdict(check.outcome.verdict)) return { open, changes: NO_CHANGES };
  const enabled = enabledLocations(monitor);
  if (!enabled.includes(check.location)) return { open, changes: NO_CHANGES };
  return open === null ? opened(enabled, after, check) : continued(open, enabled, before, after, check);
}

function opened(enabled: readonly string[], after: LiveState, check: IncidentCheck): IncidentStep {
  const level = levelOf(enabledStates(enabled, after.locations), after);
  if (level === null) return NOTHING;
  const failure = failureOf(enabled, after, check);
  const atMs = check.outcome.startedAtMs;
  const change = {
    type: "open",
    monitorId: after.monitorId,
    atMs,
    // The location that failed last began to fail last: before that the monitor was not down as a whole.
    startedAtMs: Math.min(after.locations[check.location]?.failingSinceMs ?? atMs, atMs),
    level,
    ...failure,
  } as const;
  return { open: { level, failure }, changes: [change] };
}

function continued(
  open: OpenIncident,
  enabled: readonly string[],
  before: LiveState,
  after: LiveState,
  check: IncidentCheck,
): IncidentStep {
  const monitorId = after.monitorId;
  const atMs = check.outcome.startedAtMs;
  const changes: IncidentChange[] = [];
  const moved = locationChange(before, after, check);
  if (moved !== null) changes.push(moved);
  if (after.status === "healthy") {
    changes.push({ type: "close", monitorId, atMs });
    return { open: null, changes };
  }
  if (check.outcome.verdict === "ok") return { open, changes };

  const failure = failureOf(enabled, after, check);
  if (open.level === "degraded" && after.status === "down") {
    changes.push({ type: "raise", monitorId, atMs, ...failure });
    return { open: { level: "down", failure }, changes };
  }
  if (open.failure !== null && isSame(open.failure, failure)) return { open, changes };
  changes.push({ type: "message", monitorId, atMs, ...failure });
  return { open: { level: open.level, failure }, changes };
}

/** The level at which the monitor's state asks for an incident; null when it asks for none. */
function levelOf(states: readonly LocationState[], live: LiveState): IncidentLevel | null {
  if (live.status === "down") return "down";
  const isRefused = live.status === "degraded" && states.some((state) => state.confirmed === "degraded");
  return isRefused ? "degraded" : null;
}

/** One location's confirmed verdict changed; only where locations were chosen (docs/api-contract.md#incidents). */
function locationChange(before: LiveState, after: LiveState, check: IncidentCheck): IncidentChange | null {
  const { location, outcome } = check;
  if (location === ANY_LOCATION) return null;
  const state = after.locations[location];
  if (state === undefined || state.confirmed === (before.locations[location]?.confirmed ?? null)) return null;
  const message = outcome.verdict === "ok" ? null : messageOf(check);
  return {
    type: "location",
    monitorId: after.monitorId,
    atMs: outcome.startedAtMs,
    location,
    status: state.status,
    message,
  };
}

function failureOf(enabled: readonly string[], after: LiveState, check: IncidentCheck): Failure {
  const locations = enabled.filter((location) => {
    const confirmed = after.locations[location]?.confirmed;
    return location === check.location || confirmed === "down" || confirmed === "degraded";
  });
  return { message: messageOf(check), category: check.errorCategory, locations };
}

/** An incident always says something: the verdict's name when the probe had no words. */
function messageOf(check: IncidentCheck): string {
  return check.outcome.message ?? check.outcome.verdict;
}

function isSame(a: Failure, b: Failure): boolean {
  return (
    a.message === b.message &&
    a.category === b.category &&
    a.locations.length === b.locations.length &&
    a.locations.every((location, i) => location === b.locations[i])
  );
}
