import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { clientAddressOf, networkOf, plainAddress } from "./address.ts";
import type { ApiRequest } from "./http.ts";

const from = (remoteAddress: string, forwardedFor = ""): ApiRequest => ({
  method: "GET",
  path: "/",
  query: "",
  apiKey: "",
  authorization: "",
  projectId: "",
  forwardedFor,
  isProxied: false,
  ifNoneMatch: "",
  acceptEncoding: "",
  idempotencyKey: null,
  cookie: "",
  origin: "",
  host: "",
  secFetchSite: "",
  page: "",
  userAgent: "",
  acceptLanguage: "",
  remoteAddress,
  body: null,
});

describe("addresses", () => {
  it("have one text each", () => {
    expect(plainAddress("::ffff:10.1.2.3")).toBe("10.1.2.3");
    expect(plainAddress("0000:0000:0000:0000:0000:ffff:0a01:0203")).toBe("10.1.2.3");
    expect(plainAddress("2001:0db8:0000:0000:0000:0000:0000:0001")).toBe("2001:db8::1");
    expect(plainAddress("10.1.2.3")).toBe("10.1.2.3");
    expect(plainAddress("")).toBe("");
  });

  it("come from the header only through trusted hops", () => {
    const direct = clientAddressOf([]);
    expect(direct(from("198.18.0.1", "6.6.6.6"))).toBe("198.18.0.1");
    const behind = clientAddressOf(["10.0.0.0/8", "fd00::/8"]);
    expect(behind(from("198.18.0.1", "6.6.6.6"))).toBe("198.18.0.1");
    expect(behind(from("10.0.0.1", "6.6.6.6, 7.7.7.7"))).toBe("7.7.7.7");
    expect(behind(from("::ffff:10.0.0.1", "6.6.6.6, 10.9.9.9"))).toBe("6.6.6.6");
    expect(behind(from("fd00::1", " 2001:DB8::5 "))).toBe("2001:db8::5");
    expect(behind(from("10.0.0.1", "nonsense"))).toBe("10.0.0.1");
    expect(behind(from("10.0.0.1", "6.6.6.6, nonsense"))).toBe("10.0.0.1");
  });

  it.each(["x", "10.0.0.0/33", "10.0.0.0/x", "::1/129", "10.0.0.1:80"])("refuse the proxy %s by name", (entry) => {
    expect(() => clientAddressOf([entry])).toThrow(entry);
  });

  it("count by what one customer has: an IPv4 address, a /64 of IPv6", () => {
    expect(networkOf("198.51.100.7")).toBe("198.51.100.7");
    expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
    expect(networkOf("2001:db8:1:2::9")).toBe("2001:db8:1:2::/64");
    expect(networkOf("2001:db8::9")).toBe("2001:db8:0:0::/64");
    expect(networkOf("::1")).toBe("0:0:0:0::/64");
    expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
    assertProperty(
      fc.property(fc.ipV6(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (address, host) => {
        const plain = plainAddress(address);
        const network = networkOf(plain);
        if (isIP(plain) === 4) return;
        const tail = host
          .toString(16)
          .padStart(16, "0")
          .replace(/(.{4})(?=.)/g, "$1:");
        const neighbour = plainAddress(`${network.replace("::/64", "")}:${tail}`);
        if (isIP(neighbour) === 6) expect(networkOf(neighbour)).toBe(network);
      }),
    );
  });

  it("never break, whatever is forwarded", () => {
    const behind = clientAddressOf(["0.0.0.0/0"]);
    assertProperty(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.ipV4(),
          fc.ipV6(),
          fc.array(fc.ipV6()).map((all) => all.join(",")),
        ),
        (header) => {
          expect(isIP(behind(from("10.0.0.1", header)))).not.toBe(0);
        },
      ),
      { numRuns: 100_000 },
    );
  });
});
