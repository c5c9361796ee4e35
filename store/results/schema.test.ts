import { describe, expect, it } from "vitest";
import { capSystemLogs, migrate, SCHEMA_STEPS, type SchemaRunner, syncInserts } from "./schema.ts";

/** A server that has done the steps up to a version. */
function serverAt(version: number, refuses: (sql: string) => boolean = () => false) {
  const ran: string[] = [];
  let done = version;
  const runner: SchemaRunner = {
    async run(sql) {
      if (refuses(sql)) throw new Error("Code: 497. DB::Exception: Not enough privileges. (ACCESS_DENIED)");
      ran.push(sql);
      done = Number(/INSERT INTO sonde\.schema_steps \(version\) VALUES \((\d+)\)/.exec(sql)?.[1] ?? done);
    },
    column: async (sql) => {
      if (refuses(sql)) throw new Error("Code: 497. DB::Exception: Not enough privileges. (ACCESS_DENIED)");
      return sql.includes("max(version)") ? [String(done)] : ["query_log", "text_log", "trace_log_0"];
    },
  };
  return { runner, ran, done: () => done };
}

const latest = SCHEMA_STEPS.at(-1)?.version ?? 0;

describe("schema of ClickHouse", () => {
  it("is numbered from 1 without gaps, in statements that may be repeated", () => {
    expect(SCHEMA_STEPS.map(({ version }) => version)).toEqual(SCHEMA_STEPS.map((_, index) => index + 1));
    for (const statement of SCHEMA_STEPS.flatMap(({ statements }) => statements("sonde"))) {
      expect(statement).toMatch(/^(CREATE .* IF NOT EXISTS|ALTER TABLE \S+ (ADD|MODIFY) .*)/);
    }
  });

  it("is brought up to date once", async () => {
    const server = serverAt(0);
    await migrate("sonde", server.runner);
    expect(server.done()).toBe(latest);
    const before = server.ran.length;
    await migrate("sonde", server.runner);
    expect(server.ran.slice(before)).toEqual([
      expect.stringContaining("CREATE TABLE IF NOT EXISTS sonde.schema_steps"),
    ]);
  });

  it("of a newer version is not touched", async () => {
    const server = serverAt(latest + 1);
    await expect(migrate("sonde", server.runner)).rejects.toThrow(/made by a newer version.*update this one/);
    expect(server.ran).toHaveLength(1);
  });

  it("a step that fails is not taken for done", async () => {
    const server = serverAt(0, (sql) => sql.includes("MATERIALIZED VIEW"));
    await expect(migrate("sonde", server.runner)).rejects.toThrow("Not enough privileges");
    expect(server.done()).toBe(0);
  });

  it("caps the server's own logs, and says which it was not allowed to", async () => {
    const server = serverAt(latest, (sql) => sql.includes("text_log"));
    expect(await capSystemLogs(server.runner)).toEqual([expect.stringMatching(/^text_log: .*Not enough privileges/)]);
    expect(server.ran).toEqual([
      "ALTER TABLE system.`query_log` MODIFY TTL event_date + INTERVAL 3 DAY",
      "ALTER TABLE system.`trace_log_0` MODIFY TTL event_date + INTERVAL 3 DAY",
    ]);
    const blind = serverAt(latest, (sql) => sql.includes("system.tables"));
    expect(await capSystemLogs(blind.runner)).toEqual([expect.stringMatching(/^system\.tables: /)]);
  });

  it("lets inserts wait for the disk, and says in which tables it was not allowed to", async () => {
    const server = serverAt(latest, (sql) => sql.includes("text_log"));
    expect(await syncInserts("sonde", server.runner)).toEqual([expect.stringMatching(/^text_log: .*Not enough/)]);
    expect(server.ran).toEqual([
      "ALTER TABLE sonde.query_log MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1",
      "ALTER TABLE sonde.trace_log_0 MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1",
    ]);
  });
});
