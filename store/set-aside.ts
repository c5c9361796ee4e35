/**
 * Rows that a store refuses for their content: kept in a file, so that they block no other rows and the operator can look at them. One JSON
 * object a line: when, which store, why, and the row. Bounded: what is over half of the bound goes to a second file, over the one before.
 * A row that is set aside again after a death is not written twice.
 */
import { appendFile, readFile, rename } from "node:fs/promises";
import type { Logger } from "pino";
import { storableText } from "../model/plain-values.ts";

/** Of one of the two files. */
const MOST_FILE_BYTES = 4 * 2 ** 20;
/** Of a row that is kept whole, characters; longer ones are cut, and are text then. */
const MOST_ROW = 64 * 1_024;
const MOST_ERROR = 1_000;

export interface RefusedRow {
  readonly store: "sql" | "results";
  /** null: the row says it itself, or is about none. */
  readonly monitorId: number | null;
  readonly error: unknown;
  /** JSON. */
  readonly line: string;
}

export interface SetAside {
  /** On disk when it resolves; never rejects: a disk that is full loses the copy, and nothing else waits for it. */
  add(row: RefusedRow): Promise<void>;
  /** Since the start. */
  readonly rows: number;
  /** Unix ms; null before the first. */
  readonly lastAtMs: number | null;
}

export interface SetAsideOptions {
  readonly file: string;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export async function openSetAside({ file, log, nowMs }: SetAsideOptions): Promise<SetAside> {
  const known = new Set<string>();
  let bytes = 0;
  let rows = 0;
  let lastAtMs: number | null = null;
  const before = await readFile(file, "utf8").catch(() => "");
  bytes = Buffer.byteLength(before);
  for (const line of before.split("\n")) {
    const key = keyOfLine(line);
    if (key !== null) known.add(key);
  }
  let tail: Promise<void> = Promise.resolve();

  async function write(row: RefusedRow): Promise<void> {
    const parsed = rowOf(row.line);
    const id = idOf(parsed);
    const monitorId = row.monitorId ?? monitorOf(parsed);
    const error = wordsOf(row.error);
    rows += 1;
    lastAtMs = nowMs();
    log.error(
      { store: row.store, monitorId, id, error, file },
      "results: a store refuses a row for what is in it, it is set aside",
    );
    const key = `${row.store} ${id}`;
    if (id !== null && known.has(key)) return;
    const text = `${JSON.stringify({
      at: new Date(lastAtMs).toISOString(),
      store: row.store,
      monitor_id: monitorId,
      error,
      row: parsed ?? storableText(row.line, MOST_ROW),
    })}\n`;
    try {
      if (bytes + text.length > MOST_FILE_BYTES) {
        await rename(file, `${file}.1`).catch(() => {});
        bytes = 0;
        known.clear();
      }
      await appendFile(file, text, { mode: 0o600, flush: true });
      bytes += Buffer.byteLength(text);
      if (id !== null) known.add(key);
    } catch (failure) {
      log.error({ err: failure, file }, "results: a row that is set aside cannot be written down");
    }
  }

  return {
    add(row) {
      tail = tail.then(() => write(row));
      return tail;
    },
    get rows() {
      return rows;
    },
    get lastAtMs() {
      return lastAtMs;
    },
  };
}

/** @returns null of what is too long, or no object */
function rowOf(line: string): Readonly<Record<string, unknown>> | null {
  if (line.length > MOST_ROW) return null;
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === "object" && row !== null ? (row as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function idOf(row: Readonly<Record<string, unknown>> | null): string | null {
  return typeof row?.id === "string" ? row.id : null;
}

function monitorOf(row: Readonly<Record<string, unknown>> | null): number | null {
  return typeof row?.monitor_id === "number" ? row.monitor_id : null;
}

function keyOfLine(line: string): string | null {
  const entry = rowOf(line);
  const id = idOf((entry?.row ?? null) as Readonly<Record<string, unknown>> | null);
  return id === null ? null : `${String(entry?.store)} ${id}`;
}

/** What the store said, and of what it happened because. */
function wordsOf(error: unknown): string {
  return storableText(error instanceof Error ? error.message : String(error), MOST_ERROR);
}
