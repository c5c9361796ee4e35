/**
 * Statements for thousands of rows, made from the declared columns: on SQLite prepared once and run row by row, on PostgreSQL one statement
 * with an array per column.
 */
import type { Insertable } from "kysely";
import { type Columns, insertColumns, type SqlValue, type Table } from "../schema/column.ts";
import type { Tables } from "../schema/tables.ts";
import { type BulkStatement, bulkStatement, type Session, type Statement, statement } from "./database.ts";

/** `unnest(…) as n (…)`: rows of these columns from arrays in that order. */
export function unnested({ columns }: Table, names: readonly string[]): string {
  const arrays = names.map((name, index) => `$${index + 1}::${columns[name]?.type}[]`);
  return `unnest(${arrays.join(", ")}) as n (${names.join(", ")})`;
}

interface BulkInsert {
  readonly statement: BulkStatement;
  readonly columns: readonly string[];
}

/** An insert of all columns to which the database gives no value by itself. */
export function bulkInsert(table: Table): BulkInsert {
  const columns = insertColumns(table);
  const into = `insert into ${table.name} (${columns.join(", ")})`;
  return {
    statement: bulkStatement(
      `insert_${table.name}`,
      `${into} values (${columns.map(() => "?").join(", ")})`,
      `${into} select * from ${unnested(table, columns)}`,
    ),
    columns,
  };
}

/** A value that a row lacks becomes null. */
export function insertRows(
  session: Session,
  { statement, columns }: BulkInsert,
  rows: readonly Readonly<Record<string, SqlValue>>[],
): Promise<void> {
  return session.bulk(
    statement,
    rows.map((row) => columns.map((column) => row[column] ?? null)),
  );
}

interface RowInsert {
  readonly statement: Statement;
  readonly columns: readonly string[];
}

/** An insert of one row, prepared once: the query builder would make its text anew each time, which takes longer than SQLite for the row. */
export function rowInsert(table: Table): RowInsert {
  const columns = insertColumns(table);
  const into = `insert into ${table.name} (${columns.join(", ")})`;
  return {
    statement: statement(`add_${table.name}`, `${into} values (${columns.map(() => "?").join(", ")}) returning id`),
    columns,
  };
}

/** A value that the row lacks becomes null. @returns the number that the database gave it */
export async function insertRow(
  session: Session,
  { statement: wanted, columns }: RowInsert,
  row: Readonly<Record<string, SqlValue>>,
): Promise<number> {
  const [made] = await session.query<{ readonly id: number }>(wanted, ...columns.map((column) => row[column] ?? null));
  if (made === undefined) throw new Error("an inserted row has no number");
  return made.id;
}

type Names<Of extends Columns> = readonly (keyof Of & string)[];

/**
 * Sets columns of rows that are known by their key, and adds to others. The values of a row come in the order `set`, `add`, `key`.
 * @param name of the prepared statement
 */
export function bulkUpdate<Of extends Columns>(
  name: string,
  table: Table<string, Of>,
  { set, add = [], key }: { readonly set: Names<Of>; readonly add?: Names<Of>; readonly key: keyof Of & string },
): BulkStatement {
  const alias = table.name.charAt(0);
  const values = [...set.map((column) => `${column} = ?`), ...add.map((column) => `${column} = ${column} + ?`)];
  const joined = [
    ...set.map((column) => `${column} = n.${column}`),
    ...add.map((column) => `${column} = ${alias}.${column} + n.${column}`),
  ];
  return bulkStatement(
    name,
    `update ${table.name} set ${values.join(", ")} where ${key} = ?`,
    `update ${table.name} ${alias} set ${joined.join(", ")} from ${unnested(table, [...set, ...add, key])} where ${alias}.${key} = n.${key}`,
  );
}

/**
 * Rows of one insert of the query builder: a row has at most 36 values, so an insert stays below SQLite's 32,766 parameters
 * (SQLITE_MAX_VARIABLE_NUMBER) and PostgreSQL's 65,535.
 */
const ROWS_PER_INSERT = 500;

/** Inserts any number of rows through the query builder, some hundred a statement. */
export async function insertInChunks<Name extends keyof Tables & string>(
  { kysely }: Session,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  for (const some of chunksOf(rows)) await kysely.insertInto(table).values(some).execute();
}

export function* chunksOf<Item>(items: readonly Item[], most = ROWS_PER_INSERT): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += most) yield items.slice(start, start + most);
}
