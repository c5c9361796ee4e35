/** What statuses, rows and incidents follow from stored rows alone: the model's rules run over them once more, from the start. */
import { incidentStep, type OpenIncident } from "../../model/incident.ts";
import { applyCheck, type JudgedMonitor, newLiveState } from "../../model/live.ts";
import type { LiveState, RowStatus } from "../../model/status.ts";
import type { ErrorCategory, Verdict } from "../../model/verdict.ts";

/** A row as ClickHouse has it; 64-bit numbers as text. */
export interface TrueRow {
  readonly id: string;
  readonly monitor_id: string;
  readonly seq: string;
  readonly check_id: string;
  readonly location: string;
  readonly tested_at_ms: string;
  readonly status: RowStatus;
  readonly verdict: Verdict;
  readonly changed: number;
  readonly latency_ms: number | null;
  readonly lateness_ms: number;
  readonly error_category: string;
  readonly error_message: string;
}

export const TRUE_ROWS = `SELECT toString(id) AS id, toString(monitor_id) AS monitor_id, toString(seq) AS seq,
  toString(check_id) AS check_id, location, toString(toUnixTimestamp64Milli(tested_at)) AS tested_at_ms, status, verdict, changed,
  latency_ms, lateness_ms, error_category, error_message FROM results ORDER BY results.monitor_id, results.seq`;

export interface TrueIncident {
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly level: string;
  readonly errorMessage: string;
  readonly errorCategory: ErrorCategory | null;
}

export interface Truth {
  readonly live: LiveState;
  /** Oldest first. */
  readonly incidents: readonly TrueIncident[];
  /** Rows that do not say what the rules say, or stand out of order. */
  readonly wrongRows: readonly TrueRow[];
}

export function truthOf(monitorId: number, monitor: JudgedMonitor, rows: readonly TrueRow[]): Truth {
  let live = newLiveState(monitorId);
  let open: OpenIncident | null = null;
  const incidents: TrueIncident[] = [];
  const wrongRows: TrueRow[] = [];
  for (const row of rows) {
    const outcome = outcomeOf(row);
    const before = live;
    const applied = applyCheck(before, monitor, row.location, outcome, false);
    live = applied.live;
    if (!agrees(row, applied.row)) wrongRows.push(row);
    const errorCategory = applied.row.error_category;
    const check = { location: row.location, outcome, errorCategory, inMaintenance: false };
    const step: ReturnType<typeof incidentStep> = incidentStep(open, monitor, before, live, check);
    open = step.open;
    for (const change of step.changes) {
      const last = incidents.at(-1);
      if (change.type === "open") {
        const { atMs, level, message, category } = change;
        incidents.push({ startedAtMs: atMs, endedAtMs: null, level, errorMessage: message, errorCategory: category });
      } else if (last !== undefined && change.type === "close") {
        incidents[incidents.length - 1] = { ...last, endedAtMs: change.atMs };
      } else if (last !== undefined && (change.type === "raise" || change.type === "message")) {
        const level = change.type === "raise" ? "down" : last.level;
        incidents[incidents.length - 1] = {
          ...last,
          level,
          errorMessage: change.message,
          errorCategory: change.category,
        };
      }
    }
  }
  return { live, incidents, wrongRows };
}

function outcomeOf(row: TrueRow) {
  return {
    verdict: row.verdict,
    startedAtMs: Number(row.tested_at_ms),
    latenessMs: row.lateness_ms,
    latencyMs: row.latency_ms,
    connectMs: null,
    // Kept only in its consequence: it splits time-outs into two categories.
    peerAnswered: row.error_category === "timeout",
    message: row.error_message === "" ? null : row.error_message,
    certificate: null,
  };
}

function agrees(row: TrueRow, judged: ReturnType<typeof applyCheck>["row"]): boolean {
  return (
    Number(row.seq) === judged.seq &&
    row.status === judged.status &&
    row.changed === judged.changed &&
    row.error_category === (judged.error_category ?? "")
  );
}
