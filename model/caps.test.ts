import { expect, it } from "vitest";
import { capsOf, STANDARD_CAPS } from "./caps.ts";

it("are the standard ones until they are set, and a workspace's follows the overall one", () => {
  expect(capsOf()).toEqual({ overall: 4_096, perHost: 128, perWorkspace: 3_072 });
  expect(capsOf({ ...STANDARD_CAPS, overall: 1_000 })).toEqual({ overall: 1_000, perHost: 128, perWorkspace: 750 });
  expect(capsOf({ ...STANDARD_CAPS, overall: 1 })).toMatchObject({ overall: 1, perWorkspace: 1 });
  expect(capsOf({ overall: 500, perHost: 4, perWorkspace: 600 })).toEqual({
    overall: 500,
    perHost: 4,
    perWorkspace: 600,
  });
});
