import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTimeOfDay, isTimezone, type QuietHours, type QuietSpan, quietUntil } from "./quiet-hours.ts";

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];

function quiet(spans: readonly QuietSpan[], timezone = "Europe/Berlin"): QuietHours {
  return { id: 1, name: "Night", timezone, spans, mode: "hold", letThrough: { severity: [], tags: [] } };
}

function until(hours: QuietHours, at: string): string | null {
  const endMs = quietUntil(hours, Date.parse(at));
  return endMs === null ? null : new Date(endMs).toISOString();
}

describe("quietUntil", () => {
  it("ends on the next day where it begins in the evening, on the days it begins", () => {
    const night = quiet([{ days: [1, 2, 3, 4, 5], from: "22:00", to: "07:00" }]);
    // Friday evening, Saturday morning, Saturday evening in Berlin (UTC+1).
    expect(until(night, "2026-01-09T20:59:00Z")).toBe(null);
    expect(until(night, "2026-01-09T21:00:00Z")).toBe("2026-01-10T06:00:00.000Z");
    expect(until(night, "2026-01-10T05:59:59Z")).toBe("2026-01-10T06:00:00.000Z");
    expect(until(night, "2026-01-10T06:00:00Z")).toBe(null);
    expect(until(night, "2026-01-10T21:30:00Z")).toBe(null);
  });

  it("keeps to the wall clock when it changes", () => {
    const night = quiet([{ days: EVERY_DAY, from: "01:30", to: "03:30" }]);
    // 29 March 2026, 02:00 becomes 03:00: an hour is missing. 25 October 2026, 03:00 becomes 02:00: an hour comes twice.
    expect(until(night, "2026-03-29T00:35:00Z")).toBe("2026-03-29T01:30:00.000Z");
    expect(until(night, "2026-10-24T23:35:00Z")).toBe("2026-10-25T02:30:00.000Z");
  });

  it("joins spans that touch, and knows a whole day", () => {
    const weekend = quiet(
      [
        { days: [6], from: "00:00", to: "00:00" },
        { days: [7], from: "00:00", to: "00:00" },
      ],
      "UTC",
    );
    expect(until(weekend, "2026-01-10T12:34:56Z")).toBe("2026-01-12T00:00:00.000Z");
  });

  it("ends, always after now, and is not quiet then, whatever the spans and the zone", () => {
    const time = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
    const span = fc.record({
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { maxLength: 4 }),
      from: time,
      to: time,
    });
    const zone = fc.constantFrom(
      "UTC",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "America/Sao_Paulo",
    );
    const at = fc.integer({ min: Date.parse("2024-01-01"), max: Date.parse("2030-01-01") });
    fc.assert(
      fc.property(fc.array(span, { maxLength: 3 }), zone, at, (spans, timezone, nowMs) => {
        const hours = quiet(spans, timezone);
        const endMs = quietUntil(hours, nowMs);
        if (endMs === null) return;
        expect(endMs).toBeGreaterThan(nowMs);
        if (endMs - nowMs < 7 * 24 * 3_600_000) expect(quietUntil(hours, endMs)).toBe(null);
      }),
      { numRuns: 60 },
    );
  });
});

describe("what is read", () => {
  it("takes names of zones and times of a day only", () => {
    for (const zone of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"]) expect(isTimezone(zone)).toBe(true);
    for (const zone of ["", "Berlin", "Europe/Nowhere", "+05:00", `A${"a".repeat(99)}`, "Europe/../UTC"])
      expect(isTimezone(zone)).toBe(false);
    expect(["00:00", "23:59"].every(isTimeOfDay)).toBe(true);
    expect(["24:00", "7:00", "12:60", "12:00:00"].some(isTimeOfDay)).toBe(false);
  });
});
