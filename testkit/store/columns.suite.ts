/** The declared columns beside those of a real database: names, types, nullability, and what the database gives by itself. */
import { sql } from "kysely";
import { expect } from "vitest";
import type { Database } from "../../store/sql/db/database.ts";
import type { Columns, SqlType } from "../../store/sql/schema/column.ts";
import { TABLES } from "../../store/sql/schema/tables.ts";

const POSTGRES: Readonly<Record<string, SqlType>> = { int8: "bigint", int4: "int", text: "text", float8: "float8" };
const SQLITE: Readonly<Record<string, SqlType>> = {
  bigint: "bigint",
  integer: "int",
  text: "text",
  "double precision": "float8",
};

/** What is compared of one column, as one line. */
const lineOf = (type: string, isNullable: boolean, isGiven: boolean): string =>
  `${type}${isNullable ? "" : " not null"}${isGiven ? " given" : ""}`;

function declared(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return Object.fromEntries(
    Object.values(TABLES).map(({ name, columns }) => [
      name,
      Object.fromEntries(
        Object.entries(columns as Columns).map(([column, { type, nullable, hasDefault: given }]) => [
          column,
          lineOf(type, nullable, given),
        ]),
      ),
    ]),
  );
}

export async function expectDeclaredColumns({ dialect, read }: Database): Promise<void> {
  const tables = await read.kysely.introspection.getTables();
  const found: Record<string, Record<string, string>> = {};
  const expected: Record<string, Record<string, string>> = {};
  for (const [name, columns] of Object.entries(declared())) expected[name] = { ...columns };
  for (const { name, columns } of tables) {
    const { keys, rowNumber, isGiven } = dialect === "sqlite" ? await sqliteKeys(read, name) : NO_KEYS;
    found[name] = {};
    for (const column of columns) {
      const type = (dialect === "sqlite" ? SQLITE : POSTGRES)[column.dataType.toLowerCase()] ?? column.dataType;
      // SQLite's row number has 64 bits whatever its type is called.
      const ofRowNumber = expected[name]?.[column.name]?.startsWith("int") === true ? "int" : "bigint";
      // A primary key of SQLite may be null unless it is said otherwise (sqlite.org/lang_createtable.html#the_primary_key); ours never is.
      const isNullable = column.isNullable && !keys.includes(column.name);
      found[name][column.name] =
        column.name === rowNumber
          ? lineOf(ofRowNumber, false, isGiven)
          : lineOf(type, isNullable, column.isAutoIncrementing);
    }
  }
  expect(found).toEqual(expected);
}

interface SqliteKeys {
  readonly keys: readonly string[];
  /** The column that stands for the row's number, if one does. */
  readonly rowNumber?: string | undefined;
  /** Its numbers are never given twice. */
  readonly isGiven: boolean;
}
const NO_KEYS: SqliteKeys = { keys: [], isGiven: false };

async function sqliteKeys({ kysely }: Database["read"], table: string): Promise<SqliteKeys> {
  const { rows } = await sql<{ name: string; type: string }>`
    select name, type from pragma_table_info(${table}) where pk > 0`.execute(kysely);
  const made = await sql<{ sql: string }>`select sql from sqlite_master where name = ${table}`.execute(kysely);
  const isRowNumber = rows.length === 1 && rows[0]?.type.toLowerCase() === "integer";
  return {
    keys: rows.map(({ name }) => name),
    rowNumber: isRowNumber ? rows[0]?.name : undefined,
    isGiven: /autoincrement/i.test(made.rows[0]?.sql ?? ""),
  };
}
