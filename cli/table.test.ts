import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { monitorTable } from "./commands/monitors.ts";
import { type Column, painter, plainLines, renderTable } from "./table.ts";

const CODES: Readonly<Record<string, number>> = { red: 31, yellow: 33 };
const paint = (color: string, text: string) => `\u001b[${CODES[color]}m${text}\u001b[39m`;
const letters = new Intl.Segmenter("en", { granularity: "grapheme" });
const plainPaint = (_color: string, text: string) => text;

describe("a table", () => {
  const columns: readonly Column[] = [
    { head: "id" },
    { head: "name", least: 5 },
    { head: "status" },
    { head: "when", dropped: 1 },
  ];
  const rows = [["srv_1", "A long name of a monitor", "down", "2026-11-21 15:25:13"]];

  it("is as wide as what is in it where there is no terminal", () => {
    const [, head, row] = renderTable(columns, rows).split("\n");
    expect(head).toBe("│ id    │ name                     │ status │ when                │");
    expect(row).toBe("│ srv_1 │ A long name of a monitor │ down   │ 2026-11-21 15:25:13 │");
  });

  it("is cut to the terminal, then its columns are left out", () => {
    const at = (most: number) => renderTable(columns, rows, { columns: most, paint: plainPaint }).split("\n")[2];
    expect(at(60)).toBe("│ srv_1 │ A long name of a… │ down   │ 2026-11-21 15:25:13 │");
    expect(at(40)).toBe("│ srv_1 │ A long name of a m… │ down   │");
  });

  it("has down in red, and nothing else that is called so", () => {
    const table = renderTable(
      ["name", "status"],
      [
        ["down", "down"],
        ["b", "healthy"],
        ["c", "partial"],
      ],
      { columns: null, paint },
    );
    const painted = table.split("\u001b[").filter((piece) => /^3[13]m/.test(piece));
    expect(painted).toEqual(["31mdown", "33mpartial"]);
  });

  it("of monitors fits 80 and 60 columns, whatever their names are", () => {
    const texts = fc.string({ unit: "grapheme", maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.constantFrom(60, 80), fc.boolean(), (name, most, hasRecent) => {
        const monitor = {
          ...{
            id: "srv_123456",
            name,
            type: "vpn",
            protocol: "shadowsocks",
            status: "down",
            active: true,
            interval: 60,
          },
          ...{ latency_ms: 12_345, lateness_ms: 12, last_checked: "2026-11-21 15:25:13" },
        };
        const recent = hasRecent ? new Map([["srv_123456", Array(12).fill(1)]]) : undefined;
        const table = monitorTable([monitor], [], recent, { columns: most, paint: plainPaint });
        for (const line of table.split("\n")) expect([...letters.segment(line)].length).toBeLessThanOrEqual(most);
      }),
    );
  });
});

it("colours need a terminal that has them", () => {
  const stream = (isTTY: boolean, colors: boolean) =>
    ({ isTTY, hasColors: () => colors }) as unknown as NodeJS.WriteStream;
  expect(painter(stream(false, true))("red", "x")).toBe("x");
  expect(painter(stream(true, false))("red", "x")).toBe("x");
  expect(stripVTControlCharacters(painter(stream(true, true))("red", "x"))).toBe("x");
});

describe("words of an error", () => {
  it("keep their lines, and move no cursor", () => {
    expect(plainLines("no \u001b[31mred\u0007\nnext \u202eline")).toBe("no �[31mred�\nnext �line");
  });
});
