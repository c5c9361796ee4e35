/** Texts of users: configurations of every tunnel, share links, hosts and addresses. */

import { isDeepStrictEqual } from "node:util";
import { makeCertificate } from "../../../demo/certificates.ts";
import { parse } from "../../../engine/contract/registry.ts";
import { TunnelConfigError, type TunnelFields } from "../../../engine/contract/tunnel.ts";
import { chooseEngines, cores } from "../../../engine/cores/choice.ts";
import { literalOf } from "../../../engine/net/literal.ts";
import { isAmneziaKey, parseAmneziaKey } from "../../../engine/protocols/amneziavpn/key.ts";
import { readAmneziaConfig } from "../../../engine/protocols/amneziawg/config.ts";
import { parseParams } from "../../../engine/protocols/amneziawg/params.ts";
import { encodeSignature, parseSignature } from "../../../engine/protocols/amneziawg/tags.ts";
import { encodeQuery } from "../../../engine/protocols/dns/message.ts";
import { toAsciiName } from "../../../engine/protocols/dns/name.ts";
import {
  parseEndpoint,
  parseHost,
  parsePort,
  readHost,
  readPort,
  splitAuthority,
} from "../../../engine/protocols/endpoint.ts";
import { compileStatusCodes, isStatusCodeItem } from "../../../engine/protocols/http/status-codes.ts";
import { parseHysteria2Link, parsePorts } from "../../../engine/protocols/hysteria2/config.ts";
import { addressOfLogin } from "../../../engine/protocols/openconnect/config.ts";
import { isPin } from "../../../engine/protocols/openconnect/pin.ts";
import { readConfig as readOpenvpn } from "../../../engine/protocols/openvpn/config.ts";
import { bytesOfPkcs12, hasPkcs12, keyFilesOf } from "../../../engine/protocols/openvpn/key-files.ts";
import { parseProfile } from "../../../engine/protocols/openvpn/profile.ts";
import { RECORDED as OVPN } from "../../../engine/protocols/openvpn/recorded.suite.ts";
import { settingsOfScope } from "../../../engine/protocols/openvpn/settings.ts";
import { cipherListOf, suiteListOf } from "../../../engine/protocols/openvpn/tls-settings.ts";
import { parseShadowsocksLink } from "../../../engine/protocols/shadowsocks/config.ts";
import { LINKS } from "../../../engine/protocols/share-link/links.suite.ts";
import { parseProxyLink } from "../../../engine/protocols/share-link/proxy-link.ts";
import { writeLink } from "../../../engine/protocols/share-link/write-link.ts";
import { connectRequest, greeting } from "../../../engine/protocols/socks/client.ts";
import { parseTrojanLink } from "../../../engine/protocols/trojan/config.ts";
import { parseTuicLink } from "../../../engine/protocols/tuic/config.ts";
import { parseVlessLink } from "../../../engine/protocols/vless/config.ts";
import { parseVmessLink } from "../../../engine/protocols/vmess/config.ts";
import { readConfig as readWireguard } from "../../../engine/protocols/wireguard/config.ts";
import { parseIni } from "../../../engine/protocols/wireguard/ini.ts";
import type { TunnelProtocol } from "../../../model/kind.ts";
import type { Engine } from "../../../model/subscription.ts";
import { type FuzzTarget, must, text, utf8 } from "../target.ts";

/** Longer than any reason; a reason that repeats the input is told by its length. */
const MOST_REASON = 160;
const REFUSED = { refusals: [TunnelConfigError], mostMessage: MOST_REASON } as const;
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const PEER = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=";
const WIREGUARD = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32, fd00::2/128 # ours\nDNS = 10.0.0.1\nMTU=1420\n\n[Peer]\nPublicKey=${PEER}\nPresharedKey=${KEY}\nAllowedIPs = 0.0.0.0/0, ::/0\nEndpoint = VPN.Test-Site.org:51820\nPersistentKeepalive = 25\n`;
const OWN =
  "Jc = 4\nJmin = 40\nJmax = 70\nS1 = 50\nS2 = 60\nH1 = 5-10\nH2 = 11\nH3 = 300-400\nH4 = 4294967295\nI1 = <b 0xdeadbeef><r 20> <t>\n";
const AMNEZIA = WIREGUARD.replace("MTU=1420\n", OWN);
const MADE = makeCertificate({ commonName: "a.rig" });
const STATIC = `-----BEGIN OpenVPN Static key V1-----\n${OVPN.tlsAuth.staticKey.toString("hex")}\n-----END OpenVPN Static key V1-----`;
const OPENVPN = [
  `client\ndev tun\nremote a.test-site.org 443 tcp-client\nremote b.test-site.org\nproto udp4\n# remote c\nauth-user-pass\n<ca>\n${MADE.certPem}</ca>\n<cert>\n${MADE.certPem}</cert>\n<key>\n${MADE.keyPem}</key>\n<tls-crypt>\n${STATIC}\n</tls-crypt>\n`,
  `client\nport 7\nremote no.test-site.org 1\n<connection>\nremote x.test-site.org\nproto tcp\n</connection>\n <connection>\n  remote "y.test-site.org" 8\n </connection>\n<cert>\n${MADE.certPem}</cert>\n<auth-user-pass>\nada\npw\n</auth-user-pass>\n`,
  `client\nremote a.test-site.org 1194\nauth SHA512\ndata-ciphers AES-128-GCM:?FOO\ncipher AES-256-CBC\ncomp-lzo\nfragment 1200\ntls-version-min 1.2\nverify-x509-name "a name" name\nremote-cert-tls server\npeer-fingerprint 00:11\nkey-direction 1\n<tls-auth>\n${STATIC}\n</tls-auth>\n<pkcs12>\nMIIB\n</pkcs12>\n`,
];
const INI_WORDS = [
  "[Interface]",
  "[Peer]",
  "Endpoint = ",
  "PrivateKey",
  "AllowedIPs = ",
  "Address = ",
  "DNS = ",
  "#",
  "=",
  "Jc = 99",
  "H1 = 1-2",
  "I1 = <r 5>",
  "S1 = 1132",
  "<b 0x",
  "<rc 9>",
  "<t>",
  ">",
  KEY,
];
const PROFILE_WORDS = [
  "remote ",
  "<connection>\n",
  "</connection>\n",
  "auth-user-pass",
  "proto udp",
  "<ca>\n",
  "</ca>\n",
  "<pkcs12>\n",
  "</pkcs12>\n",
  "#",
  ";",
  "\\",
  '"',
  "'",
  "--",
  "key-direction 2",
  "tls-version-min 1.4",
  "compress lz4",
  "-----BEGIN CERTIFICATE-----",
  "-----END CERTIFICATE-----",
];
const LINK_SEEDS = [...LINKS.values()];
const LINK_WORDS = [
  ..."%0A %00 &amp; { } &type=ws &security=tls &sni= &host= &path= &extra= &plugin= &mport=1-2 @ :443 # ? [::1] vless:// vmess:// ss:// %E9 1-2, ,443 &pbk= &flow= &ed=".split(
    " ",
  ),
  "é",
];

function parsedAgain(protocol: TunnelProtocol, fields: TunnelFields): string {
  const parsed = parse(protocol, fields);
  const isGood = parsed.endpoints.every(
    ({ host, port }) => /^[a-z0-9_.:-]+$/.test(host) && Number.isInteger(port) && port >= 1 && port <= 65_535,
  );
  must(parsed.endpoints.length > 0 && isGood, `leads to ${JSON.stringify(parsed.endpoints).slice(0, 200)}`);
  must(isDeepStrictEqual(parse(protocol, parsed.fields), parsed), "not the same when it is parsed again");
  return `${parsed.endpoints.length} ${parsed.identity === null}`;
}

const files: readonly FuzzTarget[] = [
  {
    name: "wireguard configuration",
    seeds: utf8(WIREGUARD),
    words: INI_WORDS,
    longest: 102_400,
    ...REFUSED,
    run(input) {
      const config = text(input);
      parseIni(config);
      const { length } = Object.keys(readWireguard({ config }));
      return `${parsedAgain("wireguard", { config })} ${length}`;
    },
  },
  {
    name: "amneziawg configuration",
    seeds: utf8(AMNEZIA, WIREGUARD),
    words: INI_WORDS,
    longest: 102_400,
    ...REFUSED,
    run(input) {
      const config = text(input);
      const { length } = Object.keys(readAmneziaConfig({ config }));
      parseParams(parseIni(config).interface);
      return `${parsedAgain("amneziawg", { config })} ${length}`;
    },
  },
  {
    name: "amneziawg signature packets",
    seeds: utf8("<b 0xdeadbeef><r 20> <t>", "<rc 3><rd 4><c><dz 8>", "<wt 100><b abc>"),
    words: ["<b 0x", "<r ", "<rc ", "<rd ", "<dz ", "<t>", "<c>", "<wt ", ">", "1400", "1401"],
    ...REFUSED,
    run(input) {
      for (const wordBytes of [4, 8] as const) {
        const packet = parseSignature(text(input), "I1", wordBytes);
        const moment = { randomBytes: (size: number) => new Uint8Array(size), unixS: 1, counter: 2 };
        must(
          encodeSignature(packet, wordBytes, moment).length === packet.sizeBytes && packet.sizeBytes <= 1_400,
          "another size than it says",
        );
      }
      return parseSignature(text(input), "I1", 4)
        .tags.map(({ kind }) => kind)
        .slice(0, 4)
        .join();
    },
  },
  {
    name: "openvpn profile",
    seeds: utf8(...OPENVPN),
    words: PROFILE_WORDS,
    longest: 102_400,
    cost: 4,
    ...REFUSED,
    run(input) {
      const config = text(input);
      const isBundle = hasPkcs12({ config });
      const profile = parseProfile(config);
      for (const scope of [profile, ...profile.connections]) settingsOfScope(scope);
      const fields = { config, username: "u", password: "p" };
      const { length } = Object.keys(readOpenvpn(fields));
      return `${parsedAgain("openvpn", fields)} ${isBundle} ${length} ${profile.connections.length}`;
    },
  },
  {
    name: "openvpn key files of a profile",
    seeds: utf8(...OPENVPN),
    words: PROFILE_WORDS,
    longest: 102_400,
    cost: 4,
    ...REFUSED,
    run(input) {
      const files = keyFilesOf(settingsOfScope(parseProfile(text(input))).tls);
      bytesOfPkcs12(text(input));
      return Object.values(files)
        .map((one) => one === null)
        .join();
    },
  },
  {
    name: "keys of amneziavpn",
    seeds: utf8(
      ...[AMNEZIA, WIREGUARD].map((config) => {
        const part = { last_config: JSON.stringify({ config: config.replace("10.0.0.1", "$PRIMARY_DNS") }) };
        const key = {
          containers: [{ container: "amnezia-awg", awg: part }],
          defaultContainer: "amnezia-awg",
          dns1: "9.9.9.9",
        };
        return `vpn://${Buffer.from(JSON.stringify(key)).toString("base64url")}`;
      }),
    ),
    words: ["vpn://", "eyJ", "AAAB", "-", "_", "="],
    longest: 102_400,
    cost: 4,
    ...REFUSED,
    run(input) {
      const config = text(input);
      const key = parseAmneziaKey(config);
      must(!key.config.includes("$PRIMARY_DNS"), "a mark is left");
      return `${isAmneziaKey(config)} ${key.protocol} ${parsedAgain(key.protocol, { config: key.config })}`;
    },
  },
  {
    name: "openvpn cipher lists",
    seeds: utf8(
      "TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384:!TLS-RSA-WITH-3DES-EDE-CBC-SHA:DEFAULT",
      "TLS_AES_256_GCM_SHA384",
    ),
    words: ["TLS-", "-WITH-", "AES-256-CBC", ":", "!", "+"],
    run: (input) => `${(cipherListOf(text(input)) ?? "").length > 0} ${(suiteListOf(text(input)) ?? "").length > 0}`,
  },
];

/** Fields one behind the other, each a line: which are there follows from the seeds. */
function fieldsOf(input: Buffer): TunnelFields {
  const [host = "", username, password, port, ip, psk, remote_id, group, pin, local_id, ...rest] =
    text(input).split("\x1e");
  const ca = rest.join("\x1e");
  const given = { host, username, password, ip, psk, remote_id, group, pin, local_id };
  const number = Number(port);
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
  return {
    ...present,
    ...(Number.isInteger(number) && number > 0 && number <= 65_535 && { port: number }),
    ...(ca !== "" && { ca }),
  };
}
const FIELD_SEEDS = utf8(
  "ike.test-site.org\x1eada\x1epw",
  "ike.test-site.org\x1e\x1e\x1e4500\x1e9.9.9.9\x1eshared\x1egw.test-site.org\x1e\x1e\x1e@#0a1b",
  `oc.test-site.org:8443/?camouflage\x1eada\x1epw\x1e\x1e\x1e\x1e\x1estaff\x1epin-sha256:${"A".repeat(43)}=\x1e\x1e${MADE.certPem}`,
  "https://[2001:470::5]:8443/a\x1eada\x1epw",
);

const fieldTargets = (["ikev2", "openconnect", "openvpn", "wireguard"] as const).map(
  (protocol): FuzzTarget => ({
    name: `fields of ${protocol}`,
    seeds: protocol === "wireguard" ? utf8("h.test-site.org:5") : FIELD_SEEDS,
    words: ["\x1e", "https://", ":443", "[", "]", "/", "?", "#", "::1", "%zz", ".", "xn--"],
    longest: 102_400,
    cost: 2,
    ...REFUSED,
    run(input) {
      const fields = { ...fieldsOf(input), ...(protocol === "wireguard" && { config: WIREGUARD }) };
      if (protocol === "openconnect") addressOfLogin(fields);
      isPin(fields.pin ?? "");
      return parsedAgain(protocol, fields);
    },
  }),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left
const HARMFUL = /[\u0000-\u001f\u007f]/;

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function linkTarget(name: string, parse: (link: string) => unknown, seeds: readonly string[]): FuzzTarget {
  return {
    name,
    seeds: utf8(...seeds),
    words: LINK_WORDS,
    longest: 16 * 1024,
    ...REFUSED,
    run(input) {
      parse(text(input));
      return "read";
    },
  };
}
const of = (...schemes: readonly string[]): readonly string[] =>
  LINK_SEEDS.filter((link) => schemes.some((scheme) => link.startsWith(`${scheme}://`)));

const links: readonly FuzzTarget[] = [
  {
    name: "share links",
    seeds: utf8(...LINK_SEEDS),
    words: LINK_WORDS,
    longest: 16 * 1024,
    cost: 2,
    ...REFUSED,
    run(input) {
      const read = parseProxyLink(text(input));
      const harmful = textsIn(read.config).find((field) => HARMFUL.test(field));
      must(harmful === undefined, `a control character: ${JSON.stringify(harmful)}`);
      const again = parseProxyLink(writeLink(read)).config;
      must(isDeepStrictEqual(again, read.config), "not the same after writing");
      const { engines } = chooseEngines(read.config, null);
      for (const engine of engines) requireOneEntry(engine, read.config);
      return `${read.config.account.protocol} ${read.config.transport.type} ${read.config.security.kind} ${engines.join()}`;
    },
  },
  linkTarget("vless links", parseVlessLink, of("vless")),
  linkTarget("vmess links", parseVmessLink, of("vmess")),
  linkTarget("trojan links", parseTrojanLink, of("trojan")),
  linkTarget("shadowsocks links", parseShadowsocksLink, of("ss")),
  linkTarget("hysteria2 links", parseHysteria2Link, of("hysteria2", "hy2")),
  linkTarget("tuic links", parseTuicLink, of("tuic")),
  ...(["vless", "vmess", "trojan", "shadowsocks", "hysteria2", "tuic"] as const).map(
    (protocol): FuzzTarget => ({
      name: `${protocol} configuration`,
      seeds: utf8(...of(protocol === "shadowsocks" ? "ss" : protocol, ...(protocol === "hysteria2" ? ["hy2"] : []))),
      words: LINK_WORDS,
      longest: 16 * 1024,
      ...REFUSED,
      run: (input) => parsedAgain(protocol, { url: text(input) }),
    }),
  ),
  {
    name: "vmess json",
    seeds: utf8(
      '{"v":"2","ps":"n","add":"p.test-site.org","port":"443","id":"0f3c1d2e-1111-4222-8333-444455556666","aid":"0","scy":"auto","net":"ws","path":"/p","host":"c.test-site.org","tls":"tls","sni":"s.test-site.org"}',
      '{"v":2,"ps":"n","add":"p.test-site.org","port":443,"id":"0f3c1d2e-1111-4222-8333-444455556666","net":"grpc","path":"svc","type":"multi"}',
      "n = vmess, p.test-site.org, 443, aes-128-gcm, 0f3c1d2e-1111-4222-8333-444455556666",
    ),
    words: ['"add":', '"port":', '"net":"kcp"', '"tls":"tls"', "null", "{}", "[]", "1e309", "\\ud800", "\\u0000", ","],
    longest: 11_000,
    ...REFUSED,
    run: (input) => parsedAgain("vmess", { url: `vmess://${input.toString("base64")}` }),
  },
];

/** A core is handed one server, under our own door, whatever the link says. */
function requireOneEntry(engine: Engine, config: ReturnType<typeof parseProxyLink>["config"]): void {
  if (cores[engine].supports(config) !== undefined) return;
  const entries = [{ tag: "n_0", config, address: "192.0.2.1", password: "p" }];
  const file = cores[engine].render({ entries, port: 10_000, identityPassword: "d", isVerbose: false });
  const { inbounds } = JSON.parse(file);
  must(Array.isArray(inbounds) && inbounds.length === 1 && inbounds[0].listen === "127.0.0.1", "another door");
}

const hosts: readonly FuzzTarget[] = [
  {
    name: "hosts and ports",
    seeds: utf8("vpn.test-site.org:51820", "[2001:db8::1]:443", "10.0.0.1", "bücher.example:1", "::1", "a.b."),
    words: ["[", "]", ":", "::", ".", "xn--", "65535", "%eth0", "ß", "。", "0x7f", "\u00ad"],
    ...REFUSED,
    run(input) {
      const given = text(input);
      const ended = (read: () => unknown): unknown => {
        try {
          return read();
        } catch (error) {
          if (error instanceof TunnelConfigError) return undefined;
          throw error;
        }
      };
      const host = readHost(given);
      if (typeof host === "string") must(/^[a-z0-9_.:-]+$/.test(host), "a host that none is");
      const port = readPort(given);
      must(port === undefined || (port >= 1 && port <= 65_535), "a port that none is");
      ended(() => parseHost(given));
      ended(() => parsePort(given));
      ended(() => splitAuthority(given));
      const endpoint = ended(() => parseEndpoint(given, 443, "host"));
      return `${typeof host} ${typeof port} ${endpoint === undefined} ${literalOf(given)?.family}`;
    },
  },
  {
    name: "names for dns",
    seeds: utf8("www.test-site.org", "bücher.example", "a.".repeat(60), "xn--bcher-kva.example."),
    words: [".", "xn--", "-", "_", "ß", "。", "\u200d", "a".repeat(63), "a".repeat(64)],
    run(input) {
      const name = toAsciiName(text(input));
      if (name === undefined) return "none";
      must(/^[\x21-\x7e]*$/.test(name) && name.length <= 255, "a name that none is");
      const query = encodeQuery(name, "A", 1);
      must(query.name === name.toLowerCase(), "asked for another name");
      return "name";
    },
  },
  {
    name: "hysteria2 ports",
    seeds: utf8("443,5000-6000", "1", "20000-50000,443"),
    words: [",", "-", "65535", "65536", "0"],
    ...REFUSED,
    run(input) {
      const ranges = parsePorts(text(input));
      must(
        ranges.every(([first, last]) => first >= 1 && first <= last && last <= 65_535),
        "a range that none is",
      );
      return Math.min(4, ranges.length);
    },
  },
  {
    name: "status codes",
    seeds: utf8("200", "200-299", "100-599"),
    run(input) {
      const item = text(input);
      const accepted = compileStatusCodes([item]).length;
      must(isStatusCodeItem(item) || accepted === 0 || /-/.test(item), "accepted what is no item");
      return `${isStatusCodeItem(item)}`;
    },
  },
  {
    name: "socks requests",
    seeds: utf8("a.test-site.org", "192.0.2.1", "2001:db8::192.0.2.1", "::"),
    words: [":", "::", ".", "ffff", "255", "g"],
    refusals: [RangeError],
    run(input) {
      greeting("u", text(input).slice(0, 255) || "p");
      const request = connectRequest(text(input), 443);
      must(request[0] === 5 && request.length <= 262, "a request that is too long");
      return request[3];
    },
  },
];

export const CONFIGS: readonly FuzzTarget[] = [...files, ...fieldTargets, ...links, ...hosts];
