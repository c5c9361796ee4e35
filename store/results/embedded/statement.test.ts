import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { readStatement, type Statement, StatementError } from "./statement.ts";

const read = (search: Record<string, string>, body = "", method = "POST"): Statement =>
  readStatement({ method, search: new URLSearchParams(search), body: Buffer.from(body), database: "sonde" });

function refusal(search: Record<string, string>, body = "", method = "POST"): unknown {
  try {
    return read(search, body, method);
  } catch (error) {
    return error;
  }
}

describe("statements of the HTTP interface", () => {
  it.each([
    ["SELECT 1", "read"],
    ["  with 1 AS x SELECT x", "read"],
    ["(SELECT 1) UNION ALL (SELECT 2)", "read"],
    ["SHOW TABLES", "read"],
    ["INSERT INTO t VALUES (1)", "write"],
    ["OPTIMIZE TABLE t FINAL", "upkeep"],
    ["CREATE TABLE t (x Int8) ENGINE = Memory", "upkeep"],
    ["KILL QUERY WHERE 1", "upkeep"],
  ])("%s is for the connection that does %s", (sql, kind) => {
    expect(read({}, sql)).toMatchObject({ kind, sql: sql.replace(/^\s+/, sql.startsWith(" ") ? "  " : "") });
  });

  it("takes the rows of a plain insert as bytes, with the URL's settings as its own", () => {
    const statement = read(
      {
        query: "INSERT INTO sonde.results (id, seq) FORMAT JSONEachRow",
        insert_deduplication_token: "t'1",
        async_insert: "0",
        wait_end_of_query: "1",
        query_id: "q",
      },
      '{"id":1}\n',
    );
    expect(statement).toMatchObject({
      kind: "write",
      insert: {
        table: "sonde.results",
        columns: ["id", "seq"],
        format: "JSONEachRow",
        settings: { insert_deduplication_token: "t'1", async_insert: "0" },
      },
    });
  });

  it("runs any other insert as text, and refuses settings that would be lost", () => {
    expect(read({ query: "INSERT INTO t SELECT 1" })).toMatchObject({
      insert: undefined,
      sql: "INSERT INTO t SELECT 1",
    });
    expect(read({ query: "INSERT INTO t VALUES" }, "(1)")).toMatchObject({
      insert: undefined,
      sql: "INSERT INTO t VALUES\n(1)",
    });
    expect(refusal({ query: "INSERT INTO t VALUES", async_insert: "0" }, "(1)")).toMatchObject({ code: 452 });
    expect(refusal({ max_threads: "1" }, "OPTIMIZE TABLE t")).toMatchObject({ code: 452 });
  });

  it("writes a read's settings into its own clause: on a connection they would stick", () => {
    expect(read({ max_execution_time: "3", enable_http_compression: "1" }, "SELECT 1 FORMAT JSON;\n").sql).toBe(
      "SELECT 1 FORMAT JSON\nSETTINGS max_execution_time = '3'",
    );
    expect(read({ some_setting: "a'b\\c" }, "SELECT 1").sql).toBe("SELECT 1\nSETTINGS some_setting = 'a\\'b\\\\c'");
  });

  it("joins a query of the URL with one of the body, and takes bound parameters", () => {
    expect(read({ query: "SELECT {x:Int8}", param_x: "1", default_format: "JSON" })).toMatchObject({
      params: { x: "1" },
      format: "JSON",
    });
  });

  it.each([
    [{ database: "other" }, "SELECT 1", "POST", 81],
    [{ "bad-name": "1" }, "SELECT 1", "POST", 115],
    [{ default_format: "X; DROP" }, "SELECT 1", "POST", 73],
    [{}, "", "POST", 62],
    [{}, ";;", "POST", 62],
    [{ query: "DROP TABLE t" }, "", "GET", 164],
    // An expression of such a name is larger than the language allows.
    [{ query: "SELECT 1", [`param_${"a".repeat(70_000)}`]: "1" }, "", "POST", 36],
    [{ query: "INSERT INTO t VALUES (1)" }, "", "GET", 164],
  ])("refuses %j %s by %s with code %d", (search, body, method, code) => {
    const error = refusal(search as Record<string, string>, body, method);
    expect(error).toBeInstanceOf(StatementError);
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(/^Code: \d+\. DB::Exception: .+ \([A-Z_]+\)$/),
    });
  });

  it("accepts its own database by name", () => {
    expect(read({ database: "sonde" }, "SELECT 1").sql).toBe("SELECT 1");
  });

  it("never throws anything but a refusal, whatever it is given", { timeout: 60_000 }, () => {
    const key = fc.oneof(fc.constantFrom("query", "database", "default_format", "param_a", "max_threads"), fc.string());
    const sql = fc.oneof(
      fc.string(),
      fc.constantFrom("SELECT 1", "INSERT INTO t FORMAT CSV", "INSERT INTO a.b (c) FORMAT TSV", "ALTER"),
    );
    assertProperty(
      fc.property(
        fc.array(fc.tuple(key, sql), { maxLength: 4 }),
        sql,
        fc.constantFrom("GET", "POST"),
        (pairs, body, method) => {
          try {
            const statement = readStatement({
              method,
              search: new URLSearchParams(pairs),
              body: Buffer.from(body),
              database: "sonde",
            });
            must(statement.sql !== "", "the statement is empty");
            if (method === "GET") mustEqual(statement.kind, "read");
          } catch (error) {
            if (!(error instanceof StatementError)) throw error;
          }
        },
      ),
      { numRuns: 100_000 },
    );
  });
});
