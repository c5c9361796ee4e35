import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Sqlite } from "../../sqlite-library.ts";
import { KEPT_BYTES, keepRoom } from "./kept-room.ts";

it("leaves free pages in the file and in its log, once however often it is asked, and no table", () => {
  const dir = mkdtempSync(join(tmpdir(), "sonde-room-"));
  const file = join(dir, "control.sqlite");
  const handle = new Sqlite(file);
  handle.pragma("journal_mode = WAL");
  handle.exec("create table kept (id integer)");
  for (let start = 0; start < 3; start++) {
    keepRoom(file);
    handle.pragma("wal_checkpoint(PASSIVE)");
    const free = Number(handle.pragma("freelist_count", { simple: true })) * 4_096;
    expect(free).toBeGreaterThanOrEqual(KEPT_BYTES);
    expect(free).toBeLessThan(KEPT_BYTES * 1.1);
    expect(statSync(`${file}-wal`).size).toBeGreaterThanOrEqual(KEPT_BYTES);
  }
  expect(handle.prepare("select name from sqlite_master").pluck().all()).toEqual(["kept"]);
  handle.close();
  rmSync(dir, { recursive: true, force: true });
});
