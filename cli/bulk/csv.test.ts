import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CheckView } from "../check/outcome.ts";
import { CSV_HEAD, csvCell, csvLine } from "./csv.ts";

describe("a line", () => {
  it.each([12.5, null])("has a cell for each head, the speed %j last", (mbitPerS) => {
    const item = { at: 3, id: "1", kind: "vless", place: "a:1", name: "n", settings: {} } as const;
    const view: CheckView = {
      protocol: "vless",
      status: "healthy",
      verdict: "ok",
      error_category: null,
      error_message: null,
      latency_ms: 5,
      latency_crowded: true,
      connect_ms: 6,
      connection_time_ms: 6,
      handshake_time_ms: null,
      assigned_ip: null,
      exit_country: "NL",
      engine_used: "xray",
      tested_at: "2026-11-25T00:00:00.000Z",
      duration_ms: 7,
    };
    const cells = csvLine({ item, view }, mbitPerS).trimEnd().split(",");
    expect(cells).toHaveLength(CSV_HEAD.split(",").length);
    expect(cells.slice(-3)).toEqual(["yes", "NL", mbitPerS === null ? "" : "12.5"]);
  });
});

describe("a cell", () => {
  it.each([
    ["plain", "plain"],
    ["a, b", '"a, b"'],
    ['say "x"', '"say ""x"""'],
    ["=1+1", `"'=1+1"`],
    [" @SUM(A1)", `"' @SUM(A1)"`],
    ["\t-2", "�-2"],
    ["＝cmd", `"'＝cmd"`],
    ["", ""],
    [null, ""],
    [-5, "-5"],
  ])("%j is written as %j", (value, written) => expect(csvCell(value)).toBe(written));

  it("of any text is one cell, keeps the text, and is no formula", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const cell = csvCell(text);
        const inner = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        if (cell.startsWith('"')) expect(/^"(?:[^"]|"")*"$/s.test(cell)).toBe(true);
        else expect(cell).not.toMatch(/[",\r\n]/);
        expect(inner).not.toMatch(/^\s*[=+\-@]/);
        expect(inner).not.toMatch(/[\r\n]/);
      }),
    );
  });
});
