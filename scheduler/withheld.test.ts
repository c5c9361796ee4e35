import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "./fixtures.suite.ts";
import { Withheld } from "./withheld.ts";

function scene() {
  const given: (readonly [item: string, checkId: number, verdict: string])[] = [];
  const withheld = new Withheld<string, string>((item, outcome) => {
    given.push([item, outcome.checkId, outcome.verdict]);
  });
  return { withheld, given };
}

describe("Withheld", () => {
  it("gives what is known at once, and what was awaited once it is known", () => {
    const { withheld, given } = scene();
    withheld.add("m", "first", outcomeOf(1), false);
    withheld.add("m", "second", outcomeOf(2, { verdict: "refused" }), true);
    expect(given).toEqual([["first", 1, "ok"]]);
    expect(withheld.settle(outcomeOf(3))).toBe(false);
    expect(withheld.settle(outcomeOf(2, { verdict: "unfit" }))).toBe(true);
    expect(withheld.settle(outcomeOf(2))).toBe(false);
    expect(given.slice(1)).toEqual([["second", 2, "unfit"]]);
    expect(withheld.size).toBe(0);
  });

  it("gives everything once, those of one target in their order, and nothing before what stands ahead of it", () => {
    const step = fc.record({ target: fc.constantFrom("a", "b", "c"), isWithheld: fc.boolean(), at: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { withheld, given } = scene();
        const open: number[] = [];
        const settleOne = (at: number): void => {
          const [checkId] = open.splice(at % open.length, 1);
          expect(withheld.settle(outcomeOf(checkId ?? 0))).toBe(true);
        };
        for (const [at, one] of steps.entries()) {
          withheld.add(one.target, one.target, outcomeOf(at + 1), one.isWithheld);
          if (one.isWithheld) open.push(at + 1);
          else if (open.length > 0) settleOne(one.at);
        }
        while (open.length > 0) settleOne(0);
        for (const target of ["a", "b", "c"]) {
          const expected = steps.flatMap((one, at) => (one.target === target ? [at + 1] : []));
          expect(given.filter(([item]) => item === target).map(([, checkId]) => checkId)).toEqual(expected);
        }
        expect(withheld.size).toBe(0);
      }),
    );
  });
});
