/** One side of a move of results: reads and writes them as lines, some thousand at a time, and sums them up. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { StoreError } from "../errors.ts";
import { clientOf, insertOnce, readJson, Schema, serverOf } from "./clickhouse.ts";
import type { CopiedResults } from "./copied-tables.ts";
import { SCHEMA_STEPS } from "./schema.ts";

export interface Lines {
  /** Tab-separated, each with its newline. */
  readonly bytes: Buffer;
  readonly rows: number;
  /** Of the last row, as it stands in its line; null where there is none. */
  readonly last: readonly string[] | null;
}

export interface ResultsSum {
  readonly rows: number;
  /** Of every kept row, in any order. */
  readonly sum: string;
}

const ROWS_AT_ONCE = 20_000;
/** A million rows are summed up in about a second. */
const ROWS_SUMMED_AT_ONCE = 2_000_000;
/** A row with its explanation is some hundred bytes; the embedded engine takes 64 MiB at once. */
const MOST_BYTES_AT_ONCE = 16 * 2 ** 20;
const MOST_ANSWER_BYTES = 512 * 2 ** 20;
/** Of one statement, seconds: a move takes minutes, and a busy machine must not end it as it ends the reads of callers, which the embedded engine lets have ten. */
const MOST_STATEMENT_S = 240;
const LONG_STATEMENT = `SETTINGS max_execution_time = ${MOST_STATEMENT_S}`;
const TIMEOUT_MS = 300_000;
const CONNECTIONS = 2;
const NEWLINE = 0x0a;

export class ResultsCopy {
  readonly #database: string;
  readonly #client: ClickHouseClient;
  readonly #schema: Schema;

  constructor(url: string, log: Logger) {
    const server = serverOf(url);
    this.#database = server.database;
    this.#client = clientOf(server, TIMEOUT_MS, CONNECTIONS, { wait_end_of_query: 1 });
    this.#schema = new Schema(server.database, this.#client, log, TIMEOUT_MS);
  }

  /** Makes the tables where they are missing. */
  prepare(): Promise<void> {
    return this.#run(() => this.#schema.ensure());
  }

  /** What is written now feeds no other table. */
  async stopFeeding(): Promise<void> {
    for (const view of viewsOf(this.#database)) {
      await this.#run(() => this.#client.command({ query: `DROP VIEW IF EXISTS ${this.#database}.${view.name}` }));
    }
  }

  async feedAgain(): Promise<void> {
    for (const view of viewsOf(this.#database)) await this.#run(() => this.#client.command({ query: view.statement }));
  }

  async empty({ name }: CopiedResults): Promise<void> {
    await this.#run(() => this.#client.command({ query: `TRUNCATE TABLE ${this.#database}.${name}` }));
  }

  async isEmpty(table: CopiedResults): Promise<boolean> {
    return (await this.#count(table)) === 0;
  }

  async #count(table: CopiedResults): Promise<number> {
    if (!(await this.#isThere(table))) return 0;
    return this.#rowsOf(`${this.#database}.${table.name}`);
  }

  /** A service that ended before it had a result has made no tables. */
  async #isThere({ name }: CopiedResults): Promise<boolean> {
    return (await this.#rowsOf(`system.tables WHERE database = '${this.#database}' AND name = '${name}'`)) > 0;
  }

  async #rowsOf(from: string): Promise<number> {
    const query = `SELECT count() AS rows FROM ${from}`;
    const [row] = await this.#run(() => readJson<{ readonly rows: string | number }>(this.#client, query, TIMEOUT_MS));
    return Number(row?.rows ?? 0);
  }

  /** @param after the key of the last row before; null: from the beginning. @param nowMs decides which rows are kept */
  async read(table: CopiedResults, after: readonly string[] | null, nowMs: number): Promise<Lines> {
    if (!(await this.#isThere(table))) return { bytes: Buffer.alloc(0), rows: 0, last: null };
    const conditions = [table.kept(nowMs), ...(after === null ? [] : [laterThan(table, after)])];
    const query = `SELECT ${table.columns.join(", ")} FROM ${this.#database}.${table.name}${table.isMerged ? " FINAL" : ""}
      WHERE ${conditions.join(" AND ")} ORDER BY ${table.key.map(({ name }) => name).join(", ")} LIMIT ${ROWS_AT_ONCE} WITH TIES ${LONG_STATEMENT} FORMAT TabSeparated`;
    const bytes = await this.#run(async () => wholeOf((await this.#client.exec({ query })).stream));
    const last = lastLine(bytes);
    if (last === null) return { bytes, rows: 0, last: null };
    const fields = last.split("\t");
    const key = table.key.map(({ name }) => fields[table.columns.indexOf(name)] ?? "");
    return { bytes, rows: linesIn(bytes), last: key };
  }

  /** @param token of these lines: written once, however often it is tried */
  async write({ name, columns }: CopiedResults, { bytes }: Lines, token: string): Promise<void> {
    const query = `INSERT INTO ${this.#database}.${name} (${columns.join(", ")}) FORMAT TabSeparated`;
    for (const [at, piece] of piecesOf(bytes).entries())
      await this.#run(() => insertOnce(this.#client, query, piece, `${token} ${at}`));
  }

  /** Monitors in groups, so that no question is longer than the embedded engine lets a read be. */
  async sum(table: CopiedResults, nowMs: number): Promise<ResultsSum> {
    const all = await this.#count(table);
    if (all === 0) return { rows: 0, sum: "0" };
    const groups = Math.ceil((all + 1) / ROWS_SUMMED_AT_ONCE);
    let [rows, sum] = [0, 0n];
    for (let group = 0; group < groups; group++) {
      const from = `FROM ${this.#database}.${table.name}${table.isMerged ? " FINAL" : ""} WHERE ${table.kept(nowMs)}`;
      const query = `SELECT count() AS rows, toString(${table.sum}) AS sum ${from} AND monitor_id % ${groups} = ${group} ${LONG_STATEMENT}`;
      const [row] = await this.#run(() =>
        readJson<{ rows: string | number; sum: string }>(this.#client, query, TIMEOUT_MS),
      );
      rows += Number(row?.rows ?? 0);
      sum = BigInt.asUintN(64, sum + BigInt(row?.sum ?? 0));
    }
    return { rows, sum: sum.toString(16) };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const [reason = ""] = String(error instanceof Error ? error.message : error).split("\n", 1);
      throw new StoreError(`ClickHouse: ${reason.slice(0, 300)} (run the move again: it goes on from here)`, {
        cause: error,
        store: "results",
      });
    }
  }
}

/** The last condition alone would be right; those before it let ClickHouse pass over what it need not read. */
function laterThan({ key }: CopiedResults, after: readonly string[]): string {
  const literals = key.map(({ literal }, at) => literal(after[at] ?? ""));
  const [first, second] = key;
  const tuple = `(${key.map(({ name }) => name).join(", ")}) > (${literals.join(", ")})`;
  if (first === undefined || second === undefined) return tuple;
  const [a = "", b = ""] = literals;
  return `${first.name} >= ${a} AND (${first.name} > ${a} OR ${second.name} >= ${b}) AND ${tuple}`;
}

function viewsOf(database: string): readonly { readonly name: string; readonly statement: string }[] {
  return SCHEMA_STEPS.flatMap(({ statements }) => statements(database)).flatMap((statement) => {
    const name = /^CREATE MATERIALIZED VIEW IF NOT EXISTS \w+\.(\w+)/.exec(statement)?.[1];
    return name === undefined ? [] : [{ name, statement }];
  });
}

async function wholeOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_ANSWER_BYTES) throw new StoreError("an answer of ClickHouse is too long", { store: "results" });
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function lastLine(bytes: Buffer): string | null {
  if (bytes.length === 0) return null;
  if (bytes.at(-1) !== NEWLINE) throw new StoreError("an answer of ClickHouse was cut short", { store: "results" });
  return bytes.toString("utf8", bytes.lastIndexOf(NEWLINE, bytes.length - 2) + 1, bytes.length - 1);
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Whole lines, as many as one insert takes. */
function piecesOf(bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const most = Math.min(bytes.length, from + MOST_BYTES_AT_ONCE);
    const end = bytes.lastIndexOf(NEWLINE, most - 1) + 1;
    const to = end > from ? end : bytes.indexOf(NEWLINE, most) + 1;
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  return pieces;
}
