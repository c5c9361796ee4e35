import { describe, expect, test } from "vitest";
import type { CheckSpec } from "../engine/contract/messages.ts";
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

  test("refuses a kind that is no kind's name; a name that this version does not know is for the prober to answer", () => {
    for (const kind of ["", "Http", "__proto__", "a b", "x".repeat(33), 7, null]) {
      expect(() => readSpec({ ...WHOLE, kind })).toThrow("no kind's name");
      expect(() => readSpec({ ...WHOLE, configs: [{ id: 3, kind, settings: {} }] })).toThrow("no kind's name");
    }
    expect(readSpec({ ...WHOLE, kind: "later" }).kind).toBe("later");
  });
});
