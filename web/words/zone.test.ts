import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { zone } from "../state/prefs.ts";
import { dayOf, instantOf, localText } from "./zone.ts";

const MINUTE_MS = 60_000;

afterEach(() => {
  zone.value = "";
});

it.each(["UTC", "Europe/Berlin", "Asia/Tehran", "America/St_Johns", "Pacific/Kiritimati"])(
  "writes and reads a minute of %s",
  (name) => {
    zone.value = name;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 33_000_000 }), (minute) => {
        const text = localText(minute * MINUTE_MS);
        // A time that a change of clocks has twice is read as one of the two.
        expect(localText(instantOf(text))).toBe(text);
      }),
      { numRuns: 200 },
    );
  },
);

it("knows the hour of another zone, before and after a change of clocks", () => {
  zone.value = "Europe/Berlin";
  expect(new Date(instantOf("2026-03-29T01:30")).toISOString()).toBe("2026-03-29T00:30:00.000Z");
  expect(new Date(instantOf("2026-03-29T03:30")).toISOString()).toBe("2026-03-29T01:30:00.000Z");
  expect(new Date(instantOf("2026-07-01T00:00")).toISOString()).toBe("2026-06-30T22:00:00.000Z");
  expect(instantOf("soon")).toBeNaN();
});

it("has days as long as a change of clocks makes them", () => {
  zone.value = "Europe/Berlin";
  const hours = (text: string) => {
    const { fromMs, untilMs } = dayOf(text) ?? { fromMs: 0, untilMs: 0 };
    return (untilMs + 1 - fromMs) / 3_600_000;
  };
  expect([hours("2026-03-29"), hours("2026-10-25"), hours("2026-11-28")]).toEqual([23, 25, 24]);
  expect(new Date(dayOf("2026-10-25")?.untilMs ?? 0).toISOString()).toBe("2026-10-25T22:59:59.999Z");
  for (const text of ["", "soon", "2026-13-01", "9999-12-31"]) expect(dayOf(text), text).toBeNull();
});
