import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { selectorOf, selectorText } from "./selector-text.ts";

const SUBSCRIPTIONS = [
  { id: 5, name: "Provider A" },
  { id: 6, name: "Provider B" },
];
const read = (line: string) => selectorOf(line, SUBSCRIPTIONS);

it("reads a line as a selector", () => {
  expect(read("")).toEqual({ selector: { all: true } });
  expect(read("tag:prod tag:eu kind:vless,trojan berlin")).toEqual({
    selector: { tags: ["prod", "eu"], kinds: ["vless", "trojan"], name: "berlin" },
  });
  expect(read("tag:a,b id:12")).toEqual({ selector: { any_tag: ["a", "b"], ids: ["srv_12"] } });
  expect(read('subscription:"provider a" -tag:test')).toEqual({
    selector: { subscription_ids: [5], not: { tags: ["test"] } },
  });
  expect(read("-tag:a -tag:b")).toEqual({ selector: { all: true, not: { any_tag: ["a", "b"] } } });
});

it("says what no selector says", () => {
  expect(read("kind:a kind:b")).toEqual({ fault: "many" });
  expect(read("-tag:a -kind:b")).toEqual({ fault: "many" });
  expect(read("subscription:missing")).toEqual({ fault: "subscription" });
});

const word = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8})?$/);
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });
const selected = fc.record(
  {
    tags: words,
    any_tag: fc.uniqueArray(word, { minLength: 2, maxLength: 3 }),
    kinds: words,
    status: words,
    family: fc.constantFrom("tunnel", "uptime"),
    name: word,
    ids: fc.uniqueArray(
      fc.integer({ min: 1, max: 99 }).map((id) => `srv_${id}`),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);

property([selected], { numRuns: 100 })("a selector reads back as it was", (selector) => {
  const wanted = Object.keys(selector).length === 0 ? { all: true } : selector;
  expect(read(selectorText(selector, SUBSCRIPTIONS))).toEqual({ selector: wanted });
});

property([fc.string()], { numRuns: 100 })("any line is a selector, or has a fault with a name", (line) => {
  const outcome = read(line);
  if ("fault" in outcome) expect(["many", "subscription"]).toContain(outcome.fault);
  else expect(Object.keys(outcome.selector).length).toBeGreaterThan(0);
});
