import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shareOf, shareStep } from "./config-share.ts";

const configs = (working: number, total: number) =>
  Array.from({ length: total }, (_, at) => ({ success: at < working, errorCategory: at < working ? "" : "timeout" }));

describe("shareOf", () => {
  it("counts what works, and says nothing after a fault of our own or where nothing works", () => {
    expect(shareOf("ok", configs(2, 11))).toEqual({ working: 2, total: 11 });
    expect(shareOf("timeout", configs(0, 11))).toBeNull();
    expect(shareOf("unfit", configs(2, 11))).toBeNull();
    expect(shareOf("cancelled", configs(2, 2))).toBeNull();
    const notRun = { success: false, errorCategory: "checker_error" };
    expect(shareOf("ok", [...configs(1, 2), notRun])).toEqual({ working: 1, total: 2 });
  });
});

describe("shareStep", () => {
  const changes = (shares: readonly number[], percent = 50, maxRetries = 2) => {
    let lowChecks = 0;
    return shares.map((working) => {
      const step = shareStep(lowChecks, { working, total: 11 }, percent, maxRetries);
      lowChecks = step.lowChecks;
      return step.change;
    });
  };

  it("tells a share below half once, when it is confirmed, and its end once", () => {
    expect(changes([11, 2, 2, 2, 2, 6, 6])).toEqual([null, null, "failing", null, null, "recovered", null]);
    expect(changes([2, 11, 2, 11])).toEqual([null, null, null, null]);
    expect(changes([2, 2], 50, 1)).toEqual(["failing", null]);
    expect(changes([1, 1, 1], 0)).toEqual([null, null, null]);
    expect(changes([10, 10], 100)).toEqual([null, "failing"]);
  });

  it("tells failing and recovered in turns, whatever comes, and never more than one check late", () => {
    const shares = fc.array(fc.integer({ min: 1, max: 11 }), { maxLength: 60 });
    fc.assert(
      fc.property(shares, fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 5 }), (all, percent, retries) => {
        const words = changes(all, percent, retries).filter((word) => word !== null);
        expect(words).toEqual(words.map((_, at) => (at % 2 === 0 ? "failing" : "recovered")));
        if (percent === 0) expect(words).toEqual([]);
      }),
    );
  });
});
