/**
 * Results: append-only rows of checks. One adapter: the official ClickHouse client over HTTP, to a server by URL or to our embedded
 * child. Readers apply the retention rule themselves (docs/api-contract.md#results), because merges are lazy.
 */
import type { Period, ResultRow } from "../../model/result.ts";
import type { RowStatus } from "../../model/status.ts";
import { StoreError } from "../sql/control-plane.ts";

export class ResultStoreError extends StoreError {
  /** Whether the same call may succeed later; false when the rows or the query themselves were refused. */
  readonly retry: boolean;

  constructor(message: string, options: ErrorOptions & { readonly retry: boolean }) {
    super(message, options);
    this.retry = options.retry;
  }
}

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

export interface ResultStore {
  /**
   * Inserts a spool segment: newline-separated JSON of ResultRow. Applied once however often it is called with the same token.
   * @throws ResultStoreError with `retry` false when the rows themselves were refused
   */
  insert(segment: { readonly token: string; readonly lines: Uint8Array; readonly rows: number }): Promise<void>;
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
  /** Nightly: lets expired rows go. */
  thin(): Promise<void>;
  close(): Promise<void>;
}
