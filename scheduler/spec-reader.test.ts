import { describe, expect, test } from "vitest";
import type { CheckSpec } from "../engine/check.ts";
import { readSpec } from "./spec-reader.ts";

/** Every member, so that one that is added to the type and forgotten at the door does not compile here, and fails there. */
const WHOLE: Required<CheckSpec> = {
  key: 7,
  kind: "vless",
  settings: { address: "host.example" },
  configs: [
    { id: 3, kind: "vless", settings: { address: "host.example" } },
    { id: 4, kind: "vmess", settings: {}, fault: "quarantined" },
  ],
  fault: "quarantined",
  timeoutMs: 10_000,
  isPublic: true,
  revision: 2,
  workspace: 5,
};

describe("readSpec", () => {
  test("gives every member of a spec as it was sent", () => {
    expect(readSpec(JSON.parse(JSON.stringify(WHOLE)))).toEqual(WHOLE);
    const { key, kind, settings, timeoutMs } = WHOLE;
    expect(readSpec({ key, kind, settings, timeoutMs })).toEqual({ key, kind, settings, timeoutMs });
  });

  test("refuses a revision that is no count", () => {
    for (const revision of [-1, 1.5, "2", null]) expect(() => readSpec({ ...WHOLE, revision })).toThrow();
  });
});
