import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { openSetAside } from "./set-aside.ts";

const log = pino({ level: "silent" });
let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

const open = () => openSetAside({ file: join(folder, "set-aside.ndjson"), log, nowMs: () => 1_760_000_000_000 });
const read = (name: string) =>
  readFileSync(join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const refused = (id: string, more = "") => ({
  store: "sql" as const,
  monitorId: null,
  error: new Error("invalid input"),
  line: JSON.stringify({ id, monitor_id: 7, more }),
});

describe("rows that are set aside", () => {
  it("are known by what they are and to which store, also after a start", async () => {
    const before = await open();
    expect(before.has("sql", refused("a").line)).toBe(false);
    await before.add(refused("a"));
    for (const aside of [before, await open()]) {
      expect(aside.has("sql", refused("a", "else").line)).toBe(true);
      expect(aside.has("results", refused("a").line)).toBe(false);
      for (const line of [refused("b").line, "{}", "null", "{"]) expect(aside.has("sql", line)).toBe(false);
    }
  });

  it("are readable lines with what the store said, for their owner alone", async () => {
    const aside = await open();
    await aside.add(refused("1"));
    await aside.add({ store: "results", monitorId: null, error: "no\0good", line: "no JSON \ud800" });
    const base = { at: "2025-10-09T08:53:20.000Z", error: "invalid input", monitor_id: 7, store: "sql" };
    expect(read("set-aside.ndjson")).toEqual([
      { ...base, row: { id: "1", monitor_id: 7, more: "" } },
      { ...base, store: "results", monitor_id: null, error: "no\ufffdgood", row: "no JSON \ufffd" },
    ]);
    expect([aside.rows, aside.lastAtMs]).toEqual([2, 1_760_000_000_000]);
    expect(statSync(join(folder, "set-aside.ndjson")).mode & 0o777).toBe(0o600);
  });

  it("are written once, also by the process after this one", async () => {
    await (await open()).add(refused("1"));
    const next = await open();
    await next.add(refused("1"));
    await next.add(refused("2"));
    expect(read("set-aside.ndjson").map(({ row }) => row.id)).toEqual(["1", "2"]);
    expect(next.rows).toBe(2);
  });

  it("take no more than two files of 4 MiB, the latest kept, and a huge row is cut", async () => {
    const aside = await open();
    for (let i = 0; i < 400; i += 1) await aside.add(refused(String(i), "x".repeat(40_000)));
    await aside.add(refused("huge", "x".repeat(10_000_000)));
    const bytes = ["set-aside.ndjson", "set-aside.ndjson.1"].map((name) => statSync(join(folder, name)).size);
    for (const size of bytes) expect(size).toBeLessThanOrEqual(4 * 2 ** 20);
    const rows = [...read("set-aside.ndjson.1"), ...read("set-aside.ndjson")];
    expect(rows.at(-2)?.row.id).toBe("399");
    expect(rows.at(-1)?.row).toMatch(/^.{65536}$/);
  });
});
