/**
 * Results: append-only rows of checks. One adapter: the official ClickHouse client over HTTP, to a server by URL or to our embedded
 * child. Readers apply the retention rule themselves (docs/api-contract.md#results), because merges are lazy.
 */
import type { Period, Phase, ResultRow } from "../../model/result.ts";
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

/** A row with its position among the others. */
export interface NewestRow {
  readonly row: StoredResult;
  /** Counts the monitor's rows from 1. */
  readonly seq: number;
  readonly durationMs: number;
}

/** Rows of a window that ends now, for counts that stay right while the window moves. */
export interface CountedRows {
  /** In the order of ROW_STATUSES. */
  readonly counts: readonly number[];
  /** Of the newest row that the store has of the monitor; 0: it has none in the window. */
  readonly newestSeq: number;
  /** The first to leave the window, oldest first. */
  readonly leaving: readonly { readonly testedAtMs: number; readonly status: RowStatus }[];
  /** There are more than these. */
  readonly hasMore: boolean;
}

/** A stretch of a monitor's checks, for a chart. */
export interface LatencyQuery {
  readonly projectId: number;
  readonly monitorId: number;
  /** null: of all of them. */
  readonly location: string | null;
  /** Unix ms, the end not included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Of a point; of hours a multiple of 3600. */
  readonly stepS: number;
  /** `rows`: only of the last day they are all there. `hours`: of whole hours, up to 400 days, without phases. */
  readonly source: "rows" | "hours";
}

/** What the checks of one step took, ms; null where none passed. */
export interface LatencyPoint {
  /** A multiple of the step, Unix ms. */
  readonly atMs: number;
  readonly min: number | null;
  readonly avg: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly max: number | null;
  readonly checks: number;
  /** By the target's fault. */
  readonly failed: number;
  /** By a fault of ours. */
  readonly ours: number;
  /** Mean of the checks that had the phase. */
  readonly phases: Partial<Record<Phase, number>>;
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
  /** The newest rows of some monitors of a project, at most NEWEST_KEPT of each: by monitor, then in the order of their seq. */
  newestOf(projectId: number, monitorIds: readonly number[], nowMs: number): Promise<readonly NewestRow[]>;
  /** Of a period in which every row is kept, a day at most. */
  countsOf(query: {
    readonly projectId: number;
    readonly monitorId: number;
    readonly period: Period;
    readonly nowMs: number;
  }): Promise<CountedRows>;
  /** Steps without a check are left out; oldest first. */
  latencyOf(query: LatencyQuery): Promise<readonly LatencyPoint[]>;
  /** Answers within two seconds or rejects. */
  ping(): Promise<void>;
  /** Nightly: drops expired rows. */
  thin(): Promise<void>;
  close(): Promise<void>;
}
