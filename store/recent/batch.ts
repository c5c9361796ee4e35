/**
 * Rows on their way from the process that judged them to those that show them: one message for each batch of the sink. A text that comes over Redis
 * may have been written by any program, so reading it checks everything.
 */
import { type LiveStatus, MONITOR_STATUSES, ROW_STATUSES, type RowStatus } from "../../model/status.ts";

/** A row that is on disk and on its way to the stores. */
export interface PublishedRow {
  readonly monitorId: number;
  readonly projectId: number;
  /** Counts the monitor's rows from 1. */
  readonly seq: number;
  /** Decimal text of at most 20 digits. */
  readonly id: string;
  readonly kind: string;
  readonly status: RowStatus;
  readonly testedAtMs: number;
  readonly latencyMs: number | null;
  readonly connectMs: number | null;
  readonly errorMessage: string | null;
  /** The monitor's own status once the row was judged. */
  readonly liveStatus: LiveStatus;
}

export interface RowBatch {
  /** The scheduler that judged them: the name of its spool. */
  readonly publisher: string;
  /** Counts the publisher's batches from 1, without gaps: a jump says that one was lost. */
  readonly number: number;
  /** In the order in which they were judged. */
  readonly rows: readonly PublishedRow[];
  /** Monitors of which a published row was refused by SQL: what is known of them is read anew. */
  readonly refused: readonly number[];
}

/** The sink writes at most some thousand at once. */
const MOST_ROWS = 200_000;
const MOST_NAME = 100;
const MOST_MESSAGE = 2_100;
/** As probes are named. */
const KIND = /^[a-z0-9-]{1,40}$/;
const ID = /^(?:0|[1-9][0-9]{0,19})$/;

type Cells = readonly [
  monitorId: number,
  projectId: number,
  seq: number,
  id: string,
  kind: string,
  status: number,
  testedAtMs: number,
  latencyMs: number | null,
  connectMs: number | null,
  errorMessage: string | null,
  liveStatus: number,
];

export function batchText({ publisher, number, rows, refused }: RowBatch): string {
  return JSON.stringify({ publisher, number, rows: rows.map(cellsOf), refused });
}

function cellsOf(row: PublishedRow): Cells {
  return [
    row.monitorId,
    row.projectId,
    row.seq,
    row.id,
    row.kind,
    ROW_STATUSES.indexOf(row.status),
    row.testedAtMs,
    row.latencyMs,
    row.connectMs,
    row.errorMessage,
    MONITOR_STATUSES.indexOf(row.liveStatus),
  ];
}

/** @returns undefined for what is no batch: the reader then knows that something is missing */
export function parseBatch(text: string): RowBatch | undefined {
  let from: unknown;
  try {
    from = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof from !== "object" || from === null) return undefined;
  const { publisher, number, rows, refused } = from as Record<string, unknown>;
  if (typeof publisher !== "string" || publisher.length > MOST_NAME || !isCount(number)) return undefined;
  if (!Array.isArray(rows) || rows.length > MOST_ROWS || !Array.isArray(refused)) return undefined;
  if (refused.length > MOST_ROWS || !refused.every(isCount)) return undefined;
  const read: PublishedRow[] = [];
  for (const cells of rows as unknown[]) {
    const row = rowOf(cells);
    if (row === undefined) return undefined;
    read.push(row);
  }
  return { publisher, number, rows: read, refused };
}

function rowOf(cells: unknown): PublishedRow | undefined {
  if (!Array.isArray(cells) || cells.length !== 11) return undefined;
  const [monitorId, projectId, seq, id, kind, status, testedAtMs, latencyMs, connectMs, errorMessage, live] =
    cells as unknown[];
  if (!isCount(monitorId) || !isCount(projectId) || !isCount(seq) || !isCount(testedAtMs)) return undefined;
  if (typeof id !== "string" || !ID.test(id) || typeof kind !== "string" || !KIND.test(kind)) return undefined;
  if (!isSpan(latencyMs) || !isSpan(connectMs)) return undefined;
  if (errorMessage !== null && (typeof errorMessage !== "string" || errorMessage.length > MOST_MESSAGE))
    return undefined;
  const rowStatus = ROW_STATUSES[Number(status)];
  const liveStatus = MONITOR_STATUSES[Number(live)];
  if (rowStatus === undefined || liveStatus === undefined || liveStatus === "paused") return undefined;
  const times = { testedAtMs, latencyMs, connectMs };
  return { monitorId, projectId, seq, id, kind, status: rowStatus, ...times, errorMessage, liveStatus };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isSpan(value: unknown): value is number | null {
  return value === null || (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
}
