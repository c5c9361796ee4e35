/** A row as ClickHouse answers it → as readers get it. */
import { PHASES, type Phase } from "../../model/result.ts";
import type { RowStatus } from "../../model/status.ts";
import type { ErrorCategory, Verdict } from "../../model/verdict.ts";
import type { LatencyPoint, StoredResult } from "./result-store.ts";

/** 64-bit numbers come quoted or not, by the server's version and settings; ids are asked for as text. */
export interface RawRow {
  readonly id_text: string;
  readonly monitor_id: string | number;
  readonly kind: string;
  readonly status: RowStatus;
  readonly latency_ms: number | null;
  readonly connect_ms: number | null;
  readonly tested_at_ms: string | number;
  readonly error_message: string;
  /** With details only. */
  readonly verdict?: Verdict;
  readonly location: string;
  readonly checker: string;
  readonly lateness_ms: number;
  readonly duration_ms: number;
  readonly attempt: number;
  readonly phases: string;
  readonly explanation: string;
  readonly error_category: string;
}

/** What the reads need of a row. */
export const READ_COLUMNS =
  "id, monitor_id, kind, status, latency_ms, connect_ms, tested_at, error_message, verdict, location, checker, lateness_ms, duration_ms, attempt, phases, explanation, error_category";

/** Columns of a page, behind the limit: what is computed is computed for its rows alone. */
export function columnsOf(details: boolean): string {
  const shown =
    "toString(id) AS id_text, monitor_id, kind, status, latency_ms, connect_ms, toUnixTimestamp64Milli(tested_at) AS tested_at_ms, error_message";
  return details
    ? `${shown}, verdict, location, checker, lateness_ms, duration_ms, attempt, phases, explanation, error_category`
    : shown;
}

export function storedResultOf(row: RawRow): StoredResult {
  return {
    id: row.id_text,
    monitorId: Number(row.monitor_id),
    kind: row.kind,
    status: row.status,
    latencyMs: row.latency_ms,
    connectMs: row.connect_ms,
    testedAtMs: Number(row.tested_at_ms),
    errorMessage: row.error_message === "" ? null : row.error_message,
    details:
      row.verdict === undefined
        ? null
        : {
            verdict: row.verdict,
            location: row.location,
            checker: row.checker,
            lateness_ms: row.lateness_ms,
            duration_ms: row.duration_ms,
            attempt: row.attempt,
            phases: row.phases,
            explanation: row.explanation,
            error_category: row.error_category === "" ? null : (row.error_category as ErrorCategory),
          },
  };
}

/** A point as ClickHouse answers it; phases come of rows only. */
export type RawPoint = Partial<Record<Phase, number | null>> & {
  readonly t: string | number;
  readonly least: number | null;
  readonly mean: number | null;
  readonly most: number | null;
  readonly all_checks: string | number;
  readonly all_failed: string | number;
  readonly all_ours: string | number;
  /** Of nothing they are no numbers. */
  readonly quantiles: readonly (number | null)[];
};

export function latencyPointOf(raw: RawPoint): LatencyPoint {
  const phases: Partial<Record<Phase, number>> = {};
  for (const phase of PHASES) {
    const ms = numberOf(raw[phase]);
    if (ms !== null) phases[phase] = ms;
  }
  return {
    atMs: Number(raw.t) * 1_000,
    min: numberOf(raw.least),
    avg: numberOf(raw.mean),
    p50: numberOf(raw.quantiles[0]),
    p95: numberOf(raw.quantiles[1]),
    max: numberOf(raw.most),
    checks: Number(raw.all_checks),
    failed: Number(raw.all_failed),
    ours: Number(raw.all_ours),
    phases,
  };
}

/** Finite numbers; null for everything else. */
function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
