import { describe, expect, it } from "vitest";
import { parserSuite, SECRET } from "../config.suite.ts";
import { parseWireguard } from "./config.ts";
import { parseIni } from "./ini.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const PEER = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=";
const file = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32, fd00::2/128 # ours\nDNS = 10.0.0.1\nMTU=1420\n\n[Peer]\nPublicKey=${PEER}\nAllowedIPs = 0.0.0.0/0, ::/0\nEndpoint = VPN.Test-Site.org:51820\nPersistentKeepalive = 25\n`;

parserSuite("wireguard", {
  parse: parseWireguard,
  identity: "account",
  words: ["[Interface]", "[Peer]", "Endpoint = ", "PrivateKey", "AllowedIPs", KEY],
  good: [
    [{ config: file }, "vpn.test-site.org 51820"],
    [
      {
        config: file
          .replaceAll("\n", "\r\n")
          .toUpperCase()
          .replace(KEY.toUpperCase(), KEY)
          .replace(PEER.toUpperCase(), PEER),
      },
      "vpn.test-site.org 51820",
    ],
    [{ config: file.replace("VPN.Test-Site.org:51820", "[2001:470::1]:443") }, "2001:470::1 443"],
    [{ config: file, host: "other.test-site.org" }, "other.test-site.org 51820"],
    [{ config: file, host: "other.test-site.org", port: 99 }, "other.test-site.org 99"],
    [{ config: file, port: 99 }, "vpn.test-site.org 99"],
    [{ config: file, ip: "9.9.9.9" }, "vpn.test-site.org 51820", "9.9.9.9 51820"],
    [{ config: file.replace(/Endpoint.*\n/, ""), host: "h.test-site.org:5" }, "h.test-site.org 5"],
    [
      { config: `${file}[Peer]\nPublicKey=${PEER}\nEndpoint=b.test-site.org:2\n` },
      "vpn.test-site.org 51820",
      "b.test-site.org 2",
    ],
    [{ config: `${file}SomethingNew = 1\n` }, "vpn.test-site.org 51820"],
    [{ config: file, all_peers: true }, "vpn.test-site.org 51820"],
  ],
  bad: [
    [{}, "missing config"],
    [{ config: " \n" }, "missing config"],
    [{ config: "hello" }, "config line 1 is not understood"],
    [{ config: "[Peer]\n" }, "missing [Interface]"],
    [{ config: "[Interface]\n[Other]\n" }, "config line 2: only [Interface] and [Peer] are known"],
    [{ config: file.replace(/PrivateKey.*\n/, "") }, "missing PrivateKey"],
    [{ config: file.replace(/Address.*\n/, "") }, "missing Address"],
    [{ config: file.replace(/PublicKey.*\n/, "") }, "missing PublicKey"],
    [{ config: file.replace(/Endpoint.*\n/, "") }, "missing Endpoint"],
    [{ config: file.replace(/\[Peer\].*/s, "") }, "missing [Peer]"],
    [{ config: file.replace(KEY, SECRET) }, "PrivateKey is not a key of 32 bytes in base64"],
    [
      { config: file.replace("10.0.0.2/32", "10.0.0.2/33") },
      "Address holds something that is not an address or network",
    ],
    [{ config: file.replace("51820", "70000") }, "the port of Endpoint must be a number from 1 to 65535"],
    [{ config: file.replace(":51820", "") }, "Endpoint needs a port"],
    [{ config: file.replace("VPN.Test-Site.org", "env:HOME") }, "Endpoint needs a port"],
    [{ config: file, ip: "vpn.test-site.org" }, "ip must be an IPv4 or IPv6 address"],
    [{ config: file.replace("1420", "70") }, "MTU must be a number from 576 to 65535"],
  ],
});

describe("parseIni", () => {
  it("keeps repeated keys in their order and forgets comments", () => {
    const { interface: own, peers } = parseIni("[interface]\naddress=1 # x\nAddress = 2\n# [Peer]\n[PEER]\n");
    expect(own.get("address")).toEqual(["1", "2"]);
    expect(peers).toHaveLength(1);
  });
});
