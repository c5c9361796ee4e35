import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { push } from "./push.ts";

function messageOf(fields: unknown): string | undefined {
  const parsed = push.settings.safeParse(fields);
  return parsed.success ? undefined : parsed.error.issues[0]?.message;
}

describe("push settings", () => {
  test("grace defaults to a fifth of the period, at least a minute", () => {
    expect(push.settings.parse({ period: 86_400 })).toEqual({ period: 86_400, grace: 17_280 });
    expect(push.settings.parse({ period: 60 })).toEqual({ period: 60, grace: 60 });
    expect(push.settings.parse({ period: 304 })).toEqual({ period: 304, grace: 61 });
    expect(push.settings.parse({ period: 604_800, grace: 0 })).toEqual({ period: 604_800, grace: 0 });
  });

  test.each([{}, [], null])("refuses %j by the period's name", (fields) =>
    expect(messageOf(fields)).toBe("Missing or invalid period"),
  );

  test.each([59, 604_801, 60.5, "60", null])("says what a period must be instead of %j", (period) =>
    expect(messageOf({ period })).toBe(
      "Missing or invalid period: period must be a whole number of seconds from 60 to 604800.",
    ),
  );

  test.each([-1, 604_801, 1.5, "60", null])("refuses grace %j by its name", (grace) =>
    expect(messageOf({ period: 60, grace })).toBe(
      "Missing or invalid grace: grace must be a whole number of seconds from 0 to 604800.",
    ),
  );

  test("parsing is idempotent and never throws", { timeout: 120_000 }, () => {
    assertProperty(
      fc.property(
        fc.oneof(fc.anything(), fc.record({ period: fc.integer(), grace: fc.option(fc.integer()) })),
        (fields) => {
          const parsed = push.settings.safeParse(fields);
          if (parsed.success) mustEqual(push.settings.parse(parsed.data), parsed.data);
        },
      ),
      { numRuns: 20_000 },
    );
    assertProperty(
      fc.property(fc.integer({ min: 60, max: 604_800 }), (period) => {
        const parsed = push.settings.parse({ period });
        expect(push.settings.parse(parsed)).toEqual(parsed);
      }),
    );
  });
});
