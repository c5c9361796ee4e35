import { expect, it } from "vitest";
import { parserSuite, SECRET, UUID } from "../config.suite.ts";
import { parseTuic, parseTuicLink } from "./config.ts";

parserSuite("tuic", {
  parse: parseTuic,
  identity: "none",
  words: ["tuic://", UUID, "%3A", ":443"],
  good: [
    [{ url: `tuic://${UUID}:pw@q.test-site.org:10443?alpn=h3#x` }, "q.test-site.org 10443"],
    [{ url: `tuic://${UUID}%3Apw@q.test-site.org` }, "q.test-site.org 443"],
  ],
  bad: [
    [{}, "missing url"],
    [
      { url: `tuic://${SECRET}@q.test-site.org:1` },
      "the link has no password after its user id: only TUIC version 5 is supported",
    ],
    [{ url: `tuic://${UUID}:@q.test-site.org:1` }, "the link has no password"],
  ],
});

it("keeps colons of the password", () => {
  expect(parseTuicLink(`tuic://${UUID}:a:b%3Ac@q.test-site.org`).credential).toEqual({ uuid: UUID, password: "a:b:c" });
});
