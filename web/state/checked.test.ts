import fc from "fast-check";
import { expect, it } from "vitest";
import { CHOICES, chosen, endOf, headOf, ORDERS, ordered, pastedLines, type Row, rowOf, sheetOf } from "./checked.ts";
import { LineSplitter } from "./line-splitter.ts";
import { csvOf, jsonOf } from "./sheet.ts";

const sent = {
  ...{ line: 3, tag: "Berlin", type: "vless", server: "de.test-site.org", port: 443, success: true, total_ms: 38 },
  ...{ error: "", error_category: "", public_ip: "203.0.113.7", country: "DE", engine_used: "xray" },
};

it("reads the first line, a result and the end, and nothing else", () => {
  const head = { total: 2, invalid_count: 1, invalid: [{ line: 6, reason: "no" }] };
  expect(headOf(head)).toEqual({ total: 2, invalidCount: 1, invalid: [{ line: 6, reason: "no" }] });
  expect(rowOf(sent)).toMatchObject({ line: 3, name: "Berlin", place: "de.test-site.org:443", works: true, ms: 38 });
  expect([headOf(sent), rowOf(head), endOf(sent), endOf({ done: false })]).toEqual([null, null, null, false]);
  expect(rowOf({ ...sent, tag: "", server: "2001:db8::1" })).toMatchObject({
    name: "2001:db8::1",
    place: "[2001:db8::1]:443",
  });
});

const row = fc.record<Row>({
  line: fc.nat(99),
  name: fc.string({ maxLength: 8 }),
  protocol: fc.constantFrom("vless", "trojan"),
  place: fc.constantFrom("a:1", "b:2"),
  works: fc.boolean(),
  ms: fc.option(fc.nat(900)),
  error: fc.string({ maxLength: 8 }),
  category: fc.constantFrom("", "timeout"),
  exitIp: fc.constantFrom("", "203.0.113.7"),
  country: fc.constantFrom("", "DE", "NL"),
  engine: fc.constantFrom("", "xray"),
});

it("keeps every row in any order, and shows with words only what has them", () => {
  fc.assert(
    fc.property(
      fc.array(row),
      fc.constantFrom(...ORDERS),
      fc.boolean(),
      fc.constantFrom(...CHOICES),
      (rows, order, down, choice) => {
        const all = ordered(rows, order, down);
        expect(new Set(all)).toEqual(new Set(rows));
        const [works, fails] = [chosen(all, "works", "", ""), chosen(all, "fails", "", "")];
        expect(works.length + fails.length).toBe(rows.length);
        expect(chosen(all, choice, "vless", "DE").every((one) => one.protocol === "vless")).toBe(true);
        if (order === "ms")
          expect(all.findIndex(({ ms }) => ms === null)).toSatisfy(
            (at: number) => at < 0 || all.slice(at).every(({ ms }) => ms === null),
          );
      },
    ),
    { numRuns: 100 },
  );
});

it("writes cells that no spreadsheet takes for formulas", () => {
  const one = rowOf({ ...sent, tag: '=HYPERLINK("http://x")', error: "a, b" });
  if (one === null) throw new Error("no row");
  expect(csvOf(sheetOf([one])).split("\r\n")[1]).toBe(
    `3,"'=HYPERLINK(""http://x"")",vless,de.test-site.org:443,yes,38,203.0.113.7,DE,xray,,"a, b"`,
  );
  expect(JSON.parse(jsonOf(sheetOf([one])))).toEqual([
    expect.objectContaining({ line: 3, works: "yes", country: "DE" }),
  ]);
});

it("counts the lines of a paste as the API does", () => {
  expect(pastedLines("# x\r\n vless://a \n")).toEqual(["# x", "vless://a", ""]);
  expect(pastedLines(btoa("vless://abc\ntrojan://d"))).toEqual(["vless://abc", "trojan://d"]);
  fc.assert(
    fc.property(fc.string(), (text) => pastedLines(text).length >= 1),
    { numRuns: 100 },
  );
});

it("puts lines together however the answer was cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 6 }),
      fc.array(fc.nat(20), { maxLength: 6 }),
      (values, cuts) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join("");
        const taken: unknown[] = [];
        const splitter = new LineSplitter((value) => taken.push(value));
        let at = 0;
        for (const cut of cuts) {
          splitter.push(text.slice(at, at + cut));
          at += cut;
        }
        splitter.push(text.slice(at));
        expect(JSON.stringify(taken)).toBe(JSON.stringify(values));
      },
    ),
    { numRuns: 100 },
  );
});
