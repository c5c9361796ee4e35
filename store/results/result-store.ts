/**
 * Results: append-only rows of checks. One adapter: the official ClickHouse client over HTTP, to a server by URL or to our embedded
 * child. Readers apply the retention rule themselves (docs/api-contract.md#results), because merges are lazy.
 */
import type { Period, ResultRow } from "../../model/result.ts";
import type { RowStatus } from "../../model/status.ts";

/** A row as readers get it. */
export interface StoredResult {
  readonly id: string;
  readonly monitorId: number;
  readonly kind: string;
  readonly status: RowStatus;
  readonly latencyMs: number | null;
  readonly connectMs: number | null;
  readonly testedAtMs: number;
  readonly errorMessage: string | null;
  /** Present only when the reader asked for details. */
  readonly details: ResultDetails | null;
}
export type ResultDetails = Pick<
  ResultRow,
  | "verdict"
  | "location"
  | "checker"
  | "lateness_ms"
  | "duration_ms"
  | "attempt"
  | "phases"
  | "explanation"
  | "error_category"
>;

export interface MonitorResults {
  readonly rows: readonly StoredResult[];
  /** Matches across all pages. */
  readonly total: number;
  /** Rows of the whole period, whatever the status filter, and how many of them were healthy. */
  readonly inPeriod: number;
  readonly healthy: number;
}

/** Rows of one insert. */
export interface RowsToInsert {
  /** The insert is applied once, however often it is repeated under the same token. */
  readonly token: string;
  /** Newline-separated JSON of ResultRow. */
  readonly lines: Uint8Array;
  readonly rows: number;
}

export interface ResultStore {
  /** @throws StoreError of the kind `refused` when the rows themselves were */
  insert(rows: RowsToInsert): Promise<void>;
  /** Newest first, ties by id, highest first. */
  ofMonitor(query: {
    readonly projectId: number;
    readonly monitorId: number;
    readonly period: Period;
    readonly status: RowStatus | null;
    readonly limit: number;
    readonly offset: number;
    readonly nowMs: number;
    readonly details: boolean;
  }): Promise<MonitorResults>;
  ofProject(query: {
    readonly projectId: number;
    readonly period: Period;
    readonly onlyDown: boolean;
    readonly limit: number;
    readonly nowMs: number;
    /** Monitors whose rows are hidden because they were deleted. */
    readonly withoutMonitorIds: readonly number[];
    readonly details: boolean;
  }): Promise<readonly StoredResult[]>;
  /** Answers within two seconds or rejects. */
  ping(): Promise<void>;
  /** Nightly: drops expired rows. */
  thin(): Promise<void>;
  close(): Promise<void>;
}
