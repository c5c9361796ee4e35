import { describe, expect, it } from "vitest";
import type { ApiResponse } from "../http.ts";
import { createRecords } from "./records.ts";

const answer: ApiResponse = { status: 200, headers: [], body: "{}" };

describe("kept records", () => {
  it("hold for their project, while nothing is committed, for a second", () => {
    let stamp = 5;
    const records = createRecords({ stamp: () => stamp });
    expect(records.find(1, 7, 1_000)).toBeUndefined();
    records.keep(1, 7, 5, 1_000, answer);
    expect(records.find(1, 7, 1_999)).toBe(answer);
    expect(records.find(2, 7, 1_999)).toBeUndefined();
    expect(records.find(1, 8, 1_999)).toBeUndefined();
    expect(records.find(1, 7, 2_000)).toBeUndefined();
    expect(records.find(1, 7, 999)).toBeUndefined();
    stamp = 6;
    expect(records.find(1, 7, 1_000)).toBeUndefined();
    // Read before the commit, worded after it.
    records.keep(1, 7, 5, 1_000, answer);
    expect(records.find(1, 7, 1_000)).toBeUndefined();
  });

  it("are not kept where the store has no stamp, and not without bound", () => {
    const without = createRecords({ stamp: () => null });
    without.keep(1, 7, null, 1_000, answer);
    expect(without.find(1, 7, 1_000)).toBeUndefined();
    const records = createRecords({ stamp: () => 1 });
    for (let id = 1; id <= 10_001; id++) records.keep(1, id, 1, 1_000, answer);
    expect(records.find(1, 1, 1_000)).toBeUndefined();
    expect(records.find(1, 10_001, 1_000)).toBe(answer);
  });
});
