import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvCell } from "./csv.ts";

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
