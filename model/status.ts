/**
 * Statuses: what a location, a monitor and a result row are said to be. Types here; the rules are in judge.ts and merge.ts.
 */
import type { ConfirmedStatus, ErrorCategory } from "./verdict.ts";

export const MONITOR_STATUSES = ["healthy", "down", "partial", "degraded", "paused", "unknown"] as const;
export const ROW_STATUSES = ["healthy", "down", "degraded", "unknown"] as const;
export const REGIONAL_STATUSES = ["up", "down", "pending", "degraded", "unavailable", "unknown"] as const;

export type MonitorStatus = (typeof MONITOR_STATUSES)[number];
/** `paused` is not kept: it is shown instead of the live status while a monitor has a pause reason. */
export type LiveStatus = Exclude<MonitorStatus, "paused">;
export type RowStatus = (typeof ROW_STATUSES)[number];
export type RegionalStatus = (typeof REGIONAL_STATUSES)[number];

/** Everything a monitor's location remembers between two checks. Plain JSON. */
export interface LocationState {
  /** What the API shows in regional_status. */
  readonly status: RegionalStatus;
  /** The last confirmed verdict; null until one was confirmed. */
  readonly confirmed: ConfirmedStatus | null;
  /** Checks in a row that did not pass; verdicts about us do not move it. */
  readonly notPassed: number;
  /** Start of the first of them, Unix ms; null while there are none, and forgotten in a maintenance window. */
  readonly failingSinceMs: number | null;
  /** Start of the latest check, Unix ms; null before the first. */
  readonly lastCheckAtMs: number | null;
  readonly pingMs: number | null;
  readonly errorCategory: ErrorCategory | null;
  /** Checks in a row in which too few of the server's configs worked (config-share.ts); absent: none. */
  readonly lowShareChecks?: number;
}

/** Everything a monitor remembers between two checks: one row of `live`. Plain JSON but for the ids. */
export interface LiveState {
  readonly monitorId: number;
  readonly status: LiveStatus;
  /** When it became this status, Unix ms: the start of the check that changed it. Null before the first change, and where it is not known. */
  readonly statusSinceMs: number | null;
  readonly lastCheckedAtMs: number | null;
  readonly latencyMs: number | null;
  readonly connectMs: number | null;
  /** Where the latest check ran. */
  readonly region: string | null;
  /** Due-to-start of the latest check; ours, not in the contract. */
  readonly latenessMs: number | null;
  /** Result rows so far; the next row gets seq + 1. */
  readonly seq: number;
  readonly lastRowStatus: RowStatus | null;
  /** Of the row of the latest check; null before the first, and where a version without it judged that check. */
  readonly lastRowId: string | null;
  readonly certificate: CertificateState | null;
  readonly locations: Readonly<Record<string, LocationState>>;
  /** Latest message of a check that did not pass; null when the latest passed. */
  readonly errorMessage: string | null;
}

/** The latest certificate seen. Days remaining are counted from `expiresAtMs` at the time of reading. */
export interface CertificateState {
  readonly valid: boolean;
  readonly expiresAtMs: number;
}
