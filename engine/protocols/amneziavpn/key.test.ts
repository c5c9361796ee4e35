import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../../contract/registry.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { TUNNEL_FIELDS } from "../../contract/tunnel-fields.ts";
import { mutations } from "../mutations.suite.ts";
import { isAmneziaKey, parseAmneziaKey } from "./key.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const JUNK = "Jc = 4\nJmin = 40\nJmax = 70\nS1 = 50\nS2 = 60\nH1 = 5\nH2 = 6\nH3 = 7\nH4 = 8\n";
const file = (more = "") =>
  `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.8.1.2/32\nDNS = $PRIMARY_DNS, $SECONDARY_DNS\n${more}\n[Peer]\nPublicKey = ${KEY}\nAllowedIPs = 0.0.0.0/0\nEndpoint = vpn.test-site.org:51820\n`;
const container = (part: string, config: string, name = `amnezia-${part}`) => ({
  container: name,
  [part]: { last_config: JSON.stringify({ config, hostName: "vpn.test-site.org" }), port: "51820" },
});
const document = (...containers: readonly object[]) => ({ containers, dns1: "9.9.9.9", dns2: "149.112.112.112" });

function keyOf(of: unknown): string {
  const json = Buffer.from(JSON.stringify(of));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(json.length);
  return `vpn://${Buffer.concat([size, deflateSync(json)]).toString("base64url")}`;
}

describe("a key of AmneziaVPN", () => {
  it.each([
    ["amneziawg", container("awg", file(JUNK))],
    ["wireguard", container("wireguard", file())],
    ["openvpn", container("openvpn", "client\nremote vpn.test-site.org 51820\n<ca>\nx\n</ca>\n")],
  ] as const)("is the %s file within it", (protocol, of) => {
    const parsed = parse(protocol, { config: ` ${keyOf(document(of))}\n` });
    expect(parsed).toMatchObject({ protocol, endpoints: [{ host: "vpn.test-site.org", port: 51_820 }] });
    expect(parsed.fields.config).not.toContain("vpn://");
    expect(parse(protocol, parsed.fields)).toEqual(parsed);
    expect(isAmneziaKey(keyOf(document(of)))).toBe(true);
  });

  it("is the default container's, with the name servers of the key", () => {
    const of = {
      ...document(container("openvpn", "x"), container("awg", file(JUNK))),
      defaultContainer: "amnezia-awg",
    };
    const { protocol, config } = parseAmneziaKey(keyOf(of));
    expect([protocol, /^DNS.*$/m.exec(config)?.[0]]).toEqual(["amneziawg", "DNS = 9.9.9.9, 149.112.112.112"]);
    expect(/^DNS.*$/m.exec(parseAmneziaKey(keyOf({ ...of, dns2: "" })).config)?.[0]).toBe("DNS = 9.9.9.9");
    expect(parseAmneziaKey(keyOf({ ...of, dns1: "a\nb", dns2: 5 })).config).not.toContain("DNS");
  });

  it("that is not packed is read too", () => {
    const text = Buffer.from(JSON.stringify(document(container("awg", file(JUNK))))).toString("base64url");
    expect(parseAmneziaKey(`vpn://${text}`).protocol).toBe("amneziawg");
  });

  it.each([
    ["vpn://", "the key is not base64"],
    ["vpn://a b", "the key is not base64"],
    ["vpn://AAAAAAAA", "the key cannot be unpacked, or holds more than 512 KiB"],
    [keyOf({ containers: [], more: "x".repeat(600_000) }), "the key cannot be unpacked, or holds more than 512 KiB"],
    [keyOf("words"), "the key names no server: it is one of a service of AmneziaVPN"],
    [keyOf({ api_endpoint: "https://x" }), "the key names no server: it is one of a service of AmneziaVPN"],
    [
      keyOf(document({ ...container("openvpn", "x"), cloak: {} })),
      "the key is OpenVPN inside Cloak, which is not supported",
    ],
    [keyOf(document(container("xray", "{}"))), "the key's server is not of WireGuard, AmneziaWG or OpenVPN"],
    [
      keyOf(document({ awg: { port: "1" } })),
      "the key has no configuration of a client: it is shared for administration",
    ],
    [keyOf(document(container("wireguard", file()))), "the key is wireguard, the protocol is amneziawg"],
    [
      keyOf(document(container("awg", file(`#${"x".repeat(102_400)}`)))),
      `the key's configuration is longer than ${TUNNEL_FIELDS.config.maxBytes} bytes`,
    ],
    [
      // Longer once the name servers are in it.
      keyOf({
        ...document(container("awg", `${file(JUNK)}#${"$PRIMARY_DNS".repeat(4_000)}`)),
        dns1: `fd00${":0000".repeat(7)}`,
      }),
      `the key's configuration is longer than ${TUNNEL_FIELDS.config.maxBytes} bytes`,
    ],
    [keyOf(document(container("awg", file("# \0")))), "the key's configuration has a character that none can have"],
  ])("is refused in words: case %#", (config, reason) => {
    expect(() => parse("amneziawg", { config })).toThrow(new TunnelConfigError(reason));
  });

  it("of any letters is a file or a reason", () => {
    const good = keyOf(document(container("awg", file(JUNK))));
    const json = JSON.stringify(document(container("awg", file(JUNK))));
    const { cuts, edit } = mutations(["{", "}", '"', "null", "\\u0000", "$PRIMARY_DNS"], 20);
    fc.assert(
      fc.property(cuts(4), fc.boolean(), (made, isPacked) => {
        const text = isPacked ? edit(good, made) : `vpn://${Buffer.from(edit(json, made)).toString("base64url")}`;
        try {
          expect(parseAmneziaKey(text).config).not.toBe("");
        } catch (error) {
          if (!(error instanceof TunnelConfigError)) throw error;
        }
      }),
    );
  });
});
