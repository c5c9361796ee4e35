/**
 * What the tables are written on: one way to read, one way to write, over SQLite or PostgreSQL.
 * kysely builds the ordinary queries; statements below are prepared once per connection and serve the hot paths.
 */
import type { Kysely } from "kysely";
import type { Dialect } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";

export type Value = string | number | null;

/** One statement for both: parameters are `?`, in order; PostgreSQL gets them as `$1`, `$2` … under the name. */
export interface Statement {
  readonly name: string;
  readonly sqlite: string;
  readonly postgres: string;
}

export function statement(name: string, text: string): Statement {
  let count = 0;
  return { name: `sonde_${name}`, sqlite: text, postgres: text.replaceAll("?", () => `$${++count}`) };
}

/** One change for many rows: on SQLite run row by row, on PostgreSQL once with a column per parameter (`unnest`). */
export interface BulkStatement {
  readonly name: string;
  /** One row's change, parameters `?`. */
  readonly sqlite: string;
  /** All rows' change; `$n` is the array of the rows' nth values. */
  readonly postgres: string;
}

export function bulkStatement(name: string, sqlite: string, postgres: string): BulkStatement {
  return { name: `sonde_${name}`, sqlite, postgres };
}

export interface Session {
  readonly dialect: Dialect;
  readonly kysely: Kysely<Tables>;
  /** Rows of a prepared statement, those of `returning` included. */
  query<Row>(statement: Statement, ...values: Value[]): Promise<readonly Row[]>;
  /** Inside `write` only. */
  bulk(statement: BulkStatement, rows: readonly (readonly Value[])[]): Promise<void>;
}

/**
 * What a process uses it for. `api`: a commit waits for the disk, because the answer to a caller promises it. `sink`: it does not, because
 * results are replayed from the spool; PostgreSQL always waits. `shards`: the same, for what holds shards in its transactions. `beat`: a
 * scheduler's signs of life and its shards, on PostgreSQL over connections that give up soon.
 */
export type StoreRole = "api" | "sink" | "shards" | "beat";

export interface Database {
  readonly dialect: Dialect;
  /** Sees what is committed, never a transaction that is still running in this process. */
  readonly read: Session;
  /**
   * One durable transaction, undone when `work` rejects; the rejection passes through. On PostgreSQL `work` runs again after a
   * deadlock, so it must have no effect beyond its session.
   */
  write<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * A number that changes with every commit of any process: while it stays the same, what was read is current. Null where asking
   * costs as much as reading anew (PostgreSQL).
   */
  stamp(): number | null;
  ping(): Promise<void>;
  /** Its machine's clock, Unix ms. */
  clock(): Promise<number>;
  /** Leaves nothing in the files of what was deleted or replaced. PostgreSQL does it by itself, in its own time. */
  scrub(): Promise<void>;
  close(): Promise<void>;
}
