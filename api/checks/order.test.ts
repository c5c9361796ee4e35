import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import type { JsonObject } from "../body.ts";
import { ApiError } from "../errors.ts";
import { countedOf } from "./anonymous-quota.ts";
import { PUBLIC_TIMEOUT_S, readCheck, refuseAnonymous, TIMEOUT_S } from "./order.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const UUID = "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f";
const CONFIGS = [
  `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = vpn.test-site.org:51820`,
  `vless://${UUID}@vpn.test-site.org:443?security=tls`,
  `tuic://${UUID}:p@vpn.test-site.org:443`,
  "client\nremote vpn.test-site.org 1194\n<ca>\nx\n</ca>",
  "vpn.test-site.org:8443",
  "[2001:db8::1]:443",
  "Endpoint = x",
];

const foreign = fc.oneof(fc.jsonValue(), fc.string(), fc.constant(null));
/** Mostly what belongs there. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: foreign });
const body = fc.record(
  {
    config: mostly(
      fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...CONFIGS) }, fc.mixedCase(fc.constantFrom(...CONFIGS))),
    ),
    protocol: mostly(fc.constantFrom(...TUNNEL_PROTOCOLS)),
    host: mostly(fc.constantFrom("vpn.test-site.org", "[::1]:80", "")),
    username: mostly(fc.constant("ada")),
    password: mostly(fc.constant("word")),
    port: mostly(fc.integer({ min: 0, max: 70_000 })),
    timeout: mostly(fc.double({ noNaN: true })),
    engine: mostly(fc.constantFrom("xray", "singbox")),
    remote_id: mostly(fc.constant("id.test-site.org")),
    psk: mostly(fc.constant("word")),
    pin: mostly(fc.constant("sha1:00")),
  },
  { requiredKeys: [] },
);

describe("readCheck", () => {
  it("reads a body or refuses it in the contract's ways, whatever it holds", () => {
    let taken = 0;
    fc.assert(
      fc.property(body, fc.boolean(), (sent, isPublic) => {
        const range = isPublic ? PUBLIC_TIMEOUT_S : TIMEOUT_S;
        try {
          const order = readCheck(sent as JsonObject, range, !isPublic);
          taken += 1;
          expect(order.tunnel.endpoints.length).toBeGreaterThan(0);
          expect(order.timeoutMs).toBeGreaterThanOrEqual(range.least * 1_000);
          expect(order.timeoutMs).toBeLessThanOrEqual(range.most * 1_000);
          if (isPublic || !order.isDetected) expect(order.engine).toBeNull();
          refuseAnonymous(order);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          expect([400, 413, 422]).toContain(error.status);
          // Nothing of a secret in any refusal.
          expect(error.message).not.toContain(KEY);
          expect(error.message).not.toContain(UUID);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(50);
  });
});

describe("refuseAnonymous", () => {
  const orderOf = (lines: string) =>
    readCheck({ protocol: "openvpn", config: `client\nremote vpn.test-site.org\n${lines}` }, PUBLIC_TIMEOUT_S, false);
  it.each([
    "<pkcs12>\nMAA=\n</pkcs12>",
    "<PKCS12>\nMAA=\n</PKCS12>",
    "<connection>\nremote a.test-site.org\n<pkcs12>\nMAA=\n</pkcs12>\n</connection>",
  ])("refuses anonymous callers who bring one: case %#", (lines) => {
    expect(() => refuseAnonymous(orderOf(lines))).toThrow("<pkcs12> is not opened for public checks");
  });
  it("refuses a file of many servers, whose names would all be asked for", () => {
    const peer = (host: string) => `[Peer]\nPublicKey = ${KEY}\nEndpoint = ${host}:51820\n`;
    const orderOfPeers = (hosts: readonly string[]) => {
      const config = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n${hosts.map(peer).join("")}`;
      return readCheck({ protocol: "wireguard", config }, PUBLIC_TIMEOUT_S, false);
    };
    const hosts = Array.from({ length: 17 }, (_, index) => `vpn${index}.test-site.org`);
    expect(() => refuseAnonymous(orderOfPeers(hosts))).toThrow("public checks take at most 16 servers");
    refuseAnonymous(orderOfPeers(hosts.slice(1)));
    refuseAnonymous(orderOfPeers(hosts.map(() => "vpn.test-site.org")));
  });
  it.each([19, 53, 123, 161, 389, 443, 1_900, 5_353, 11_211])(
    "refuses junk to port %i, which others may send",
    (port) => {
      const own = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n`;
      const peer = `[Peer]\nPublicKey = ${KEY}\nEndpoint = vpn.test-site.org:${port}\n`;
      for (const junk of ["Jc = 16\nJmin = 5\nJmax = 9\n", "I1 = <b 0xfe><r 20>\n"]) {
        const body = { protocol: "amneziawg", config: own + junk + peer };
        expect(readCheck(body, TIMEOUT_S, true).tunnel.endpoints).toMatchObject([{ port }]);
        const order = readCheck(body, PUBLIC_TIMEOUT_S, false);
        expect(() => refuseAnonymous(order)).toThrow("junk and signature packets are not sent for public checks");
      }
      refuseAnonymous(readCheck({ protocol: "amneziawg", config: own + peer }, PUBLIC_TIMEOUT_S, false));
    },
  );
  it("lets everything else pass", () => {
    refuseAnonymous(orderOf("# <pkcs12>\n<ca>\nx\n</ca>\n"));
    const link = `vless://${UUID}@vpn.test-site.org:443?security=tls`;
    refuseAnonymous(readCheck({ config: link }, PUBLIC_TIMEOUT_S, false));
  });
});

describe("countedOf", () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const groups = fc.array(group, { minLength: 8, maxLength: 8 });
  const textOf = (of: readonly number[]): string =>
    new URL(`http://[${of.map((one) => one.toString(16)).join(":")}]`).hostname.slice(1, -1);

  it("counts IPv6 addresses together exactly when they share a /64, and a /48", () => {
    fc.assert(
      fc.property(groups, groups, fc.integer({ min: 0, max: 8 }), (one, other, shared) => {
        const second = [...one.slice(0, shared), ...other.slice(shared)];
        const [net, site] = countedOf(textOf(one));
        const [otherNet, otherSite] = countedOf(textOf(second));
        const isSame = (count: number): boolean => one.slice(0, count).every((value, at) => value === second[at]);
        expect(net?.[0] === otherNet?.[0]).toBe(isSame(4));
        expect(site?.[0] === otherSite?.[0]).toBe(isSame(3));
      }),
    );
  });

  it("counts IPv4 addresses one by one", () => {
    expect(countedOf("198.51.100.7")).toEqual([["public-check 198.51.100.7", 5]]);
  });
});
