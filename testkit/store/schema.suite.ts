/** The schema as a text to look at and to compare: a migration that changes it shows in the checked-in file. */
import { sql } from "kysely";
import type { Database } from "../../store/sql/db/database.ts";

export async function dumpSchema(database: Database): Promise<string> {
  const lines = database.dialect === "sqlite" ? await dumpSqlite(database) : await dumpPostgres(database);
  return `-- The schema on ${database.dialect}; written by the tests, compared by them.\n\n${lines.join("\n\n")}\n`;
}

async function dumpSqlite({ read }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where sql is not null and name not like 'sqlite_%'
    order by tbl_name, type desc, name`.execute(read.kysely);
  // One column a line.
  return rows.map(({ sql }) => `${sql.startsWith("CREATE TABLE") ? sql.replaceAll(/, (?=")/g, ",\n  ") : sql};`);
}

async function dumpPostgres({ read }: Database): Promise<readonly string[]> {
  const columns = await sql<{ table_name: string; line: string }>`
    select c.relname as table_name,
      format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        case when l.collname is null or l.collname = 'default' then '' else ' collate "' || l.collname || '"' end,
        case when a.attnotnull then ' not null' else '' end,
        case when a.attidentity = '' then '' else ' identity' end) as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_collation l on l.oid = a.attcollation
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    order by c.relname, a.attnum`.execute(read.kysely);
  const constraints = await sql<{ table_name: string; line: string }>`
    select c.relname as table_name, format('  constraint %s %s', k.conname, pg_get_constraintdef(k.oid)) as line
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where c.relnamespace = 'public'::regnamespace and k.contype in ('p', 'u', 'f', 'c') order by c.relname, k.conname`.execute(
    read.kysely,
  );
  const indexes = await sql<{ table_name: string; line: string }>`
    select tablename as table_name, indexdef as line from pg_indexes where schemaname = 'public' order by tablename, indexname`.execute(
    read.kysely,
  );
  const tables = [...new Set(columns.rows.map((row) => row.table_name))];
  const of = (rows: readonly { table_name: string; line: string }[], table: string): string[] =>
    rows.filter((row) => row.table_name === table).map((row) => row.line);
  return tables.map((table) => {
    const body = [...of(columns.rows, table), ...of(constraints.rows, table)].join(",\n");
    return [`create table ${table} (\n${body}\n);`, ...of(indexes.rows, table).map((line) => `${line};`)].join("\n");
  });
}
