import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROW_STATUSES } from "../model/status.ts";
import { Kinds, RowColumns } from "../store/recent/row-columns.ts";
import { Texts } from "../store/recent/texts.ts";
import { resultBytes } from "./result-bytes.ts";
import { resultJson } from "./results-json.ts";

const id = fc.oneof(
  fc.bigInt({ min: 0n, max: 99_999_999_999_999_999_999n }).map(String),
  fc.constantFrom("0", "7", "999999", "1000000", "1000001", "10000000000000", "90071992547409910000"),
);
const row = fc.record({
  id,
  kind: fc.constantFrom("http", "ping", "vless"),
  status: fc.constantFrom(...ROW_STATUSES),
  testedAtMs: fc.integer({ min: 0, max: 4e12 }),
  latencyMs: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 20_000_000 }), fc.constantFrom(0.5, 12.25)),
  connectMs: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 1_000 })),
  errorMessage: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.string({ unit: "grapheme" })),
});

describe("rows as bytes", () => {
  it("are the same text as rows as objects", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), fc.string({ unit: "grapheme" }), (rows, name) => {
        const columns = new RowColumns(8, new Texts(10_000), new Kinds(), false);
        const nameJson = JSON.stringify(name);
        rows.forEach((one, at) => {
          columns.set(at, { ...one, monitorId: 12, seq: at + 1 });
        });
        const places = rows.map((_, at) => at);
        const expected = places.map((at) => resultJson(columns.read(at, 12), nameJson)).join(",");
        const made = resultBytes(`{${nameJson}[`, { columns, places, monitorId: 12, nameJson }, "]é}");
        expect(made.toString()).toBe(`{${nameJson}[${expected}]é}`);
      }),
      { numRuns: 400 },
    );
  });

  it("are as many as there is memory for", () => {
    const columns = new RowColumns(1, new Texts(10), new Kinds(), false);
    columns.set(0, { ...{ id: "12", kind: "http", status: "healthy", testedAtMs: 0, latencyMs: 3 }, ...NOTHING });
    const places = Array.from({ length: 2_000 }, () => 0);
    const made = JSON.parse(resultBytes("[", { columns, places, monitorId: 1, nameJson: '"a"' }, "]").toString());
    expect(made).toHaveLength(2_000);
    expect(made.at(-1)).toMatchObject({ id: "hb_12", latency_ms: 3, tested_at: "1970-01-01 00:00:00" });
  });
});

const NOTHING = { connectMs: null, errorMessage: null, monitorId: 1, seq: 1 } as const;
