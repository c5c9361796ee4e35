import fc from "fast-check";
import { expect, it } from "vitest";
import { UUID } from "../protocols/config.suite.ts";
import { linksOf } from "./links.ts";

const breathe = async (): Promise<void> => {};

it("writes a list of a client as links, each with its place and name", async () => {
  const proxies = [
    { name: "A", type: "trojan", server: "a.test-site.org", port: 443, password: "x" },
    { name: "B", type: "nothing", server: "b.test-site.org", port: 443 },
    { name: "C", type: "vless", server: "c.test-site.org", port: 443, uuid: UUID, tls: true },
  ];
  const listed = await linksOf(JSON.stringify({ proxies }).replace('{"proxies":', "proxies: ").slice(0, -1), breathe);
  if ("fault" in listed) throw new Error(listed.fault);
  expect(listed.links.map(({ at, link }) => [at, link.split("@")[1]?.split(/[?#]/)[0], link.split("#")[1]])).toEqual([
    [1, "a.test-site.org:443", "A"],
    [3, "c.test-site.org:443", "C"],
  ]);
  expect([listed.badCount, listed.bad]).toEqual([1, [{ at: 2, reason: "nothing is not supported" }]]);
});

it("says of any text what it has, or why there is no list", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json(), fc.constant("proxies: [")), async (text) => {
      const listed = await linksOf(text, breathe);
      if ("fault" in listed) expect(listed.fault).toMatch(/\.$/);
      else expect(listed.bad.length).toBeLessThanOrEqual(listed.badCount);
    }),
    { numRuns: 80 },
  );
});
