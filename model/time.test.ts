import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../testkit/must.ts";
import { assertProperty } from "../testkit/property.ts";
import { daysUntil, formatIso, formatUtc, parseTime } from "./time.ts";

const AT_MS = Date.UTC(2026, 10, 21, 6, 10, 5, 42);

describe("times", () => {
  it("writes the contract's two forms", () => {
    expect(formatUtc(AT_MS)).toBe("2026-11-21 06:10:05");
    expect(formatIso(AT_MS)).toBe("2026-11-21T06:10:05.042Z");
  });

  it.each([
    ["2026-11-21 06:10:05", Date.UTC(2026, 10, 21, 6, 10, 5)],
    ["2026-11-21T06:10:05.042Z", AT_MS],
    ["2026-11-21T06:10:05Z", Date.UTC(2026, 10, 21, 6, 10, 5)],
    ["2026-11-21T06:10:05.0429999Z", AT_MS],
    ["2026-11-21T08:10:05.042+02:00", AT_MS],
    ["2026-11-21T00:40:05.042-05:30", AT_MS],
    ["2026-11-21", Date.UTC(2026, 10, 21)],
    ["2024-02-29", Date.UTC(2024, 1, 29)],
    ["0050-01-01", -60_589_296_000_000],
  ])("reads %s", (text, atMs) => {
    expect(parseTime(text)).toBe(atMs);
  });

  it.each([
    "",
    "2026",
    "2026-11",
    "2026-13-01",
    "2026-00-01",
    "2026-02-30",
    "2025-02-29",
    "2026-11-21 24:00:00",
    "2026-11-21 06:60:00",
    "2026-11-21 06:10:60",
    "2026-11-21 06:10",
    "2026-11-21T06:10:05+2:00",
    "2026-11-21T06:10:05+24:00",
    " 2026-11-21",
    "2026-11-21\n",
    "21.11.2026",
    "Sat Nov 21 2026",
    "1763705405042",
    "9999-12-31T23:59:59-00:01",
    "0000-01-01T00:00:00+00:01",
  ])("refuses %j", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it("writes what V8 writes, and throws where it does", () => {
    const atMs = fc.oneof(
      fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
      fc.double({ min: -1e13, max: 1e13, noNaN: true }),
      fc.integer({ min: 1_790_000_000_000, max: 1_790_000_200_000 }),
    );
    assertProperty(
      fc.property(atMs, (atMs) => {
        const iso = new Date(atMs).toISOString();
        mustEqual(formatIso(atMs), iso);
        if (iso.length === 24) mustEqual(formatUtc(atMs), `${iso.slice(0, 10)} ${iso.slice(11, 19)}`);
      }),
      { numRuns: 20_000 },
    );
    for (const never of [Number.NaN, Number.POSITIVE_INFINITY, 8_640_000_000_060_000])
      for (const format of [formatIso, formatUtc]) expect(() => format(never)).toThrow(RangeError);
  });

  it("reads back what it writes", () => {
    const atMs = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
    assertProperty(
      fc.property(atMs, (atMs) => {
        if (parseTime(formatIso(atMs)) !== atMs) throw new Error(formatIso(atMs));
        if (parseTime(formatUtc(atMs)) !== Math.floor(atMs / 1_000) * 1_000) throw new Error(formatUtc(atMs));
      }),
      { numRuns: 100_000 },
    );
  });

  it("never reads what the calendar does not have", () => {
    const parts = fc.tuple(
      fc.integer({ min: 0, max: 9_999 }),
      fc.integer({ min: 0, max: 99 }),
      fc.integer({ min: 0, max: 99 }),
    );
    assertProperty(
      fc.property(parts, ([year, month, day]) => {
        const two = (n: number): string => String(n).padStart(2, "0");
        const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
        const atMs = parseTime(text);
        const isPlain = month >= 1 && month <= 12 && day >= 1 && day <= 28;
        if (atMs === undefined ? isPlain : formatIso(atMs).slice(0, 10) !== text)
          throw new Error(`${text} read as ${atMs}`);
      }),
      { numRuns: 100_000 },
    );
  });

  it("counts whole days", () => {
    expect(daysUntil(AT_MS + 86_400_000, AT_MS)).toBe(1);
    expect(daysUntil(AT_MS + 86_399_999, AT_MS)).toBe(0);
    expect(daysUntil(AT_MS - 1, AT_MS)).toBe(-1);
  });
});
