import { describe, expect, it } from "vitest";
import { readSpec } from "../../checker/spec-reader.ts";
import type { CheckSpec } from "./messages.ts";
import { hasLaterField } from "./registry.ts";
import { kindOfWire, toWire } from "./wire-kind.ts";

const url = "https://www.test-site.org/";
const sent = (spec: CheckSpec) => toWire(spec, hasLaterField(spec.kind, spec.settings));
const spec = (kind: "http" | "keyword" | "ping", settings: object) => ({
  key: 1,
  kind,
  settings: { ...settings },
  timeoutMs: 1_000,
});

describe("toWire", () => {
  it("leaves what every version knows as it is", () => {
    for (const known of [spec("http", { url, ip_version: null }), spec("ping", { host: "h", method: "POST" })]) {
      expect(sent(known)).toBe(known);
    }
  });

  it("gives a check that asks for more a name that no earlier version has; a checker of this one reads it back", () => {
    for (const [kind, name] of [
      ["http", "httprequest"],
      ["keyword", "keywordrequest"],
    ] as const) {
      for (const settings of [
        { method: "POST" },
        { headers: { a: "b" } },
        { bearer_token: "t" },
        { max_redirects: 0 },
      ]) {
        const one = spec(kind, { url, ...settings });
        const wire = JSON.parse(JSON.stringify(sent(one)));
        expect(wire).toMatchObject({ kind: name, settings });
        expect(readSpec(wire)).toEqual(one);
      }
    }
    expect(kindOfWire("later")).toBe("later");
  });
});
