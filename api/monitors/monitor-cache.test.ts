import { describe, expect, it } from "vitest";
import type { ApiResponse } from "../http.ts";
import { createMonitorCache } from "./monitor-cache.ts";

const answer: ApiResponse = { status: 200, headers: [], body: "{}" };

describe("kept answers", () => {
  it("hold for their project, while nothing is committed, for a second", () => {
    let stamp = 5;
    const cache = createMonitorCache({ stamp: () => stamp });
    expect(cache.find(1, 7, 1_000)).toBeUndefined();
    cache.keep(1, 7, 5, 1_000, answer);
    expect(cache.find(1, 7, 1_999)).toBe(answer);
    expect(cache.find(2, 7, 1_999)).toBeUndefined();
    expect(cache.find(1, 8, 1_999)).toBeUndefined();
    expect(cache.find(1, 7, 2_000)).toBeUndefined();
    expect(cache.find(1, 7, 999)).toBeUndefined();
    stamp = 6;
    expect(cache.find(1, 7, 1_000)).toBeUndefined();
    // Read before the commit, worded after it.
    cache.keep(1, 7, 5, 1_000, answer);
    expect(cache.find(1, 7, 1_000)).toBeUndefined();
  });

  it("are not kept where the store has no stamp, and not without bound", () => {
    const without = createMonitorCache({ stamp: () => null });
    without.keep(1, 7, null, 1_000, answer);
    expect(without.find(1, 7, 1_000)).toBeUndefined();
    const cache = createMonitorCache({ stamp: () => 1 });
    for (let id = 1; id <= 10_001; id++) cache.keep(1, id, 1, 1_000, answer);
    expect(cache.find(1, 1, 1_000)).toBeUndefined();
    expect(cache.find(1, 10_001, 1_000)).toBe(answer);
  });
});
