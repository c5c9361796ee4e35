/** What statuses, rows and incidents follow from stored rows alone: the model's rules run over them once more, from the start. */
import { createClient } from "@clickhouse/client";
import { expect } from "vitest";
import { incidentStep, type OpenIncident } from "../../model/incident.ts";
import { applyCheck, type JudgedMonitor, newLiveState } from "../../model/live.ts";
import type { LiveState, RowStatus } from "../../model/status.ts";
import type { ErrorCategory, Verdict } from "../../model/verdict.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";

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
  readonly attempt: number;
  readonly error_category: string;
  readonly error_message: string;
}

const TRUE_ROWS = `SELECT toString(id) AS id, toString(monitor_id) AS monitor_id, toString(seq) AS seq,
  toString(check_id) AS check_id, location, toString(toUnixTimestamp64Milli(tested_at)) AS tested_at_ms, status, verdict, changed,
  latency_ms, lateness_ms, attempt, error_category, error_message FROM results ORDER BY results.monitor_id, results.seq`;

interface TrueIncident {
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly level: string;
  readonly errorMessage: string;
  readonly errorCategory: ErrorCategory | null;
}

interface Truth {
  readonly live: LiveState;
  /** Oldest first. */
  readonly incidents: readonly TrueIncident[];
  /** Rows that do not say what the rules say, or stand out of order. */
  readonly wrongRows: readonly TrueRow[];
}

function truthOf(monitorId: number, monitor: JudgedMonitor, rows: readonly TrueRow[]): Truth {
  let live = newLiveState(monitorId);
  let open: OpenIncident | null = null;
  const incidents: TrueIncident[] = [];
  const wrongRows: TrueRow[] = [];
  for (const row of rows) {
    const outcome = outcomeOf(row);
    const before = live;
    const applied = applyCheck(before, monitor, row.location, outcome, false, row.id);
    live = applied.live;
    if (!agrees(row, applied.row)) wrongRows.push(row);
    const errorCategory = applied.row.error_category;
    const check = { location: row.location, outcome, errorCategory, inMaintenance: false };
    const step: ReturnType<typeof incidentStep> = incidentStep(open, monitor, before, live, check);
    open = step.open;
    for (const change of step.changes) {
      const last = incidents.at(-1);
      if (change.type === "open") {
        const { startedAtMs, level, message, category } = change;
        incidents.push({ startedAtMs, endedAtMs: null, level, errorMessage: message, errorCategory: category });
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

function agrees(row: TrueRow, expected: ReturnType<typeof applyCheck>["row"]): boolean {
  return (
    Number(row.seq) === expected.seq &&
    row.status === expected.status &&
    row.changed === expected.changed &&
    row.error_category === (expected.error_category ?? "")
  );
}

/** Every row, whatever the API would show of it. */
export async function trueRows(clickhouseUrl: string): Promise<TrueRow[]> {
  const client = createClient({ url: clickhouseUrl });
  try {
    const answer = await client.query({ query: TRUE_ROWS, format: "JSONEachRow" });
    return await answer.json<TrueRow>();
  } finally {
    await client.close();
  }
}

/** What SQL says of every monitor is what its rows say, and every row says what the rules say. */
export async function expectTruth(plane: ControlPlane, projectId: number, rows: readonly TrueRow[]): Promise<void> {
  for (const [text, own] of groupBy(rows, (row) => row.monitor_id)) {
    const id = Number(text);
    const found = await plane.monitors.recall(id);
    if (found === undefined) throw new Error(`monitor ${id} is gone`);
    const { monitor } = found;
    const truth = truthOf(id, monitor, own);
    expect(truth.wrongRows).toEqual([]);
    expect(comparable(found.live)).toEqual(comparable(truth.live));
    // Lists hide the incidents of paused monitors.
    if (monitor.pauseReasons.length > 0) continue;
    const incidents = await plane.incidents.list(projectId, { monitorId: id, limit: 1_000 });
    const stored = incidents.map(({ startedAtMs, endedAtMs, level, errorMessage, errorCategory }) => {
      return { startedAtMs, endedAtMs, level, errorMessage, errorCategory };
    });
    expect(stored.sort((a, b) => a.startedAtMs - b.startedAtMs)).toEqual(truth.incidents);
  }
}

/** Rows keep latencies as 32-bit numbers and lateness in whole ms; the order of locations is not kept. */
function comparable(live: LiveState): unknown {
  const rough = (value: number | null) => (value === null ? null : Math.fround(value));
  const locations = Object.entries(live.locations).map(([name, state]) => [
    name,
    { ...state, pingMs: rough(state.pingMs) },
  ]);
  return { ...live, latenessMs: null, latencyMs: rough(live.latencyMs), locations: Object.fromEntries(locations) };
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
