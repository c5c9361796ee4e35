import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { overridePlans, PLAN_NAMES, PLANS, standardPlans } from "./plan.ts";

describe("standardPlans", () => {
  it("has the contract's numbers, or no number that can be reached", () => {
    expect(standardPlans("contract")).toEqual(PLANS);
    for (const [name, plan] of Object.entries(standardPlans("off"))) {
      const { regionTargeting, apiAccess } = PLANS[name as keyof typeof PLANS];
      expect(plan).toEqual({
        requestsPerMinute: null,
        requestsPerDay: null,
        requestsPerMonth: null,
        onDemandTestsPerMonth: null,
        shortestIntervalS: 1,
        shortestPeriodS: 60,
        tunnelSlots: null,
        regionTargeting,
        apiAccess,
      });
    }
  });
});

describe("overridePlans", () => {
  it("puts an operator's numbers over either table", () => {
    const off = standardPlans("off");
    expect(overridePlans({ pro: { tunnelSlots: 7 } }, off)).toEqual({ ...off, pro: { ...off.pro, tunnelSlots: 7 } });
  });

  it("keeps the built-in table when nothing is given", () => {
    expect(overridePlans({})).toEqual(PLANS);
  });

  it("takes the example of docs/api-contract.md#plans", () => {
    const business = {
      requestsPerMinute: null,
      requestsPerDay: null,
      requestsPerMonth: null,
      onDemandTestsPerMonth: null,
      shortestIntervalS: 1,
      shortestPeriodS: 60,
      tunnelSlots: null,
      regionTargeting: true,
      apiAccess: true,
    };
    expect(overridePlans({ business })).toEqual({ ...PLANS, business });
  });

  it("keeps the built-in number for what is missing", () => {
    expect(overridePlans({ free: { apiAccess: true } }).free).toEqual({ ...PLANS.free, apiAccess: true });
  });

  it.each([
    ["not an object", [], "one JSON object"],
    ["null", null, "one JSON object"],
    ["text", "free", "one JSON object"],
    ["an unknown plan", { gold: {} }, '"gold"'],
    ["an inherited name", { toString: {} }, '"toString"'],
    ["__proto__", JSON.parse('{"__proto__": {}}'), '"__proto__"'],
    ["a plan that is no object", { pro: 5 }, "pro must be an object"],
    ["an unknown key", { pro: { tunnelSlot: 5 } }, '"tunnelSlot" in pro'],
    ["an inherited key", { pro: { constructor: 5 } }, '"constructor" in pro'],
    ["a number as text", { pro: { tunnelSlots: "5" } }, "pro.tunnelSlots must be a whole number"],
    ["a fraction", { pro: { requestsPerDay: 1.5 } }, "pro.requestsPerDay"],
    ["a negative number", { pro: { requestsPerDay: -1 } }, "pro.requestsPerDay"],
    [
      "an interval of null",
      { pro: { shortestIntervalS: null } },
      "pro.shortestIntervalS must be a whole number, from 1",
    ],
    ["an interval of zero", { pro: { shortestIntervalS: 0 } }, "pro.shortestIntervalS"],
    ["an interval above a day", { pro: { shortestIntervalS: 86_401 } }, "pro.shortestIntervalS"],
    ["a flag as number", { pro: { apiAccess: 1 } }, "pro.apiAccess must be true or false"],
    ["a flag of null", { pro: { regionTargeting: null } }, "pro.regionTargeting"],
  ])("refuses %s by name", (_case, overrides, words) => {
    expect(() => overridePlans(overrides)).toThrow(words);
  });

  it("gives a whole, usable table or throws an Error that begins with the setting's name", () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double(),
      fc.string(),
      fc.constant(undefined),
    );
    const key = fc.oneof(fc.constantFrom(...Object.keys(PLANS.free)), fc.string());
    const plan = fc.oneof(fc.dictionary(key, value), value);
    const file = fc.oneof(
      fc.dictionary(fc.oneof(fc.constantFrom<string>(...PLAN_NAMES), fc.string()), plan),
      fc.jsonValue(),
    );
    const keys = Object.keys(PLANS.free).sort().join();
    assertProperty(
      fc.property(file, (overrides) => {
        try {
          const table = overridePlans(overrides);
          for (const name of PLAN_NAMES) {
            if (Object.keys(table[name]).sort().join() !== keys) throw new Error("other keys");
            if (!Number.isInteger(table[name].shortestIntervalS)) throw new Error("no interval");
          }
        } catch (error) {
          if (!(error as Error).message.startsWith("SONDE_PLANS: ")) throw error;
        }
      }),
      { numRuns: 100_000 },
    );
  });
});
