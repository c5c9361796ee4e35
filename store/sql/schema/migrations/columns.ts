/** Column types that mean the same in both databases. */
import { type CreateTableBuilder, type RawBuilder, sql } from "kysely";
import type { Dialect } from "../dialect.ts";

/** A first column `id` whose numbers are never given twice, deletions included. */
export function withId<Table extends string, Columns extends string>(
  dialect: Dialect,
  table: CreateTableBuilder<Table, Columns>,
): CreateTableBuilder<Table, Columns | "id"> {
  return dialect === "sqlite"
    ? table.addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
    : table.addColumn("id", "bigint", (column) => column.primaryKey().generatedByDefaultAsIdentity());
}

/** Sorted by code point: what SQLite does by itself and PostgreSQL only when told. */
export function sortedText(dialect: Dialect): RawBuilder<unknown> {
  return dialect === "sqlite" ? sql`text` : sql`text collate "C"`;
}

/** A primary key that holds another table's id: in SQLite only `integer` makes it the row's own number. */
export function givenId(dialect: Dialect): "integer" | "bigint" {
  return dialect === "sqlite" ? "integer" : "bigint";
}
