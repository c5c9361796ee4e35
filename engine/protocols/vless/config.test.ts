import { expect, it } from "vitest";
import { base64, parserSuite, SECRET, UUID } from "../config.suite.ts";
import { PBK } from "../share-link/links.suite.ts";
import { parseVless, parseVlessLink } from "./config.ts";

const at = (server: string, rest = "") => ({ url: `vless://${UUID}@${server}${rest}` });
const extra = encodeURIComponent(JSON.stringify({ downloadSettings: { address: "down.test-site.org", port: 8443 } }));

parserSuite("vless", {
  parse: parseVless,
  identity: "none",
  words: ["vless://", UUID, "?security=tls", "&amp;", "&type=ws", "%2525", "@[::1]:"],
  good: [
    [at("V.Test-Site.org:443", "?security=tls&type=ws&path=%2Fa%3Fed%3D2048#Berlin%201"), "v.test-site.org 443"],
    [at("[2001:470::1]:8443"), "2001:470::1 8443"],
    [at("2001:470::1:8443"), "2001:470::1 8443"],
    [at("v.test-site.org", `?security=reality&pbk=${PBK}`), "v.test-site.org 443"],
    [at("v.test-site.org:1/", "?path=/a@b:80#@channel #1"), "v.test-site.org 1"],
    [at("bücher.test-site.org:1"), "xn--bcher-kva.test-site.org 1"],
    [{ url: ` "VLESS://${UUID}@v.test-site.org:1?a=b&amp;amp;c=d" ` }, "v.test-site.org 1"],
    [{ url: `vless://${base64(`auto:${UUID}@v.test-site.org:1`)}?remarks=x&tls=1` }, "v.test-site.org 1"],
    [at("v.test-site.org:1", `?type=xhttp&extra=${extra}`), "v.test-site.org 1", "down.test-site.org 8443"],
    [{ url: "vless://short-name@v.test-site.org:1" }, "v.test-site.org 1"],
  ],
  bad: [
    [{}, "missing url"],
    [{ url: "vless://" }, "the link is empty"],
    [{ url: `trojan://${SECRET}@h:1` }, "the link must begin with vless://"],
    [{ url: `vless://${SECRET}` }, "the link has no server after an @"],
    [{ url: "vless://@v.test-site.org:1" }, "the link has no user id"],
    [{ url: `vless://${SECRET.repeat(2)}@v.test-site.org:1` }, "the link's user id is not a UUID"],
    [at("v.test-site.org"), "the link has no port"],
    [at("v.test-site.org:0"), "the link's port is 0, which no server has"],
    [at("[2001:db8::1]:70000?a=b"), "the link's port must be a number from 1 to 65535"],
    [at("env:HOME:1"), "the link has no server after an @"],
    [at("v.test-site.org:1", "?extra=%7B"), "extra is not JSON"],
  ],
});

it("reads name and parameters", () => {
  const link = parseVlessLink(
    `vless://${UUID}@h.test-site.org:1?Service-Name=a+b&alpn=h2%252Ch3&sni=&sni=x#%F0%9F%87%A9%20Berlin+1`,
  );
  expect(link.name).toBe("🇩 Berlin+1");
  expect([...link.parameters]).toEqual([
    ["servicename", "a b"],
    ["alpn", "h2,h3"],
    ["sni", "x"],
  ]);
  expect(link.credential).toEqual({ uuid: UUID });
});
