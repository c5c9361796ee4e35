/** Lines of the spool: the row of a judged outcome, and what a replay needs beside it. */
import type { JudgedColumns } from "../../model/live.ts";
import type { CheckOutcome, ResultRow } from "../../model/result.ts";
import type { CertificateState } from "../../model/status.ts";
import type { EndedTest, TestResult } from "../../store/sql/jobs/port.ts";
import type { NewConfigResult } from "../../store/sql/monitors/imports-port.ts";
import type { CheckContext } from "./check-context.ts";

/** ClickHouse skips the member that it has no column for. */
export interface SpoolLine extends ResultRow {
  readonly replay: {
    readonly peer_answered: boolean;
    readonly certificate: CertificateState | null;
    readonly inbox_id: number | null;
    /** The shard's epoch when the row was judged; absent in rows from before shards had epochs. */
    readonly epoch?: number | undefined;
    /** The setting when the row was judged; it may have changed since. */
    readonly max_retries: number;
    readonly domain_expires_at?: number | undefined;
    readonly job_id?: number | undefined;
    readonly configs?: readonly NewConfigResult[] | undefined;
  };
}

/** What the line holds besides the outcome and its check. */
export interface LineFacts {
  /** Of the row. */
  readonly id: string;
  /** This process's name, for outcomes that name no checker. */
  readonly checker: string;
  /** Of the monitor's shard. */
  readonly epoch: number;
  /** The columns that judging the outcome gave. */
  readonly columns: JudgedColumns;
  readonly configs: readonly NewConfigResult[] | undefined;
}

/** Member by member: V8 adds each that follows a spread for itself, which costs a thirtieth of the scheduler's thread (docs/develop/cost.md). */
export function lineOf(
  { monitor, location, attempt, inboxId, jobId }: CheckContext,
  outcome: CheckOutcome,
  facts: LineFacts,
): string {
  const { columns } = facts;
  const line: SpoolLine = {
    id: facts.id,
    project_id: monitor.projectId,
    monitor_id: monitor.id,
    location,
    checker: outcome.checker ?? facts.checker,
    check_id: outcome.checkId,
    kind: monitor.kind,
    tested_at: outcome.startedAtMs,
    verdict: outcome.verdict,
    seq: columns.seq,
    status: columns.status,
    changed: columns.changed,
    latency_ms: columns.latency_ms,
    connect_ms: columns.connect_ms,
    error_category: columns.error_category,
    error_message: columns.error_message,
    lateness_ms: Math.round(outcome.latenessMs),
    duration_ms: outcome.durationMs,
    attempt,
    phases: JSON.stringify(outcome.phases),
    explanation: outcome.explanation === null ? "" : JSON.stringify(outcome.explanation),
    replay: {
      peer_answered: outcome.peerAnswered,
      certificate: outcome.certificate,
      inbox_id: inboxId,
      epoch: facts.epoch,
      max_retries: monitor.maxRetries,
      domain_expires_at: outcome.domainExpiresAtMs ?? undefined,
      job_id: jobId,
      configs: facts.configs,
    },
  };
  return JSON.stringify(line);
}

/** No validation: this process wrote the lines, and the spool returns only whole ones. */
export function parseLine(line: string): SpoolLine {
  return JSON.parse(line) as SpoolLine;
}

/** The outcome behind a line. */
export function outcomeOf(row: SpoolLine): CheckOutcome {
  return {
    checkId: row.check_id,
    verdict: row.verdict,
    startedAtMs: row.tested_at,
    latenessMs: row.lateness_ms,
    durationMs: row.duration_ms,
    latencyMs: row.latency_ms,
    connectMs: row.connect_ms,
    peerAnswered: row.replay.peer_answered,
    message: row.error_message,
    phases: {},
    explanation: null,
    certificate: row.replay.certificate,
    domainExpiresAtMs: row.replay.domain_expires_at ?? null,
  };
}

/** How a test ended: as its row says. */
export function endOf(
  jobId: number | undefined,
  outcome: CheckOutcome,
  row: Pick<ResultRow, "status" | "latency_ms" | "connect_ms" | "error_message">,
): EndedTest | undefined {
  if (jobId === undefined) return undefined;
  const { startedAtMs, durationMs } = outcome;
  const end: TestResult = {
    reason: "ran",
    status: row.status,
    latencyMs: row.latency_ms,
    connectMs: row.connect_ms,
    message: row.error_message,
    testedAtMs: startedAtMs,
  };
  return { jobId, end, atMs: startedAtMs + durationMs };
}
