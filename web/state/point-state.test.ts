import { expect, it } from "vitest";
import { stateOf, summedState } from "./point-state.ts";

it("tells a fault of ours from a failure, and takes a slow answer for one that was measured", () => {
  expect(stateOf({ status: "healthy", explain: { verdict: "ok" } })).toBe("passed");
  expect(stateOf({ status: "degraded", explain: { verdict: "ok" } })).toBe("passed");
  expect(stateOf({ status: "down", explain: { verdict: "timeout" } })).toBe("failed");
  expect(stateOf({ status: "unknown", explain: { verdict: "unfit" } })).toBe("ours");
  expect(stateOf({ status: "down" })).toBe("failed");
});

it("trusts a step unless half of its checks or more were faults of ours", () => {
  expect(summedState(60, 0, 0)).toBe("passed");
  expect(summedState(60, 1, 0)).toBe("failed");
  expect(summedState(60, 0, 1)).toBe("passed");
  expect(summedState(60, 20, 30)).toBe("ours");
  expect(summedState(1, 0, 1)).toBe("ours");
});
