/**
 * Rows of results in memory as JSON bytes: the same text as results-json.ts makes. The rows of a monitor differ in a few numbers, so a row is
 * a copy of the one before with these numbers written over: that costs a fifth of what objects and texts cost.
 */
import { familyOf, type Kind } from "../model/kind.ts";
import type { RowColumns } from "../store/recent/row-columns.ts";
import { resultJson, utcSecond } from "./results-json.ts";

/** Digits of the lower part of an id (RowColumns). */
const LOW_DIGITS = 6;
/** Numbers are cut into parts of so many digits, which are whole numbers of 32 bits. */
const CUT_DIGITS = 7;
const CUT = 10 ** CUT_DIGITS;
const KEPT_SECONDS = 4_096;
const ZERO = 0x30;
const COMMA = 0x2c;

const seconds = new Map<number, Buffer>();
/** Kept for the next page; grows with the longest. */
let bytes = Buffer.allocUnsafe(65_536);
let length = 0;

export interface RowsOfMonitor {
  readonly columns: RowColumns;
  readonly places: readonly number[];
  readonly monitorId: number;
  /** Its name as JSON text. */
  readonly nameJson: string;
}

/** A whole answer. @param head what stands before the rows @param tail what stands behind them */
export function resultBytes(head: string, rows: RowsOfMonitor, tail: string): Buffer {
  const patterns = new Patterns(rows);
  length = 0;
  addText(head);
  for (let at = 0; at < rows.places.length; at++) {
    if (at > 0) addComma();
    addRow(rows, rows.places[at] ?? 0, patterns);
  }
  addText(tail);
  return Buffer.from(bytes.subarray(0, length));
}

/** A row, and where its numbers stand in it. */
interface Pattern {
  readonly row: Buffer;
  readonly idAt: number;
  readonly latencyAt: number;
  readonly timeAt: number;
}

/** Rows of one monitor that have the same status and kind, and numbers of the same length. */
class Patterns {
  readonly #rows: RowsOfMonitor;
  readonly #kept = new Map<number, Pattern>();

  constructor(rows: RowsOfMonitor) {
    this.#rows = rows;
  }

  /** @param idDigits of the whole id @param latencyDigits 0: it has none */
  of(place: number, idDigits: number, latencyDigits: number): Pattern {
    const { columns } = this.#rows;
    const status = columns.status[place] ?? 0;
    // Neither number has more than 31 digits, and a kind's is a byte.
    const key = ((columns.kindNumberOf(place) * 4 + status) * 32 + idDigits) * 32 + latencyDigits;
    return this.#kept.get(key) ?? this.#make(key, place, idDigits, latencyDigits);
  }

  #make(key: number, place: number, idDigits: number, latencyDigits: number): Pattern {
    const { columns, monitorId, nameJson } = this.#rows;
    const id = '{"id":"hb_';
    const beforeLatency = `","server_id":"srv_${monitorId}","server_name":${nameJson},"status":"${columns.statusOf(place)}","latency_ms":`;
    const beforeTime = `,"protocol":"${columns.kindOf(place)}","tested_at":"`;
    const latency = latencyDigits === 0 ? "null" : "0".repeat(latencyDigits);
    const parts = [
      id,
      "0".repeat(idDigits),
      beforeLatency,
      latency,
      beforeTime,
      utcSecond(0),
      '","error_message":null}',
    ];
    const ends: number[] = [];
    for (const part of parts) ends.push((ends.at(-1) ?? 0) + Buffer.byteLength(part));
    const [idAt = 0, , latencyAt = 0, , timeAt = 0] = ends;
    const pattern = { row: Buffer.from(parts.join("")), idAt, latencyAt, timeAt };
    this.#kept.set(key, pattern);
    return pattern;
  }
}

function addRow({ columns, monitorId, nameJson }: RowsOfMonitor, place: number, patterns: Patterns): void {
  const latencyMs = columns.latencyOf(place);
  if (columns.hasText(place) || !isShort(latencyMs) || familyOf(columns.kindOf(place) as Kind) === "tunnel") {
    addText(resultJson(columns.read(place, monitorId), nameJson));
    return;
  }
  const high = columns.idHighOf(place);
  const low = columns.idLowOf(place);
  const idDigits = high === 0 ? digitsOf(low) : digitsOf(high) + LOW_DIGITS;
  const latencyDigits = latencyMs === null ? 0 : digitsOf(latencyMs);
  const { row, idAt, latencyAt, timeAt } = patterns.of(place, idDigits, latencyDigits);
  makeRoom(row.length);
  bytes.set(row, length);
  if (high > 0) write(high, length + idAt, idDigits - LOW_DIGITS);
  write(low, length + idAt + (high > 0 ? idDigits - LOW_DIGITS : 0), high > 0 ? LOW_DIGITS : idDigits);
  if (latencyMs !== null) write(latencyMs, length + latencyAt, latencyDigits);
  bytes.set(secondBytes(columns.testedAtMs[place] ?? 0), length + timeAt);
  length += row.length;
}

/** Checks measure whole milliseconds. */
function isShort(latencyMs: number | null): boolean {
  return latencyMs === null || (Number.isInteger(latencyMs) && latencyMs >= 0 && latencyMs < CUT);
}

/** @param value whole, not below 0 */
function digitsOf(value: number): number {
  let digits = 1;
  for (let least = 10; least <= value; least *= 10) digits++;
  return digits;
}

/** @param value whole, not below 0, below CUT squared */
function write(value: number, at: number, digits: number): void {
  if (value < CUT) {
    writeShort(value, at, digits);
    return;
  }
  const high = Math.floor(value / CUT);
  writeShort(high, at, digits - CUT_DIGITS);
  writeShort(value - high * CUT, at + digits - CUT_DIGITS, CUT_DIGITS);
}

function writeShort(value: number, at: number, digits: number): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    const next = (rest / 10) | 0;
    bytes[place] = ZERO + rest - next * 10;
    rest = next;
  }
}

function addText(text: string): void {
  // A unit of UTF-16 is three bytes of UTF-8 at most.
  makeRoom(text.length * 3);
  length += bytes.write(text, length, "utf8");
}

function addComma(): void {
  makeRoom(1);
  bytes[length++] = COMMA;
}

function makeRoom(more: number): void {
  if (length + more <= bytes.length) return;
  const longer = Buffer.allocUnsafe(Math.max(2 * bytes.length, length + more));
  longer.set(bytes.subarray(0, length));
  bytes = longer;
}

function secondBytes(unixMs: number): Buffer {
  const second = Math.floor(unixMs / 1_000);
  const known = seconds.get(second);
  if (known !== undefined) return known;
  if (seconds.size >= KEPT_SECONDS) seconds.clear();
  const made = Buffer.from(utcSecond(unixMs));
  seconds.set(second, made);
  return made;
}
