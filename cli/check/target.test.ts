import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CommandError } from "../command.ts";
import { targetOf } from "./target.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const WG = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = vpn.test-site.org:51820\n`;
const OVPN = "client\nremote vpn.test-site.org 1194 udp\n<ca>\nx\n</ca>\n";
const LINK = "vless://5ec2e700-1111-4222-8333-444455556666@vpn.test-site.org:443?security=tls#Berlin";

describe("what is given", () => {
  it.each([
    [LINK, "vless", "vpn.test-site.org:443", "Berlin"],
    [`  ${LINK}\n`, "vless", "vpn.test-site.org:443", "Berlin"],
    [`\ufeff# mine\n${LINK}\n`, "vless", "vpn.test-site.org:443", "Berlin"],
    [Buffer.from(`${LINK}\n`).toString("base64"), "vless", "vpn.test-site.org:443", "Berlin"],
    [WG, "wireguard", "vpn.test-site.org:51820", null],
    [WG.replace("Address", "Jc = 4\nJmin = 10\nJmax = 50\nAddress"), "amneziawg", "vpn.test-site.org:51820", null],
    [OVPN, "openvpn", "vpn.test-site.org:1194", null],
    ["https://test-site.org/a?b", "http", "https://test-site.org/a?b", null],
    ["tcp://test-site.org:22", "port", "test-site.org:22", null],
    ["[2001:db8::1]:22", "port", "[2001:db8::1]:22", null],
    ["test-site.org", "ping", "test-site.org", null],
    ["icmp://192.0.2.1", "ping", "192.0.2.1", null],
    ["2001:db8::1", "ping", "2001:db8::1", null],
  ])("%j is %s", (text, kind, place, name) => expect(targetOf(text, null, {})).toMatchObject({ kind, place, name }));

  it("is not repeated at length, and as letters only", () => {
    const refused = (text: string) => () => targetOf(text, null, {});
    expect(refused(`tcp://a.test-site.org:1?%1b[31m${"x".repeat(5_000)}=1`)).toThrow(
      `port checks have no �[31m${"x".repeat(34)}…: they have host, port, ip_version`,
    );
  });

  it("can be named, and a login given to it", () => {
    const login = { username: "ada", password: "x", port: 8443 };
    expect(targetOf("https://gw.test-site.org/staff", "openconnect", login)).toMatchObject({
      ...{ kind: "openconnect", place: "gw.test-site.org:8443", settings: { username: "ada", password: "x" } },
    });
    expect(targetOf("gw.test-site.org", "ikev2", { psk: "x" })).toMatchObject({
      kind: "ikev2",
      place: "gw.test-site.org:500",
    });
    expect(targetOf(WG, "wireguard", { host: "192.0.2.7", port: 53 })).toMatchObject({ place: "192.0.2.7:53" });
    expect(() => targetOf(LINK, "vmess", {})).toThrow("the link is vless, --protocol says vmess");
  });

  it.each([
    ["", "nothing to check"],
    ["hello there", "no link, configuration or address"],
    ["ftp://test-site.org/", "can be used: ftp is not supported"],
    [`${LINK}\n${LINK}2\n`, "more than one configuration"],
    ["vless://x@", "the link has no server"],
    [WG.replace(/Endpoint.*/, ""), "missing Endpoint"],
    ["<!doctype html>", "no link, configuration or address"],
  ])("%j is refused in words", (text, words) => {
    expect(() => targetOf(text, null, {})).toThrow(CommandError);
    expect(() => targetOf(text, null, {})).toThrow(words);
  });

  it("of any text is a target or a wrong call", () => {
    const pieces = fc.constantFrom(
      WG,
      OVPN,
      LINK,
      "[Peer]\n",
      "remote ",
      "proxies:\n- ",
      "://",
      "\n",
      "ss",
      "@",
      ":",
      "[",
      "{",
      "\0",
      "%",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.oneof(pieces, fc.string())).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(targetOf(text, null, {}).place).toBeTypeOf("string");
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          expect(error.exitCode).toBe(2);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
