/// <reference lib="es2024.string" />
/**
 * Inserts one segment of the spool. When the store refuses rows for what is in them, the segment is halved until each bad row is alone; that row
 * is repaired or set aside. The tokens of halves follow from the whole's, so a repeat is safe, and pieces that were settled before an outage
 * are not sent again.
 */
import { StoreError } from "../errors.ts";
import type { SetAside } from "../set-aside.ts";
import type { ResultStore, RowsToInsert } from "./result-store.ts";
import type { SpoolSegment } from "./spool.ts";

export interface InsertTarget {
  readonly results: Pick<ResultStore, "insert">;
  /** Keeps single rows that the store refuses. */
  readonly setAside: Pick<SetAside, "add">;
}

export class SegmentInsert {
  readonly #target: InsertTarget;
  readonly #whole: RowsToInsert;
  /** Tokens of the pieces that are done: they are not sent again. */
  readonly #settled = new Map<string, "done" | StoreError>();
  #rejectedRows = 0;

  private constructor(whole: RowsToInsert, target: InsertTarget) {
    this.#whole = whole;
    this.#target = target;
  }

  /** Reads the segment once. The spool may drop rows from it meanwhile, but a token must always stand for the same rows. */
  static async of(segment: SpoolSegment, target: InsertTarget): Promise<SegmentInsert> {
    const { token, rows } = segment;
    return new SegmentInsert({ token, lines: await segment.read(), rows }, target);
  }

  get token(): string {
    return this.#whole.token;
  }

  get rows(): number {
    return this.#whole.rows;
  }

  /** Rows that the store refused so far; they are set aside. */
  get rejectedRows(): number {
    return this.#rejectedRows;
  }

  /** @throws errors that a later call may not meet; that call goes on where this one ended */
  async run(): Promise<void> {
    if (this.#whole.rows > 0) await this.#insert(this.#whole);
  }

  async #insert(piece: RowsToInsert): Promise<void> {
    const { token } = piece;
    const before = this.#settled.get(token);
    if (before === "done") return;
    const refusal = before ?? (await this.#send(piece));
    this.#settled.set(token, refusal ?? "done");
    if (refusal === undefined) return;
    if (piece.rows <= 1) {
      await this.#insertRepaired(piece, refusal);
      this.#settled.set(token, "done");
      return;
    }
    for (const half of halves(piece)) await this.#insert(half);
  }

  /** @returns why the rows were refused; throws errors that a later try may not meet */
  async #send(piece: RowsToInsert): Promise<StoreError | undefined> {
    try {
      await this.#target.results.insert(piece);
      return undefined;
    } catch (error) {
      if (error instanceof StoreError && error.kind === "refused") return error;
      throw error;
    }
  }

  /** A lone surrogate can be repaired; a row with any other fault is set aside. */
  async #insertRepaired({ token, lines: line }: RowsToInsert, refusal: StoreError): Promise<void> {
    const repaired = wellFormed(line);
    const isStored =
      repaired !== undefined && (await this.#send({ token: `${token}.w`, lines: repaired, rows: 1 })) === undefined;
    if (isStored) return;
    const text = Buffer.from(line).toString("utf8").trimEnd();
    await this.#target.setAside.add({ store: "results", monitorId: null, error: refusal, line: text });
    this.#rejectedRows += 1;
  }
}

const NEWLINE = 0x0a;

function halves({ token, lines, rows }: RowsToInsert): readonly [RowsToInsert, RowsToInsert] {
  const firstRows = Math.floor(rows / 2);
  let end = 0;
  for (let row = 0; row < firstRows; row += 1) end = lines.indexOf(NEWLINE, end) + 1;
  return [
    { token: `${token}.0`, lines: lines.subarray(0, end), rows: firstRows },
    { token: `${token}.1`, lines: lines.subarray(end), rows: rows - firstRows },
  ];
}

/** @returns the line with every string made well-formed Unicode; undefined when that changes nothing, or it is no JSON */
export function wellFormed(line: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(line).toString("utf8");
  let isChanged = false;
  try {
    const row: unknown = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== "string" || value.isWellFormed()) return value;
      isChanged = true;
      return value.toWellFormed();
    });
    return isChanged ? Buffer.from(`${JSON.stringify(row)}\n`) : undefined;
  } catch {
    return undefined;
  }
}
