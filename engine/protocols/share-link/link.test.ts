import fc from "fast-check";
import { expect, it } from "vitest";
import { mustEqual } from "../../../testkit/must.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { base64Text, decoded, parametersOf, splitAddress } from "./link.ts";
import { parseProxyLink } from "./proxy-link.ts";

it("finds what was put into a link, whatever marks are in it", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "#", "?", "@", "/", ":", " ", "é", "%", "&", "="),
    maxLength: 12,
  });
  fc.assert(
    fc.property(text, text, text, (user, value, name) => {
      const link = `${encodeURIComponent(user)}@h.test-site.org:5?k=${encodeURIComponent(value)}#${encodeURIComponent(name)}`;
      const read = splitAddress(link);
      mustEqual([read.user, read.host, read.port], [user, "h.test-site.org", "5"]);
      mustEqual(read.name, name.trim() === "" ? null : name.trim());
      if (!/%[0-9a-f]{2}/i.test(value)) mustEqual(read.parameters.get("k"), value);
    }),
    { numRuns: 10_000 },
  );
});

it("decodes what can be decoded", () => {
  expect(decoded("a%20b%zz%C3%A9 %ff")).toBe("a b%zzé %ff");
  expect([...parametersOf("A-b=1;a_b=2")]).toEqual([["ab", "2"]]);
  expect(base64Text("YQ%3D%3D")).toBe("a");
  expect(base64Text("a b!")).toBeUndefined();
});

/** Of several runs the least, so that a busy machine decides nothing, CPU ms. */
function leastCpuMs(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 5; times++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const MARKS = "?".repeat(64) + "#".repeat(64);

it.each([
  // 54 s, when each of 4,096 left sides was decoded with an exception for each escape.
  ["escapes that are no text, and marks", `ss://${"%90x".repeat(3_900)}${MARKS}`],
  ["the same, as vmess", `vmess://${"%90x".repeat(3_900)}${MARKS}`],
  // 0.2 s.
  ["letters of base64, and marks", `ss://${"A".repeat(15_000)}${MARKS}`],
  ["at-signs, and marks", `vless://${"@".repeat(15_000)}${MARKS}`],
])("refuses a long link of %s at little cost", (_what, link) => {
  expect(leastCpuMs(() => expect(() => parseProxyLink(link)).toThrow(TunnelConfigError))).toBeLessThan(100);
});

it("reads a link whose marks are some way off the first", () => {
  const user = "a?b#c".repeat(5);
  expect(splitAddress(`${user}@h.test-site.org:5?k=v#n`)).toMatchObject({ user, host: "h.test-site.org", port: "5" });
});
