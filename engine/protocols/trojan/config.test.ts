import { expect, it } from "vitest";
import { parserSuite, SECRET } from "../config.suite.ts";
import { parseTrojan, parseTrojanLink } from "./config.ts";

parserSuite("trojan", {
  parse: parseTrojan,
  identity: "none",
  words: ["trojan://", "@", "#", "?sni=x", ":443"],
  good: [
    [{ url: "trojan://pw@t.test-site.org:8443?sni=x#Name" }, "t.test-site.org 8443"],
    [{ url: "trojan://pw@t.test-site.org" }, "t.test-site.org 443"],
    [{ url: "trojan://p#a/s?s@w@t.test-site.org:1?x=y#n" }, "t.test-site.org 1"],
  ],
  bad: [
    [{}, "missing url"],
    [{ url: "trojan://@t.test-site.org:1" }, "the link has no password"],
    [{ url: `trojan://${SECRET}` }, "the link has no server after an @"],
    [
      { url: "trojan://pw@t.test-site.org:1?encryption=ss%3Baes-128-gcm%3Ax" },
      "trojan-go's ss encryption is not supported",
    ],
  ],
});

it("keeps a password with every mark in it", () => {
  expect(parseTrojanLink("trojan://p#a/s?s@w%20d@t.test-site.org:1?x=y#n")).toMatchObject({
    credential: { password: "p#a/s?s@w d" },
    name: "n",
  });
});
