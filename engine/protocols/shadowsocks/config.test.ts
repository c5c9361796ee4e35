import { expect, it } from "vitest";
import { base64, parserSuite, SECRET } from "../config.suite.ts";
import { KEY16 } from "../share-link/links.suite.ts";
import { parseShadowsocks, parseShadowsocksLink } from "./config.ts";

parserSuite("shadowsocks", {
  parse: parseShadowsocks,
  identity: "none",
  words: ["ss://", base64("aes-256-gcm:pw"), "@", "?plugin=obfs-local", ":8388"],
  good: [
    [
      { url: `ss://${base64("aes-256-gcm:pw")}@s.test-site.org:8388/?plugin=obfs-local%3Bobfs%3Dhttp#n` },
      "s.test-site.org 8388",
    ],
    [
      { url: `ss://2022-blake3-aes-128-gcm:${encodeURIComponent(KEY16)}:${KEY16}@s.test-site.org:1` },
      "s.test-site.org 1",
    ],
    [{ url: `ss://${base64("aes-256-gcm:p@w@s.test-site.org:8388")}#n` }, "s.test-site.org 8388"],
    [{ url: `ss://${base64(base64("aes-256-gcm:pw"))}@s.test-site.org:1` }, "s.test-site.org 1"],
  ],
  bad: [
    [{}, "missing url"],
    [{ url: "ss://pw@s.test-site.org:1" }, "the link has no method and password"],
    [{ url: `ss://${base64("aes-256-gcm:")}@s.test-site.org:1` }, "the link has no password"],
    [{ url: `ss://${base64("aes-256-gcm:pw")}@s.test-site.org` }, "the link has no port"],
    [{ url: `ss://${SECRET}` }, "the link is neither an address nor base64 of text"],
  ],
});

it("reads method, password and name", () => {
  expect(parseShadowsocksLink(`ss://${base64("AES-256-GCM:p:w")}@s.test-site.org:1#A%20b`)).toMatchObject({
    credential: { method: "aes-256-gcm", password: "p:w" },
    name: "A b",
  });
  expect(parseShadowsocksLink("ss://2022-blake3-aes-128-gcm:a%2Bb%3D:c@s.test-site.org:1").credential.password).toBe(
    "a+b=:c",
  );
});
