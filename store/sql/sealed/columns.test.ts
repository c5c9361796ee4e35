import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../testkit/temporary-folder.ts";
import { openSqlite } from "../db/sqlite.ts";
import { SEALED_COLUMNS } from "./columns.ts";

it("are all in the list: a rotation forgets no column whose name says that it is sealed", async () => {
  const folder = temporaryFolder();
  const database = await openSqlite({ file: join(folder, "sonde.db"), durable: false });
  const tables = await database.read.kysely.introspection.getTables();
  await database.close();
  const inSchema = tables.flatMap((table) =>
    table.columns.filter(({ name }) => /(^|_)sealed$/.test(name)).map(({ name }) => `${table.name}.${name}`),
  );
  const inList = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  expect(inList.sort()).toEqual(inSchema.sort());
  for (const { table, key } of SEALED_COLUMNS) {
    const found = tables.find(({ name }) => name === table)?.columns.find(({ name }) => name === key);
    expect([table, found?.dataType]).toEqual([table, "INTEGER"]);
  }
  // A cell names its own table, and no two tables share one.
  for (const { table, cell } of SEALED_COLUMNS) {
    expect(cell(1, "x").column).toMatch(new RegExp(`^${table}\\.\\w+$`));
  }
});
