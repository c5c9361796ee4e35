import { describe, expect, it } from "vitest";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { formatReach, targetsOf } from "./reach.ts";

const entry = (link: string, address: string) => ({
  tag: "n_1",
  config: parseProxyLink(link).config,
  address,
  password: "p",
});
const VLESS = "vless://5ec2e700-1111-4222-8333-444455556666@p.test-site.org";

describe("what a core reaches", () => {
  it("is the guarded address and the port of each of its configs, in the protocol that it travels in", () => {
    const entries = [entry(`${VLESS}:443`, "203.0.113.9"), entry("hy2://pw@p.test-site.org:8443", "2001:db8::1")];
    expect(targetsOf(entries)).toEqual([
      { ip: Buffer.from([203, 0, 113, 9]), firstPort: 443, lastPort: 443, protocol: "tcp" },
      {
        ip: Buffer.from("20010db8000000000000000000000001", "hex"),
        firstPort: 8_443,
        lastPort: 8_443,
        protocol: "udp",
      },
    ]);
  });

  it("is every port that hysteria2 hops between", () => {
    const hops = targetsOf([entry("hy2://pw@p.test-site.org:443,5000-6000/", "203.0.113.9")]);
    expect(hops.map(({ firstPort, lastPort, protocol }) => [firstPort, lastPort, protocol])).toEqual(
      expect.arrayContaining([[5_000, 6_000, "udp"]]),
    );
    expect(hops.some(({ firstPort, lastPort }) => firstPort <= 443 && 443 <= lastPort)).toBe(true);
  });

  it("is nothing where the address is none", () => {
    expect(targetsOf([entry(`${VLESS}:443`, "p.test-site.org")])).toEqual([]);
  });

  it("is told as an address and a port", () => {
    expect(formatReach({ protocol: "tcp", ip: Buffer.from([10, 0, 0, 1]), port: 22 })).toEqual({
      protocol: "tcp",
      to: "10.0.0.1:22",
    });
    const ip = Buffer.from("fe800000000000000000000000000001", "hex");
    expect(formatReach({ protocol: "udp", ip, port: 53 }).to).toBe("[fe80:0:0:0:0:0:0:1]:53");
    expect(formatReach({ protocol: "tcp", ip: null, port: 0 }).to).toBe("another family of addresses");
  });
});
