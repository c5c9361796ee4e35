/** Incidents and what happened during them (docs/api-contract.md#incidents). */
import type { Actor } from "../../../model/actor.ts";
import type { Past } from "../../../model/days.ts";
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
  "note",
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
/** Words for readers: they never close an incident. */
export const NOTE_PHASES = ["investigating", "identified", "monitoring", "resolved"] as const;

/** What a note says: the data of its event. */
export interface NoteData {
  readonly text: string;
  readonly phase: (typeof NOTE_PHASES)[number] | null;
  /** Whether pages for the public show it. */
  readonly public: boolean;
}

/** Written of an incident afterwards. */
export interface IncidentReport {
  /** What readers of public pages see in place of our words. */
  readonly title: string | null;
  /** Markdown. */
  readonly postmortem: string | null;
  /** Whether pages for the public show title and post-mortem. */
  readonly public: boolean;
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
  /**
   * Those by id, and of the monitors those that are open or ended since then; the newest first. Of paused monitors too.
   * @param named `limit`: of both together
   */
  named(
    projectId: number,
    named: {
      readonly incidentIds: readonly number[];
      readonly monitorIds: readonly number[];
      readonly sinceMs: number;
      readonly limit: number;
    },
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
  /**
   * Those of the project that are there, in one transaction. Ids that it does not have are passed over.
   * @returns those that were not acknowledged before, and how many were
   */
  acknowledgeAll(
    projectId: number,
    ids: readonly number[],
    nowMs: number,
    actor: Actor,
    note: string | null,
  ): Promise<{
    readonly acknowledged: readonly Pick<IncidentRecord, "id" | "monitorId">[];
    readonly unchanged: number;
  }>;
  /** @returns its event; undefined when the incident is not there */
  addNote(
    projectId: number,
    incidentId: number,
    note: NoteData,
    nowMs: number,
    actor: Actor,
  ): Promise<IncidentEvent | undefined>;
  /**
   * Changes or, where `decide` answers null, deletes a note of the incident, in one transaction. What `decide` throws passes through.
   * @returns the note as it is then, or was; undefined when it is not there
   */
  changeNote(
    incidentId: number,
    eventId: number,
    decide: (note: IncidentEvent) => NoteData | null,
  ): Promise<IncidentEvent | undefined>;
  /** null: none was written. */
  report(incidentId: number): Promise<IncidentReport | null>;
  /** @returns false when the incident is not there */
  setReport(projectId: number, incidentId: number, report: IncidentReport): Promise<boolean>;
  countOpen(): Promise<number>;
  /** @param sinceMs incidents that ended before it are left out */
  downtime(monitor: { readonly id: number; readonly createdAtMs: number }, sinceMs: number): Promise<Downtime>;
  /** @param sinceMs what ended before it is left out, but for pauses */
  past(monitor: { readonly id: number; readonly createdAtMs: number }, sinceMs: number): Promise<Past>;
}
