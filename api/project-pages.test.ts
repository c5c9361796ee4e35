import { describe, expect, it } from "vitest";
import { ProjectPages } from "./project-pages.ts";

describe("lists of a project's results", () => {
  it("hold until a row comes or a monitor is changed, for a second", () => {
    let [generation, version] = [1, 1];
    const pages = new ProjectPages({ auth: { generation: () => generation }, version: () => version });
    expect(pages.find("1 results", 5_000)).toBeUndefined();
    const kept = pages.keep("1 results", { generation, nowMs: 5_000 }, "[é]");
    expect(kept.body.toString()).toBe("[é]");
    expect(pages.find("1 results", 5_999)).toBe(kept);
    expect(pages.find("1 failures", 5_999)).toBeUndefined();
    expect(pages.find("1 results", 6_000)).toBeUndefined();
    expect(pages.find("1 results", 4_999)).toBeUndefined();
    version = 2;
    expect(pages.find("1 results", 5_001)).toBeUndefined();
    pages.keep("1 results", { generation, nowMs: 5_000 }, "[]");
    expect(pages.find("1 results", 5_001)?.body.toString()).toBe("[]");
    generation = 2;
    expect(pages.find("1 results", 5_001)).toBeUndefined();
    // Its names were read before the change.
    pages.keep("1 results", { generation: 1, nowMs: 5_000 }, "[]");
    expect(pages.find("1 results", 5_001)).toBeUndefined();
  });
});
