/** Incidents and what happened during them (docs/api-contract.md#incidents). */
import type { Actor } from "../../../model/actor.ts";
import type { IncidentLevel } from "../../../model/incident.ts";
import type { Downtime } from "../../../model/uptime.ts";
import type { ErrorCategory } from "../../../model/verdict.ts";

export interface IncidentRecord {
  readonly id: number;
  readonly monitorId: number;
  readonly monitorName: string;
  readonly monitorKind: string;
  readonly projectId: number;
  readonly level: IncidentLevel;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly acknowledgedAtMs: number | null;
  readonly acknowledgedBy: Actor | null;
  readonly errorMessage: string;
  readonly errorCategory: ErrorCategory | null;
  readonly locations: readonly string[];
  readonly eventCount: number;
  readonly monitorPaused: boolean;
}
export const INCIDENT_EVENT_TYPES = [
  "opened",
  "level_changed",
  "location_changed",
  "acknowledged",
  "retest_queued",
  "retest_finished",
  "alert_sent",
  "alert_failed",
  "monitor_paused",
  "monitor_resumed",
  "recovered",
] as const;
export interface IncidentEvent {
  readonly id: number;
  readonly type: (typeof INCIDENT_EVENT_TYPES)[number];
  readonly atMs: number;
  readonly message: string;
  readonly actor: Actor;
  readonly location: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}
export interface Incidents {
  /** Open first (down before degraded, then unacknowledged, then newest), then the rest newest first; none of paused monitors. */
  list(
    projectId: number,
    options: { readonly monitorId: number | null; readonly limit: number },
  ): Promise<readonly IncidentRecord[]>;
  find(projectId: number, id: number): Promise<IncidentRecord | undefined>;
  events(
    incidentId: number,
    limit: number,
    offset: number,
  ): Promise<{ readonly rows: readonly IncidentEvent[]; readonly total: number }>;
  /** Only the first call changes anything; all return the incident as it is then. */
  acknowledge(
    projectId: number,
    id: number,
    nowMs: number,
    actor: Actor,
    note: string | null,
  ): Promise<IncidentRecord | undefined>;
  countOpen(): Promise<number>;
  /** @param sinceMs incidents that ended before it are left out */
  downtime(monitor: { readonly id: number; readonly createdAtMs: number }, sinceMs: number): Promise<Downtime>;
}
