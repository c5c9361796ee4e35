import { expect, it } from "vitest";
import { parserSuite } from "../config.suite.ts";
import { parseHysteria2, parseHysteria2Link } from "./config.ts";

parserSuite("hysteria2", {
  parse: parseHysteria2,
  identity: "none",
  words: ["hy2://", "hysteria2://", ":443,5000-6000", "?mport=1-2", "@"],
  good: [
    [{ url: "hysteria2://user:pw@y.test-site.org:443,5000-6000/?sni=x#n" }, "y.test-site.org 443"],
    [{ url: "hy2://pw@y.test-site.org" }, "y.test-site.org 443"],
    [{ url: "hy2://pw@y.test-site.org:20000-20010?insecure=1" }, "y.test-site.org 20000"],
    [{ url: "hy2://y.test-site.org:8443?obfs=none" }, "y.test-site.org 8443"],
    [{ url: "hy2://pw@[2001:470::9]:1" }, "2001:470::9 1"],
    [{ url: "hy2://pw@y.test-site.org:443?mport=1-65535" }, "y.test-site.org 443"],
  ],
  bad: [
    [{}, "missing url"],
    [{ url: "hy2://pw@" }, "the link has no server after an @"],
    [{ url: "hy2://pw@y.test-site.org:6-5" }, "a range of the link's ports is the wrong way round"],
    [{ url: "hy2://pw@y.test-site.org:70000" }, "the link's port must be a number from 1 to 65535"],
    [
      { url: "hy2://pw@y.test-site.org:443?mport=1-65535,443" },
      "the link's ports stand in several ranges, more often than there are ports",
    ],
  ],
});

it("keeps the whole secret and all ports", () => {
  const link = parseHysteria2Link("hy2://us:p%40ss@y.test-site.org:443?mport=5000:6000,7");
  expect(link.credential).toEqual({ password: "us:p@ss" });
  expect(link.ports).toEqual([
    [5_000, 6_000],
    [7, 7],
  ]);
  expect(parseHysteria2Link("hy2://y.test-site.org?auth=x").credential).toEqual({ password: "x" });
});
