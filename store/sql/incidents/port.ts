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
export interface IncidentFilter {
  readonly monitorId: number | null;
  readonly limit: number;
  /** How many to pass over; absent: none. */
  readonly offset?: number;
  /** Open at some moment from then on, Unix ms. */
  readonly fromMs?: number | null;
  /** Open at some moment until then, Unix ms. */
  readonly toMs?: number | null;
  /** Of monitors that have this tag. */
  readonly tag?: string | null;
  readonly acknowledged?: boolean | null;
  readonly level?: IncidentLevel | null;
}

export interface Incidents {
  /** Open first (down before degraded, then unacknowledged, then newest), then the rest newest first; none of paused monitors. */
  list(projectId: number, filter: IncidentFilter): Promise<readonly IncidentRecord[]>;
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
  /**
   * Those of the project that are there, in one transaction. Ids that it does not have are passed over.
   * @returns how many were not acknowledged before, and how many were
   */
  acknowledgeAll(
    projectId: number,
    ids: readonly number[],
    nowMs: number,
    actor: Actor,
    note: string | null,
  ): Promise<{ readonly acknowledged: number; readonly unchanged: number }>;
  countOpen(): Promise<number>;
  /** @param sinceMs incidents that ended before it are left out */
  downtime(monitor: { readonly id: number; readonly createdAtMs: number }, sinceMs: number): Promise<Downtime>;
}
