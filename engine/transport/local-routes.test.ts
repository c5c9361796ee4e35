import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { type Cidr, formatIpv4, formatIpv6, type Ipv6Words, parseIpv4, parseIpv6 } from "../net/ip.ts";
import { addressSet, setOf } from "./address-set.ts";
import { localRoutes4, localRoutes6 } from "./local-routes.ts";

/** Of Linux 6.18: an interface without a carrier, a whole prefix (`ip route add local 45.90.13.0/24 dev lo`), a transparent proxy's table. */
const TRIE = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     |-- 45.90.13.0
        /24 host LOCAL
     +-- 127.0.0.0/8 2 0 2
        +-- 127.0.0.0/31 1 0 0
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     +-- 192.168.2.0/24 2 0 2
        |-- 192.168.2.0
           /24 link UNICAST
        |-- 192.168.2.2
           /32 host LOCAL
        |-- 192.168.2.255
           /32 link BROADCAST
Id 100:
  |-- 0.0.0.0
     /0 host LOCAL
Local:
  |-- 192.168.2.2
     /32 host LOCAL
`;
const ROUTES = `fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0
00000000000000000000000000000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo
fd000000000000000000000000000000 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 00300001     eth0
fe8000000000000000fc00fffe000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001     eth0
2a0f9200000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000400 00000001 00000000 80000001       lo
`;
const shown = ({ family, words, bits }: Cidr) => `${family === 4 ? formatIpv4(words[0]) : formatIpv6(words)}/${bits}`;

describe("local routes", () => {
  it("are read as the kernel tells them", () => {
    expect(localRoutes4(TRIE).map(shown)).toEqual(["45.90.13.0/24", "127.0.0.0/8", "127.0.0.1/32", "192.168.2.2/32"]);
    expect(localRoutes6(ROUTES).map(shown)).toEqual([
      "::1/128",
      "fd00::/128",
      "fe80::fc:ff:fe00:1/128",
      "2a0f:9200::/64",
    ]);
  });

  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(...TRIE.split("\n"), ...ROUTES.split("\n")),
    fc.constantFrom("|-- 999.0.0.1", "/99 host LOCAL", "|-- ", "/", "/ LOCAL", "|-- 10.0.0.1"),
  );
  property([fc.array(line)])("any text gives prefixes or nothing", (lines) => {
    const text = lines.join("\n");
    for (const { family, words, bits } of [...localRoutes4(text), ...localRoutes6(text)]) {
      expect(bits).toBeGreaterThan(0);
      expect(bits).toBeLessThanOrEqual(family === 4 ? 32 : 128);
      expect(words.every((word) => word >= 0 && word <= 0xffff_ffff)).toBe(true);
    }
  });
});

describe("a set of addresses", () => {
  const set = addressSet(["10.0.0.5", "198.18.5.0/24", "2a00:1450::7", "2a00:99::/64", "not one"]);
  const has = (ip: string): boolean => {
    const ipv4 = parseIpv4(ip);
    return ipv4 >= 0 ? set.has4(ipv4) : set.has6(parseIpv6(ip) as Ipv6Words);
  };

  it("has its addresses and those of its prefixes", () => {
    expect(["10.0.0.5", "198.18.5.255", "2a00:1450::7", "2a00:99::ff"].map(has)).toEqual([true, true, true, true]);
    expect(["10.0.0.6", "198.18.6.0", "2a00:1450::8", "2a00:99:0:1::", "0.0.0.0", "::"].map(has)).toEqual(
      Array(6).fill(false),
    );
  });

  const cidr = fc.tuple(fc.nat(3), fc.integer({ min: 28, max: 32 })).map(([low, bits]): Cidr => {
    const size = 2 ** (32 - bits);
    return { family: 4, words: [0x0a00_0000 + Math.floor(low / size) * size, 0, 0, 0], bits };
  });
  property([fc.array(cidr, { maxLength: 3 }), cidr])(
    "covers what one of its entries holds whole",
    (listeners, range) => {
      const made = setOf(listeners);
      const first = range.words[0];
      const all = Array.from({ length: 2 ** (32 - range.bits) }, (_, at) => first + at);
      if (made.covers(range)) expect(all.every(made.has4)).toBe(true);
      const isWithinOne = listeners.some((each) => setOf([each]) && all.every(setOf([each]).has4));
      expect(made.covers(range)).toBe(isWithinOne);
    },
  );
});
