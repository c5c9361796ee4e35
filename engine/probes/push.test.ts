import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { probes, settingsOf } from "../registry.ts";
import { pushSettings } from "./push.ts";

function messageOf(given: unknown): string | undefined {
  const parsed = pushSettings.safeParse(given);
  return parsed.success ? undefined : parsed.error.issues[0]?.message;
}

describe("push settings", () => {
  test("grace defaults to a fifth of the period, at least a minute", () => {
    expect(pushSettings.parse({ period: 86_400 })).toEqual({ period: 86_400, grace: 17_280 });
    expect(pushSettings.parse({ period: 60 })).toEqual({ period: 60, grace: 60 });
    expect(pushSettings.parse({ period: 304 })).toEqual({ period: 304, grace: 61 });
    expect(pushSettings.parse({ period: 604_800, grace: 0 })).toEqual({ period: 604_800, grace: 0 });
  });

  test.each([{}, { period: 59 }, { period: 604_801 }, { period: 60.5 }, { period: "60" }, { period: null }, [], null])(
    "refuses %j by the period's name",
    (given) => expect(messageOf(given)).toBe("Missing or invalid period"),
  );

  test.each([-1, 604_801, 1.5, "60", null])("refuses grace %j by its name", (grace) =>
    expect(messageOf({ period: 60, grace })).toBe("Missing or invalid grace"),
  );

  test("parsing is idempotent and never throws", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.record({ period: fc.integer(), grace: fc.option(fc.integer()) })),
        (given) => {
          const parsed = pushSettings.safeParse(given);
          if (parsed.success) expect(pushSettings.parse(parsed.data)).toEqual(parsed.data);
        },
      ),
      { numRuns: 20_000 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 604_800 }), (period) => {
        const parsed = pushSettings.parse({ period });
        expect(pushSettings.parse(parsed)).toEqual(parsed);
      }),
    );
  });
});

describe("registry", () => {
  test("heartbeats have settings and no probe", () => {
    expect(settingsOf("push")).toBe(pushSettings);
    expect(Object.keys(probes)).not.toContain("push");
  });

  test("every listed probe has its settings; words that every object knows are no kinds", () => {
    for (const [kind, probe] of Object.entries(probes)) expect(settingsOf(kind)).toBe(probe.settings);
    for (const word of ["constructor", "__proto__", "toString", "wireguard2", ""])
      expect(settingsOf(word)).toBeUndefined();
  });
});
