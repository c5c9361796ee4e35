import {
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { expectDeclaredColumns } from "../../../testkit/store/columns.suite.ts";
import { controlPlaneSuite } from "../../../testkit/store/control-plane.suite.ts";
import { makeMigratedFile } from "../../../testkit/store/migrated-file.ts";
import { dumpSchema } from "../../../testkit/store/schema.suite.ts";
import { temporaryFolder } from "../../../testkit/temporary-folder.ts";
import { StoreError } from "../../errors.ts";
import { sqliteFault } from "../../sqlite-faults.ts";
import { Sqlite } from "../../sqlite-library.ts";
import { openControlPlane } from "../control-plane/open.ts";
import { openSqlite } from "./sqlite.ts";

controlPlaneSuite("SQLite", {
  async make() {
    const folder = temporaryFolder();
    const file = join(folder, "sonde.db");
    await makeMigratedFile(file);
    return { location: { file }, remove: async () => rmSync(folder, { recursive: true, force: true }) };
  },
});

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  const { message } = error as StoreError;
  expect(message).not.toContain("\n");
  return message;
}

const FIRST = {
  email: "a@test-site.org",
  userName: "a",
  workspaceName: "w",
  plan: "pro" as const,
  projectName: "p",
  nowMs: 1,
};

describe("an SQLite file that cannot be used", () => {
  it("refuses a database that is newer than the code", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    await (await openControlPlane({ file }, { role: "api" })).close();
    const raw = new Sqlite(file);
    raw.prepare("insert into kysely_migration values ('9999-future', '2030-01-01T00:00:00.000Z')").run();
    raw.close();
    const before = readFileSync(file);
    const message = await messageOf(openControlPlane({ file }, { role: "api" }));
    expect(message).toContain("newer version");
    expect(message).toContain("9999-future");
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("refuses a database that has not this version's schema where none may be made, and leaves it", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    new Sqlite(file).close();
    const openExpecting = () => openControlPlane({ file }, { role: "api", schema: "expect" });
    expect(await messageOf(openExpecting())).toMatch(/holds nothing of Sonde: start this version's service/);
    const raw = new Sqlite(file);
    expect(raw.prepare("select count(*) as n from sqlite_master").get()).toEqual({ n: 0 });
    await (await openControlPlane({ file }, { role: "api" })).close();
    await (await openExpecting()).close();
    raw.prepare("delete from kysely_migration where name > '0001-control-plane'").run();
    raw.close();
    expect(await messageOf(openExpecting())).toMatch(/older version of Sonde/);
  });

  it("names a file that is no database, and leaves it", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    const text = "these are notes of other content, not a database\n".repeat(100);
    writeFileSync(file, text);
    expect(await messageOf(openControlPlane({ file }, { role: "api" }))).toContain("is not a database");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("names a damaged database", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    const plane = await openControlPlane({ file }, { role: "api" });
    await plane.accounts.createFirst(FIRST);
    await plane.close();
    const descriptor = openSync(file, "r+");
    // Everything behind the first page.
    const junk = Buffer.alloc(statSync(file).size - 4_096, 0xa5);
    writeSync(descriptor, junk, 0, junk.length, 4_096);
    expect(await messageOf(openControlPlane({ file }, { role: "api" }))).toMatch(/damaged.*restore a backup/);
  });

  it("names a truncated database", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    await (await openControlPlane({ file }, { role: "api" })).close();
    truncateSync(file, 8_192);
    expect(await messageOf(openControlPlane({ file }, { role: "api" }))).toMatch(/damaged/);
  });

  it("names a missing folder", async () => {
    const file = join(temporaryFolder(), "missing", "sonde.db");
    expect(await messageOf(openControlPlane({ file }, { role: "api" }))).toContain(file);
  });

  it("says that another process holds the lock", { timeout: 20_000 }, async () => {
    const file = join(temporaryFolder(), "sonde.db");
    const plane = await openControlPlane({ file }, { role: "api" });
    const other = new Sqlite(file);
    other.exec("begin immediate");
    try {
      expect(await messageOf(plane.meta.set("a", "1"))).toContain("stays locked");
    } finally {
      other.exec("rollback");
      other.close();
    }
    await plane.meta.set("a", "2");
    expect(await plane.meta.get("a")).toBe("2");
    await plane.close();
  });

  it("says when the disk is full, loses nothing, and goes on when there is room", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    const plane = await openControlPlane({ file }, { role: "api" });
    await plane.accounts.createFirst(FIRST);
    await plane.meta.set("kept", "yes");
    await plane.close();
    // SQLite's own bound on pages meets SQLITE_FULL just as a full disk does.
    const bounded = new Sqlite(file);
    const pages = Number(bounded.pragma("page_count", { simple: true }));
    bounded.close();
    const database = await openSqlite({ file, durable: true });
    await database.write(async ({ kysely }) => {
      await sql`pragma max_page_count = ${sql.lit(pages + 2)}`.execute(kysely);
    });
    const big = database.write(async ({ kysely }) => {
      await kysely.insertInto("meta").values({ name: "small", value: "x" }).execute();
      await kysely
        .insertInto("meta")
        .values({ name: "big", value: "x".repeat(1_000_000) })
        .execute();
    });
    expect(await messageOf(big)).toContain("is full");
    const names = await database.read.kysely.selectFrom("meta").select("name").execute();
    expect(names.map((row) => row.name)).toEqual(["kept"]);
    await database.write(({ kysely }) => kysely.insertInto("meta").values({ name: "after", value: "x" }).execute());
    await database.close();
  });

  it("says what to make writable", async () => {
    // Not even root makes a file there.
    const message = await messageOf(openControlPlane({ file: "/proc/sonde.db" }, { role: "api" }));
    expect(message).toMatch(/cannot open the database \/proc\/sonde\.db: its folder must exist and be writable/);
    const readOnly = Object.assign(new Error("attempt to write a readonly database"), {
      code: "SQLITE_READONLY_DIRECTORY",
    });
    expect(sqliteFault(readOnly, "/data/sonde.db").message).toMatch(/read-only: make the file and its folder writable/);
    const uncompiled = new Error("Could not locate the bindings file. Tried:");
    expect(sqliteFault(uncompiled, "/data/sonde.db").message).toMatch(/not compiled for this Node: run "npm start"/);
  });
});

describe("an SQLite file in use", () => {
  it("overwrites what was deleted, so that no copy of the file has it", async () => {
    const file = join(temporaryFolder(), "sonde.db");
    const plane = await openControlPlane({ file }, { role: "api" });
    // Of several pages, as what is moved to free pages is.
    const mark = "m4rk of a deleted value ";
    await plane.meta.set("a", mark.repeat(2_000));
    await plane.close();
    expect(readFileSync(file).includes(mark)).toBe(true);
    const again = await openControlPlane({ file }, { role: "api" });
    await again.meta.set("a", "gone");
    await again.close();
    expect(readFileSync(file).includes(mark)).toBe(false);
  });

  it("has the schema that is checked in", async () => {
    const database = await openSqlite({ file: join(temporaryFolder(), "sonde.db"), durable: true });
    await expect(await dumpSchema(database)).toMatchFileSnapshot("../schema/schema.sqlite.sql");
    await database.close();
  });

  it("has the columns that are declared", async () => {
    const database = await openSqlite({ file: join(temporaryFolder(), "sonde.db"), durable: true });
    await expectDeclaredColumns(database);
    await database.close();
  });

  it("waits for the disk in the API's role only", async () => {
    for (const [durable, expected] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const database = await openSqlite({ file: join(temporaryFolder(), "sonde.db"), durable });
      const level = await database.write(async ({ kysely }) =>
        sql<{ synchronous: number }>`pragma synchronous`.execute(kysely),
      );
      expect(level.rows).toEqual([{ synchronous: expected }]);
      await database.close();
    }
  });

  it("is whole when its files are copied while it is open", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "sonde.db");
    const plane = await openControlPlane({ file }, { role: "api" });
    await plane.accounts.createFirst(FIRST);
    for (const suffix of ["", "-wal"]) copyFileSync(`${file}${suffix}`, join(folder, `copy.db${suffix}`));
    await plane.close();
    const copy = await openControlPlane({ file: join(folder, "copy.db") }, { role: "api" });
    expect(await copy.accounts.isEmpty()).toBe(false);
    await copy.close();
  });
});
