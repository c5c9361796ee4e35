import fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, it } from "vitest";
import { assertProperty } from "../../testkit/property.ts";
import { regexFault } from "./expressions.ts";
import { stepsOf } from "./regex-steps.ts";

it("what an expression compiles to has about so many steps", () => {
  const part = fc.oneof(
    fc.constantFrom(
      "a",
      ".",
      "\\d",
      "\\pL",
      "\\p{Greek}",
      "\\x{41}",
      "[^]a]",
      "[[:alpha:]{9}]",
      "\\Qa{9}\\E",
      "^",
      "|",
      "\\(",
    ),
    fc.constantFrom("*", "+", "?", "{3}", "{2,}", "{0,7}", "{,3}", "{12", "(", ")", "(?i:", "(?P<n>"),
    fc.string({ maxLength: 3 }),
  );
  assertProperty(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      const steps = stepsOf(text);
      expect(steps).toBeGreaterThanOrEqual(0);
      let size: number;
      try {
        size = RE2JS.compile(text).programSize();
      } catch {
        return;
      }
      expect(size).toBeLessThanOrEqual(4 * steps + 10);
    }),
    { numRuns: 300 },
  );
});

it("an expression that is short and becomes large is refused", () => {
  expect(regexFault("(.{0,1000})".repeat(90))).toBe("its repetitions and ranges make more than 10000 steps");
  expect(regexFault("(a{1,30}){1,30}".repeat(60))).toContain("10000 steps");
  expect(regexFault(`(?i)[${"\u0100-\u{1e940}".repeat(11)}]`)).toContain("10000 steps");
  expect(regexFault(`(?s)(?-s:(?mi:${"[\\x{100}-\\x{10ffff}]".repeat(11)}))`)).toContain("10000 steps");
  expect(regexFault(`(?i)${"[a-z\\w-]".repeat(90)}[\u0400-\u04ff]`)).toBeUndefined();
  expect(regexFault(".{0,1000}\\b(?:[0-9]{1,3}\\.){3}[0-9]{1,3}")).toBeUndefined();
});
