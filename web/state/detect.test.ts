import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { detect, detectList } from "./detect.ts";

describe("what was pasted", () => {
  it.each([
    [
      "https://shop.test-site.org/health",
      "http",
      "shop.test-site.org/health",
      { url: "https://shop.test-site.org/health" },
    ],
    [
      "https://sub.test-site.org/api/v1/client/subscribe?token=abc",
      "subscription",
      "sub.test-site.org/api/v1/client/subscribe",
      { url: "https://sub.test-site.org/api/v1/client/subscribe?token=abc" },
    ],
    [
      "https://test-site.org/sub/c4f1a0d29b",
      "subscription",
      "test-site.org/sub/c4f1a0d29b",
      { url: "https://test-site.org/sub/c4f1a0d29b" },
    ],
    ["https://test-site.org/subscribe", "http", "test-site.org/subscribe", { url: "https://test-site.org/subscribe" }],
    ["www.test-site.org", "http", "test-site.org", { url: "https://www.test-site.org/" }],
    ["test-site.org/path?x=1", "http", "test-site.org/path", { url: "https://test-site.org/path?x=1" }],
    ["192.0.2.1", "ping", "192.0.2.1", { host: "192.0.2.1" }],
    ["2001:db8::1", "ping", "2001:db8::1", { host: "2001:db8::1" }],
    ["[2001:db8::1]:22", "port", "[2001:db8::1]:22", { host: "2001:db8::1", port: 22 }],
    ["db:5432", "port", "db:5432", { host: "db", port: 5432 }],
    ["mx.test-site.org:25", "smtp", "mx.test-site.org:25", { host: "mx.test-site.org", port: 25 }],
    ["tcp://127.0.0.1:80", "port", "127.0.0.1:80", { host: "127.0.0.1", port: 80 }],
    ["dns://test-site.org", "dns", "test-site.org", { domain: "test-site.org" }],
    ["tls://test-site.org", "tls", "test-site.org:443", { host: "test-site.org", port: 443 }],
    [
      "vless://2f9c8a5e@vpn.test-site.org:443?security=tls#Berlin%203",
      "vpn",
      "Berlin 3",
      { url: "vless://2f9c8a5e@vpn.test-site.org:443?security=tls#Berlin%203", protocol: "vless" },
    ],
    [
      "ss://abc@ss.test-site.org:8388",
      "vpn",
      "ss.test-site.org",
      { url: "ss://abc@ss.test-site.org:8388", protocol: "shadowsocks" },
    ],
    ["vpn://AAAA", "vpn", "vpn", { config: "vpn://AAAA" }],
  ])("%s", (text, kind, name, fields) => {
    expect(detect(text)).toEqual({ kind, name, fields });
  });

  it("knows files by what is in them", () => {
    const wireguard = "[Interface]\nPrivateKey = x\n[Peer]\nEndpoint = wg.test-site.org:51820\n";
    expect(detect(wireguard)).toMatchObject({
      kind: "vpn",
      name: "wg.test-site.org",
      fields: { protocol: "wireguard" },
    });
    expect(detect(wireguard.replace("[Peer]", "Jc = 4\n[Peer]"))).toMatchObject({ fields: { protocol: "amneziawg" } });
    const openvpn = "client\nremote ovpn.test-site.org 1194\n<ca>\n</ca>\n";
    expect(detect(openvpn)).toMatchObject({ kind: "vpn", name: "ovpn.test-site.org", fields: { protocol: "openvpn" } });
  });

  it("takes several lines that are each an address as a list", () => {
    expect(detectList("https://a.test-site.org\n# a comment\n\nb.test-site.org:22\n")).toEqual([
      "https://a.test-site.org",
      "b.test-site.org:22",
    ]);
    expect(detectList("https://a.test-site.org")).toBeNull();
    expect(detectList("two words\nb.test-site.org:22")).toBeNull();
  });

  it.each(["", "   ", "two words", "ftp://x", "a:99999", "http://", "-", "javascript:alert(1)"])(
    "says nothing of %j",
    (text) => {
      expect(detect(text)).toBeNull();
    },
  );

  property([fc.string({ maxLength: 300, unit: "binary" })])("any text is looked at without harm", (text) => {
    const found = detect(text);
    if (found !== null) expect([...found.name].length).toBeLessThanOrEqual(80);
    detectList(text);
  });
});
