import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { FILTER_KEYS, isOn, matches, parseFilter, type Subject, type Term, withValue, writeFilter } from "./filter.ts";

const shop: Subject = {
  id: "srv_12",
  name: "shop berlin, 3",
  status: "down",
  kind: "http",
  family: "uptime",
  tags: ["prod", "eu west"],
  subscription: null,
};

/** What a term can hold: no quote, which the line has no sign for, and nothing that lower case changes. */
const value = fc
  .string({ minLength: 1, maxLength: 12 })
  .map((text) => text.replaceAll('"', "").toLowerCase())
  .filter((text) => text !== "" && text === text.toLowerCase());
const term: fc.Arbitrary<Term> = fc.record({
  key: fc.constantFrom(...FILTER_KEYS, "text" as const),
  values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
  negated: fc.boolean(),
});

describe("the filter line", () => {
  property([fc.array(term, { maxLength: 5 })])("what is written parses to the same terms", (terms) => {
    expect(parseFilter(writeFilter(terms))).toEqual(terms);
  });

  property([fc.string({ maxLength: 600, unit: "binary" })])(
    "any line parses, and stays what it is when written",
    (line) => {
      const terms = parseFilter(line);
      expect(parseFilter(writeFilter(terms))).toEqual(terms);
      expect(typeof matches(terms, shop)).toBe("boolean");
    },
  );

  it.each([
    ["", true],
    ["status:down", true],
    ["status:down,paused tag:prod", true],
    ["status:healthy", false],
    ["-status:healthy -tag:test", true],
    ["-tag:prod", false],
    ['"berlin, 3"', true],
    ["berlin shop", true],
    ["berlin,tokyo", true],
    ["-berlin", false],
    ['tag:"eu west"', true],
    ["id:12", true],
    ["id:srv_12", true],
    ["family:tunnel", false],
    ["subscription:provider", false],
    ["colour:red", false],
    ["STATUS:Down Berlin", true],
    ["-", false],
  ])("%s", (line, expected) => {
    expect(matches(parseFilter(line), shop)).toBe(expected);
  });

  it("turns one value of a key on, in the place of another, and off", () => {
    expect(withValue("berlin", "status", "down")).toBe("berlin status:down");
    expect(withValue("berlin status:down", "status", "paused")).toBe("berlin status:paused");
    expect(withValue("berlin status:down", "status", "down")).toBe("berlin");
  });
});

it("knows which values are on", () => {
  const terms = parseFilter("status:down,healthy -status:paused tag:Prod");
  expect([isOn(terms, "status", "down"), isOn(terms, "status", "paused"), isOn(terms, "status", "degraded")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isOn(terms, "tag", "prod")).toBe(true);
});
