/** Rows of a table as they stand in the database: read in the order of their keys, some hundred at a time, and written as they are. */
import { createHash } from "node:crypto";
import { unnested } from "../db/bulk.ts";
import type { Database, Session, Value } from "../db/database.ts";
import { bulkStatement, statement } from "../db/database.ts";
import { TABLES } from "../schema/tables.ts";
import type { CopiedTable } from "./copied-tables.ts";

export type CopiedRow = readonly Value[];

/** How far a move has come is kept in the target, among the named values: it is part of no copy. */
export const MOVE_MARK = "move";

const columnsOf = ({ name }: CopiedTable): readonly string[] => Object.keys(TABLES[name].columns);
const hasOwnIds = ({ name }: CopiedTable): boolean => Object.values(TABLES[name].columns)[0]?.hasDefault === true;

/** @param after the key of the last row before; null: from the beginning */
export async function readRows(
  session: Session,
  table: CopiedTable,
  after: CopiedRow | null,
): Promise<readonly CopiedRow[]> {
  const columns = columnsOf(table);
  const select = (isPostgres: boolean): string => {
    const key = table.key.map((name) => sorted(table, name, isPostgres)).join(", ");
    const conditions = [
      ...(table.name === "meta" ? [`name <> '${MOVE_MARK}'`] : []),
      ...(after === null
        ? []
        : [`(${key}) > (${table.key.map((_, at) => (isPostgres ? `$${at + 1}` : "?")).join(", ")})`]),
    ];
    const where = conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
    return `select ${columns.join(", ")} from ${table.name}${where} order by ${key} limit ${table.rows}`;
  };
  const name = `sonde_read_${table.name}_${after === null ? "first" : "next"}`;
  const wanted = { name, sqlite: select(false), postgres: select(true) };
  const rows = await session.query<Readonly<Record<string, Value>>>(wanted, ...(after ?? []));
  return rows.map((row) => columns.map((column) => row[column] ?? null));
}

/** Text sorts by code point in both databases. */
function sorted({ name }: CopiedTable, column: string, isPostgres: boolean): string {
  const columns: Readonly<Record<string, { readonly type: string }>> = TABLES[name].columns;
  return isPostgres && columns[column]?.type === "text" ? `${column} collate "C"` : column;
}

export function keyOf(table: CopiedTable, row: CopiedRow): CopiedRow {
  const columns = columnsOf(table);
  return table.key.map((name) => row[columns.indexOf(name)] ?? null);
}

export async function writeRows(session: Session, table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
  const columns = columnsOf(table);
  const into = `insert into ${table.name} (${columns.join(", ")})`;
  const statementOf = bulkStatement(
    `copy_${table.name}`,
    `${into} values (${columns.map(() => "?").join(", ")})`,
    // Their own ids, where the database would give them.
    `${into}${hasOwnIds(table) ? " overriding system value" : ""} select * from ${unnested(TABLES[table.name], columns)}`,
  );
  await session.bulk(statementOf, rows);
}

/** Takes away what the migrations or a copy before have put there. */
export async function emptyTable({ query }: Session, { name }: CopiedTable): Promise<void> {
  await query(
    statement(`empty_${name}`, `delete from ${name}${name === "meta" ? ` where name <> '${MOVE_MARK}'` : ""}`),
  );
}

export interface Digest {
  readonly rows: number;
  /** Of all values of all rows, in the order of their keys. */
  readonly sha256: string;
}

export async function digestOf(
  { read }: Database,
  table: CopiedTable,
  onRows: (rows: number) => void,
): Promise<Digest> {
  const hash = createHash("sha256");
  let count = 0;
  for (let after: CopiedRow | null = null; ; ) {
    const rows: readonly CopiedRow[] = await readRows(read, table, after);
    for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
    count += rows.length;
    onRows(count);
    const last = rows.at(-1);
    if (last === undefined || rows.length < table.rows) return { rows: count, sha256: hash.digest("hex") };
    after = keyOf(table, last);
  }
}

export async function countOf({ read }: Database, { name }: CopiedTable): Promise<number> {
  const [row] = await read.query<{ readonly count: number }>(
    statement(`count_${name}`, `select count(*) as count from ${name}`),
  );
  return Number(row?.count ?? 0);
}

/** The highest id that was ever given, deleted rows included: it is not given again. */
export async function highestId({ dialect, read }: Database, table: CopiedTable): Promise<number | null> {
  if (!hasOwnIds(table)) return null;
  if (dialect === "sqlite") {
    const wanted = statement("highest_id", "select seq as id from sqlite_sequence where name = ?");
    return (await read.query<{ readonly id: number }>(wanted, table.name))[0]?.id ?? 0;
  }
  const [found] = await read.query<{ readonly name: string }>(
    statement("sequence_name", "select pg_get_serial_sequence(?, 'id') as name"),
    table.name,
  );
  const [row] = await read.query<{ readonly id: number; readonly is_called: boolean }>(
    statement(`sequence_of_${table.name}`, `select last_value as id, is_called from ${found?.name ?? ""}`),
  );
  return row?.is_called === true ? Number(row.id) : 0;
}

export async function setHighestId({ dialect, query }: Session, { name }: CopiedTable, id: number): Promise<void> {
  if (dialect === "sqlite") {
    await query(statement("forget_highest_id", "delete from sqlite_sequence where name = ?"), name);
    await query(statement("set_highest_id", "insert into sqlite_sequence (name, seq) values (?, ?)"), name, id);
    return;
  }
  const wanted = statement(
    "set_sequence",
    "select setval(pg_get_serial_sequence(?, 'id')::regclass, greatest(?::bigint, 1), ?::bigint > 0)",
  );
  await query(wanted, name, id, id);
}
