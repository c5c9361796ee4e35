import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { expect, it } from "vitest";
import { confirmedMail } from "./0030-confirmed-mail.ts";

it("counts mail channels that are there as confirmed since they were made, and no other kind", async () => {
  const database = new Database(":memory:");
  database.exec(`create table channels (kind text, verified_at_ms bigint, created_at_ms bigint);
    insert into channels values ('email', null, 5), ('email', 7, 6), ('ntfy', null, 8)`);
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });
  await confirmedMail(db);
  expect(database.prepare("select verified_at_ms from channels").pluck().all()).toEqual([5, 7, null]);
  await db.destroy();
});
