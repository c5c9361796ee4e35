import fc from "fast-check";
import { expect, it } from "vitest";
import { finished } from "../../model/document/read.ts";
import { UUID } from "../protocols/config.suite.ts";
import { linkSteps } from "./links.ts";

const linksOf = (text: string, most = 10_000) => finished(linkSteps(text, most));

it("writes a list of a client as links, each with its place and name", () => {
  const proxies = [
    { name: "A", type: "trojan", server: "a.test-site.org", port: 443, password: "x" },
    { name: "B", type: "nothing", server: "b.test-site.org", port: 443 },
    { name: "C", type: "vless", server: "c.test-site.org", port: 443, uuid: UUID, tls: true },
  ];
  const listed = linksOf(JSON.stringify({ proxies }).replace('{"proxies":', "proxies: ").slice(0, -1));
  if ("fault" in listed) throw new Error(listed.fault);
  expect(listed.links.map(({ at, link }) => [at, link.split("@")[1]?.split(/[?#]/)[0], link.split("#")[1]])).toEqual([
    [1, "a.test-site.org:443", "A"],
    [3, "c.test-site.org:443", "C"],
  ]);
  expect([listed.badCount, listed.bad]).toEqual([1, [{ at: 2, reason: "nothing is not supported" }]]);
});

it("says of any text what it has, or why there is no list", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.constant("proxies: [")), (text) => {
      const listed = linksOf(text);
      if ("fault" in listed) expect(listed.fault).toMatch(/\.$/);
      else expect(listed.bad.length).toBeLessThanOrEqual(listed.badCount);
    }),
    { numRuns: 80 },
  );
});

it("lists what is there twice once, ends with one more than it may have, and keeps the provider's first message", () => {
  const link = (index: number, name: string): string => `trojan://x@h${index}.test-site.org:443#${name}`;
  const lines = [
    "trojan://x@0.0.0.0:1#Expires%20soon",
    link(1, "A"),
    link(1, "B"),
    ...[2, 3, 4].map((n) => link(n, "C")),
  ];
  const listed = linksOf(lines.join("\n"), 2);
  if ("fault" in listed) throw new Error(listed.fault);
  expect([listed.links.map(({ at }) => at), listed.message]).toEqual([[2, 4, 5], "Expires soon"]);
  expect(listed.links[0]?.link).toContain("#A");
});
