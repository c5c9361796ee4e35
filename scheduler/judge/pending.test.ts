import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import { outcomeOf } from "../fixtures.suite.ts";
import { PendingOutcomes } from "./pending.ts";

interface Item {
  readonly order: object;
  readonly name: string;
}

const ORDERS = { m: {}, a: {}, b: {}, c: {} };

function scene() {
  const given: (readonly [item: string, checkId: number, verdict: string])[] = [];
  const pending = new PendingOutcomes<Item>(({ name }, outcome) => {
    given.push([name, outcome.checkId, outcome.verdict]);
  });
  const add = (order: keyof typeof ORDERS, name: string, outcome: CheckOutcome, isPending: boolean): void =>
    pending.add({ order: ORDERS[order], name }, outcome, isPending);
  return { pending, add, given };
}

describe("PendingOutcomes", () => {
  it("gives what is known at once, and what was awaited once it is known", () => {
    const { pending, add, given } = scene();
    add("m", "first", outcomeOf(1), false);
    add("m", "second", outcomeOf(2, { verdict: "refused" }), true);
    expect(given).toEqual([["first", 1, "ok"]]);
    expect(pending.settle(outcomeOf(3))).toBe(false);
    expect(pending.settle(outcomeOf(2, { verdict: "unfit" }))).toBe(true);
    expect(pending.settle(outcomeOf(2))).toBe(false);
    expect(given.slice(1)).toEqual([["second", 2, "unfit"]]);
    expect(pending.size).toBe(0);
  });

  it("gives everything once, those of one order in their order, and nothing before what stands ahead of it", () => {
    const step = fc.record({ order: fc.constantFrom("a", "b", "c"), isPending: fc.boolean(), at: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { pending, add, given } = scene();
        const open: number[] = [];
        const settleOne = (at: number): void => {
          const [checkId] = open.splice(at % open.length, 1);
          expect(pending.settle(outcomeOf(checkId ?? 0))).toBe(true);
        };
        for (const [at, one] of steps.entries()) {
          add(one.order, one.order, outcomeOf(at + 1), one.isPending);
          if (one.isPending) open.push(at + 1);
          else if (open.length > 0) settleOne(one.at);
        }
        while (open.length > 0) settleOne(0);
        for (const order of ["a", "b", "c"]) {
          const expected = steps.flatMap((one, at) => (one.order === order ? [at + 1] : []));
          expect(given.filter(([item]) => item === order).map(([, checkId]) => checkId)).toEqual(expected);
        }
        expect(pending.size).toBe(0);
      }),
    );
  });
});
