/** A move takes every table of the schema, or says why not: of a new table this test asks for its line. */
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../testkit/temporary-folder.ts";
import { openSqlite } from "../db/sqlite.ts";
import { TABLES } from "../schema/tables.ts";
import { COPIED_TABLES, LEFT_TABLES } from "./copied-tables.ts";

const folder = temporaryFolder();
const database = await openSqlite({ file: join(folder, "control.sqlite"), durable: false });
afterAll(async () => {
  await database.close();
});

const names = COPIED_TABLES.map(({ name }) => name);

describe("the list of tables that are carried", () => {
  it("has each table of the schema once, but for those that stay and say why", async () => {
    const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'
      and name not like 'sqlite_%' and name not like 'kysely_%'`.execute(database.read.kysely);
    expect([...names, ...Object.keys(LEFT_TABLES)].sort()).toEqual(rows.map(({ name }) => name).sort());
    expect(Object.keys(TABLES).sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it.each(COPIED_TABLES)("tells the rows of $name apart, and comes after what they refer to", async ({ name, key }) => {
    type Column = { readonly name: string; readonly pk: number };
    const { rows } = await sql<Column>`select name, pk from pragma_table_info(${name})`.execute(database.read.kysely);
    const primary = rows.filter(({ pk }) => pk > 0).map((column) => column.name);
    expect([...key].sort()).toEqual(primary.sort());
    const { rows: referred } = await sql<{
      table: string;
    }>`select "table" from pragma_foreign_key_list(${name})`.execute(database.read.kysely);
    const before = names.slice(0, names.indexOf(name));
    expect(before).toEqual(expect.arrayContaining(referred.map(({ table }) => table)));
  });
});
