/** Inserts of thousands of rows: prepared once on SQLite, one statement with an array per column on PostgreSQL. */
import { type BulkStatement, bulkStatement, type Session, type Value } from "./database.ts";

type PostgresType = "bigint" | "int" | "text" | "float8";

export interface BulkInsert {
  readonly statement: BulkStatement;
  readonly columns: readonly string[];
}

/** @param columns with their types in PostgreSQL */
export function bulkInsert(table: string, columns: Readonly<Record<string, PostgresType>>): BulkInsert {
  const names = Object.keys(columns);
  const into = `insert into ${table} (${names.join(", ")})`;
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return {
    statement: bulkStatement(
      `insert_${table}`,
      `${into} values (${names.map(() => "?").join(", ")})`,
      `${into} select * from unnest(${arrays.join(", ")})`,
    ),
    columns: names,
  };
}

/** What a row does not have is null. */
export function insertRows(
  session: Session,
  { statement, columns }: BulkInsert,
  rows: readonly Readonly<Record<string, Value>>[],
): Promise<void> {
  return session.bulk(
    statement,
    rows.map((row) => columns.map((column) => row[column] ?? null)),
  );
}
