/** Rows as columns of numbers: 36 bytes a row, 44 with the monitor's id, and nothing for the garbage collector to walk. */
import { ROW_STATUSES, type RowStatus } from "../../model/status.ts";
import type { StoredResult } from "../results/result-store.ts";
import type { PublishedRow } from "./batch.ts";
import { LOST_TEXT, NO_TEXT, type Texts } from "./texts.ts";

/** A row as it is kept. */
export type KeptRow = Omit<PublishedRow, "projectId" | "liveStatus">;

/** Of an id, its last digits are a number of their own: the whole has too many for one. */
const LOW_DIGITS = 6;
const LOW_FACTOR = 10 ** LOW_DIGITS;
/** Without the monitor's id. */
export const BYTES_PER_ROW = 36;

export class RowColumns {
  /** Empty where all rows of a ring are of one monitor. */
  readonly #monitorId: Float64Array;
  readonly testedAtMs: Float64Array;
  readonly status: Uint8Array;
  readonly seq: Uint32Array;
  readonly #latencyMs: Float32Array;
  readonly #idHigh: Float64Array;
  readonly #idLow: Uint32Array;
  readonly #connectMs: Float32Array;
  readonly #text: Uint16Array;
  readonly #kind: Uint8Array;
  readonly #texts: Texts;
  readonly #kinds: Kinds;

  constructor(rows: number, texts: Texts, kinds: Kinds, hasMonitors: boolean) {
    this.#monitorId = new Float64Array(hasMonitors ? rows : 0);
    this.testedAtMs = new Float64Array(rows);
    this.status = new Uint8Array(rows);
    this.seq = new Uint32Array(rows);
    this.#latencyMs = new Float32Array(rows);
    this.#idHigh = new Float64Array(rows);
    this.#idLow = new Uint32Array(rows);
    this.#connectMs = new Float32Array(rows);
    this.#text = new Uint16Array(rows);
    this.#kind = new Uint8Array(rows);
    this.#texts = texts;
    this.#kinds = kinds;
  }

  /** What stood there must have been cleared. */
  set(at: number, row: KeptRow): void {
    const cut = Math.max(0, row.id.length - LOW_DIGITS);
    if (this.#monitorId.length > 0) this.#monitorId[at] = row.monitorId;
    this.testedAtMs[at] = row.testedAtMs;
    this.status[at] = ROW_STATUSES.indexOf(row.status);
    this.seq[at] = row.seq;
    this.#latencyMs[at] = row.latencyMs ?? Number.NaN;
    this.#connectMs[at] = row.connectMs ?? Number.NaN;
    this.#idHigh[at] = Number(row.id.slice(0, cut));
    this.#idLow[at] = Number(row.id.slice(cut));
    this.#text[at] = this.#texts.take(row.errorMessage);
    this.#kind[at] = this.#kinds.numberOf(row.kind);
  }

  /** Gives up its text. */
  clear(at: number): void {
    this.#texts.release(this.#text[at] ?? NO_TEXT);
    this.#text[at] = NO_TEXT;
  }

  /** Whether the row is whole: its message and the name of its kind had room. */
  isWhole(at: number): boolean {
    return this.#text[at] !== LOST_TEXT && this.#kinds.nameOf(this.#kind[at] ?? 0) !== undefined;
  }

  idOf(at: number): string {
    const [high, low] = [this.#idHigh[at] ?? 0, this.#idLow[at] ?? 0];
    return high === 0 ? String(low) : String(high) + String(low + LOW_FACTOR).slice(1);
  }

  /** An id in two numbers: its last six digits, and those before. */
  idHighOf(at: number): number {
    return this.#idHigh[at] ?? 0;
  }

  idLowOf(at: number): number {
    return this.#idLow[at] ?? 0;
  }

  /** Rows with the same number have the same kind. */
  kindNumberOf(at: number): number {
    return this.#kind[at] ?? 0;
  }

  kindOf(at: number): string {
    return this.#kinds.nameOf(this.#kind[at] ?? 0) ?? "";
  }

  /** Whether the row has a message. */
  hasText(at: number): boolean {
    return this.#text[at] !== NO_TEXT;
  }

  statusOf(at: number): RowStatus {
    return ROW_STATUSES[this.status[at] ?? 0] ?? "unknown";
  }

  monitorOf(at: number): number {
    return this.#monitorId[at] ?? 0;
  }

  latencyOf(at: number): number | null {
    return shortest(this.#latencyMs[at]);
  }

  /** @param monitorId whose ring it is; absent where the columns have it */
  read(at: number, monitorId: number = this.monitorOf(at)): StoredResult {
    const text = this.#text[at] ?? NO_TEXT;
    return {
      id: this.idOf(at),
      monitorId,
      kind: this.kindOf(at),
      status: this.statusOf(at),
      latencyMs: this.latencyOf(at),
      connectMs: shortest(this.#connectMs[at]),
      testedAtMs: this.testedAtMs[at] ?? 0,
      errorMessage: text === NO_TEXT ? null : this.#texts.textOf(text),
      details: null,
    };
  }

  /** As it was set. */
  rowOf(at: number, monitorId: number): KeptRow {
    const { details: _, ...row } = this.read(at, monitorId);
    return { ...row, seq: this.seq[at] ?? 0 };
  }

  /** Newest first; ties by id, highest first. Negative: the first stands before the second. */
  compare(one: number, other: number): number {
    return (
      (this.testedAtMs[other] ?? 0) - (this.testedAtMs[one] ?? 0) ||
      (this.#idHigh[other] ?? 0) - (this.#idHigh[one] ?? 0) ||
      (this.#idLow[other] ?? 0) - (this.#idLow[one] ?? 0)
    );
  }
}

/** Names of kinds by number. */
export class Kinds {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    // Fits 8 bits; the last number stands for all that have no room.
    if (this.#names.length >= 255) return 255;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  nameOf(number: number): string | undefined {
    return this.#names[number];
  }
}

/** The shortest decimal that is this 32-bit number, as ClickHouse writes it; null: not measured. */
function shortest(value: number | undefined): number | null {
  if (value === undefined || Number.isNaN(value)) return null;
  if (Number.isInteger(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}
