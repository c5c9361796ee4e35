import { describe, expect, it } from "vitest";
import { ProjectPages } from "./project-pages.ts";

describe("lists of a project's results", () => {
  it("hold until a row comes or a monitor is changed, for a second", () => {
    let [generation, version, stamp] = [1, 1, 1];
    const auth = { generation: () => generation, stamp: () => stamp };
    const pages = new ProjectPages({ auth, version: () => version });
    expect(pages.find("1 results", 5_000)).toBeUndefined();
    const kept = pages.keep("1 results", { moment: pages.moment(5_000), isFromMemory: true }, "[é]");
    expect(kept.body.toString()).toBe("[é]");
    expect(pages.find("1 results", 5_999)).toBe(kept);
    expect(pages.find("1 failures", 5_999)).toBeUndefined();
    expect(pages.find("1 results", 6_000)).toBeUndefined();
    expect(pages.find("1 results", 4_999)).toBeUndefined();
    version = 2;
    expect(pages.find("1 results", 5_001)).toBeUndefined();
    const before = { moment: pages.moment(5_000), isFromMemory: true };
    pages.keep("1 results", before, "[]");
    expect(pages.find("1 results", 5_001)?.body.toString()).toBe("[]");
    stamp = 2;
    expect(pages.find("1 results", 5_001)?.body.toString()).toBe("[]");
    // What was read of the store is old with the next commit.
    pages.keep("1 results", { moment: pages.moment(5_000), isFromMemory: false }, "[2]");
    expect(pages.find("1 results", 5_001)?.body.toString()).toBe("[2]");
    stamp = 3;
    expect(pages.find("1 results", 5_001)).toBeUndefined();
    pages.keep("1 results", before, "[]");
    generation = 2;
    expect(pages.find("1 results", 5_001)).toBeUndefined();
    // Its names were read before the change.
    pages.keep("1 results", before, "[]");
    expect(pages.find("1 results", 5_001)).toBeUndefined();
  });
});
