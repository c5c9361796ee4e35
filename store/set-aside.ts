/**
 * Rows that a store refuses for their content: kept in a file, so that they block no other rows and the operator can look at them. One JSON
 * object a line: when, which store, why, and the row. Bounded: what is over half of the bound goes to a second file, over the one before.
 * A row that is set aside again after a death is not written twice.
 */
import { appendFile, readFile, rename } from "node:fs/promises";
import type { Logger } from "pino";
import { storableText } from "../model/plain-values.ts";

/** Most bytes of each of the two files. */
const MOST_FILE_BYTES = 4 * 2 ** 20;
/** Of a row that is kept whole, characters; longer ones are cut, and are text then. */
const MOST_ROW = 64 * 1_024;
const MOST_ERROR = 1_000;

export interface RefusedRow {
  readonly store: "sql" | "results";
  /** null: the row names it itself, or it is about no monitor. */
  readonly monitorId: number | null;
  readonly error: unknown;
  /** JSON. */
  readonly line: string;
}

export interface SetAside {
  /** Resolves when the row is on disk. Never rejects: when the disk is full the copy is lost, and no other work waits for it. */
  add(row: RefusedRow): Promise<void>;
  /** Whether a row is in the file, as far as it goes back. @param line JSON */
  has(store: RefusedRow["store"], line: string): boolean;
  /** Rows that were set aside since the start. */
  readonly rows: number;
  /** Unix ms; null before the first. */
  readonly lastAtMs: number | null;
}

export interface SetAsideOptions {
  readonly file: string;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export async function openSetAside(options: SetAsideOptions): Promise<SetAside> {
  return new SetAsideFile(options, await readFile(options.file, "utf8").catch(() => ""));
}

class SetAsideFile implements SetAside {
  readonly #file: string;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  /** Stores and ids of the rows in the file. */
  readonly #known = new Set<string>();
  #bytes: number;
  #rows = 0;
  #lastAtMs: number | null = null;
  #tail: Promise<void> = Promise.resolve();

  /** @param before what is in the file */
  constructor({ file, log, nowMs }: SetAsideOptions, before: string) {
    this.#file = file;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#bytes = Buffer.byteLength(before);
    for (const line of before.split("\n")) {
      const key = keyOfLine(line);
      if (key !== null) this.#known.add(key);
    }
  }

  get rows(): number {
    return this.#rows;
  }

  get lastAtMs(): number | null {
    return this.#lastAtMs;
  }

  add(row: RefusedRow): Promise<void> {
    this.#tail = this.#tail.then(() => this.#write(row));
    return this.#tail;
  }

  has(store: RefusedRow["store"], line: string): boolean {
    const id = this.#known.size === 0 ? null : idOf(rowOf(line));
    return id !== null && this.#known.has(`${store} ${id}`);
  }

  async #write(row: RefusedRow): Promise<void> {
    const parsed = rowOf(row.line);
    const id = idOf(parsed);
    const monitorId = row.monitorId ?? monitorOf(parsed);
    const error = wordsOf(row.error);
    this.#rows += 1;
    this.#lastAtMs = this.#nowMs();
    this.#log.error(
      { store: row.store, monitorId, id, error, file: this.#file },
      "results: a store refuses a row for what is in it, it is set aside",
    );
    const key = `${row.store} ${id}`;
    if (id !== null && this.#known.has(key)) return;
    const at = new Date(this.#lastAtMs).toISOString();
    const kept = parsed ?? storableText(row.line, MOST_ROW);
    const text = `${JSON.stringify({ at, store: row.store, monitor_id: monitorId, error, row: kept })}\n`;
    try {
      await this.#append(text);
      if (id !== null) this.#known.add(key);
    } catch (failure) {
      this.#log.error({ err: failure, file: this.#file }, "results: a row that is set aside cannot be written down");
    }
  }

  async #append(text: string): Promise<void> {
    if (this.#bytes + text.length > MOST_FILE_BYTES) {
      await rename(this.#file, `${this.#file}.1`).catch(() => {});
      this.#bytes = 0;
      this.#known.clear();
    }
    await appendFile(this.#file, text, { mode: 0o600, flush: true });
    this.#bytes += Buffer.byteLength(text);
  }
}

/** @returns null for a line that is too long or is no object */
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

/** The store's message and those of its causes. */
function wordsOf(error: unknown): string {
  return storableText(error instanceof Error ? error.message : String(error), MOST_ERROR);
}
