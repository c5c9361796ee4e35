/**
 * What reads foreign text or bytes costs time in proportion to its length, whatever they repeat. Each reader is given a filler at n and at 8n;
 * the CPU time may grow up to 24 times before it counts as more than linear, and is not looked at below a floor that no quadratic reader of
 * this length stays under. Only the least of several measurements counts, so that a busy machine decides nothing.
 */
import { describe, expect, it } from "vitest";
import { readObject } from "../api/body.ts";
import { PUBLIC_TIMEOUT_S, readCheck, refuseAnonymous } from "../api/checks/order.ts";
import type { ApiRequest } from "../api/http.ts";
import { linkedProtocol } from "../api/monitors/tunnels.ts";
import { parseRequestHead, RequestReader } from "../api/request-reader.ts";
import { protocolOfFile, targetOf } from "../cli/check/target.ts";
import { decodeText } from "../model/decode-text.ts";
import { parseDuration } from "../model/document/durations.ts";
import { parseYaml } from "../model/document/yaml.ts";
import { TUNNEL_PROTOCOLS } from "../model/kind.ts";
import { parseSender, parseSmtpUrl } from "../model/smtp-url.ts";
import { normalUrl } from "../model/subscription.ts";
import { before, linesOf, pemBlocks, withoutBlanks, withoutTrailing } from "../model/text.ts";
import { parseTime } from "../model/time.ts";
import { parseUrl } from "../model/url.ts";
import { parsePingOutput } from "../native/ping-output.ts";
import { HEADER_BYTES, isHarmlessControl, parseHeader, parseVector } from "../native/sandbox/message.ts";
import { parseSockaddr } from "../native/sandbox/peer.ts";
import { parseManifest } from "../store/backup/manifest.ts";
import { BLOCK_BYTES, parseTarHeader } from "../store/backup/tar.ts";
import { decodeFrames } from "../store/results/spool-frame.ts";
import {
  parseBatch,
  parseOneOffCheck,
  parseOutcomes,
  parseReply,
  parseReport,
} from "../store/state/message-readers.ts";
import { parse } from "./contract/registry.ts";
import { parseTunnelTarget } from "./contract/tunnel-targets.ts";
import { CoreLog } from "./cores/core-log.ts";
import { reasonOf } from "./cores/error-output.ts";
import { judge } from "./cores/finding.ts";
import { singbox } from "./cores/singbox.ts";
import { xray } from "./cores/xray.ts";
import { plainText } from "./net/classify.ts";
import { parseCidr, parseIpv4, parseIpv6 } from "./net/ip.ts";
import { isDocumentationName, literalOf } from "./net/literal.ts";
import { parseAmneziaKey } from "./protocols/amneziavpn/key.ts";
import { readAmneziaConfig } from "./protocols/amneziawg/config.ts";
import { parseSignature } from "./protocols/amneziawg/tags.ts";
import { readLines } from "./protocols/answer.ts";
import { requireCertificates } from "./protocols/certificates.ts";
import { decodeReply, encodeQuery } from "./protocols/dns/message.ts";
import { toAsciiName } from "./protocols/dns/name.ts";
import { parseEndpoint, parseHost, parsePort, readHost, readPort, splitAuthority } from "./protocols/endpoint.ts";
import { codingsOf } from "./protocols/http/content-coding.ts";
import { parseHead } from "./protocols/http/head.ts";
import { parseWebUrl } from "./protocols/http/hop.ts";
import { ResponseReader } from "./protocols/http/response.ts";
import { charsetOf } from "./protocols/http/text-search.ts";
import { parseHysteria2Link, parsePorts } from "./protocols/hysteria2/config.ts";
import {
  decodeAuth,
  decodeCertificate,
  decodeConfigurationReply,
  decodeDelete,
  decodeIdentity,
  decodeKeyExchange,
  decodeSelectors,
} from "./protocols/ikev2/bodies.ts";
import { namesOf, readCertificate } from "./protocols/ikev2/certificate.ts";
import { DER, encodeDer, readDer } from "./protocols/ikev2/der.ts";
import { decodeEap } from "./protocols/ikev2/eap.ts";
import { readIdentity } from "./protocols/ikev2/identity.ts";
import { decodeHeader } from "./protocols/ikev2/message.ts";
import { decodeAnnouncements, decodeHashes, decodeNotify } from "./protocols/ikev2/notify.ts";
import { decodeProposals } from "./protocols/ikev2/proposals.ts";
import { createAnchors } from "./protocols/ikev2/trust.ts";
import { decodeIp } from "./protocols/inner/packet.ts";
import { decodeInner } from "./protocols/inner/question.ts";
import { readPem } from "./protocols/keys/pem.ts";
import { addressOfLogin } from "./protocols/openconnect/config.ts";
import { CookieJar } from "./protocols/openconnect/cookies.ts";
import { parseLoginAnswer } from "./protocols/openconnect/form.ts";
import { AnswerParser } from "./protocols/openconnect/http.ts";
import { isTarget } from "./protocols/openconnect/login.ts";
import { parseXml } from "./protocols/openconnect/xml.ts";
import { readConfig as readOpenvpnConfig } from "./protocols/openvpn/config.ts";
import { ControlTextReader, readPushed } from "./protocols/openvpn/control-text.ts";
import { decodeKeyMethod } from "./protocols/openvpn/key-method.ts";
import { decodeControl } from "./protocols/openvpn/packet.ts";
import { parseProfile } from "./protocols/openvpn/profile.ts";
import { parseClientKeyV2, parseStaticKey } from "./protocols/openvpn/static-key.ts";
import { commonName, subjectText } from "./protocols/openvpn/subject.ts";
import { cipherListOf, suiteListOf } from "./protocols/openvpn/tls-settings.ts";
import { parseShadowsocksLink } from "./protocols/shadowsocks/config.ts";
import { bytesOf, hostHeaderOf, hostOfHeaders, listOf, pathOf, uuidOf } from "./protocols/share-link/field.ts";
import { base64Text, bodyOf, decoded, foldedName, parametersOf, splitAddress } from "./protocols/share-link/link.ts";
import { parseProxyLink, schemeOf } from "./protocols/share-link/proxy-link.ts";
import { readReply } from "./protocols/smtp/reply.ts";
import { STARTTLS_PROTOCOLS, turnsOf } from "./protocols/starttls/turns.ts";
import { parseTrojanLink } from "./protocols/trojan/config.ts";
import { parseTuicLink } from "./protocols/tuic/config.ts";
import { parseVlessLink } from "./protocols/vless/config.ts";
import { parseVmessLink } from "./protocols/vmess/config.ts";
import { readConfig as readWireguardConfig } from "./protocols/wireguard/config.ts";
import { parseIni } from "./protocols/wireguard/ini.ts";
import { decodeBase64List } from "./subscription/base64-list.ts";
import { entriesOf } from "./subscription/body.ts";
import { parseLooseJson } from "./subscription/loose-json.ts";
import { stepsOf } from "./text-judge/regex-steps.ts";
import { parseAllowNet } from "./transport/allow-nets.ts";
import { parseNameServer } from "./transport/name-servers.ts";
import { parseHosts, parseResolvConf } from "./transport/system-names.ts";
import { gatewaysOf, parseCanary } from "./trust/canary.ts";
import { PreparedWireguard } from "./tunnels/wireguard-peers.ts";
import { parseVerifyUrl } from "./verify/endpoint.ts";

const GROWTH = 8;
const MAX_TIMES = 24;
/** CPU ms below which the length is not worth a second look: a quadratic reader of 32 Ki characters takes a hundred and more. */
const FLOOR_MS = 10;
/** Each measures the long text once and the short one several times, because a collection of garbage weighs more in the short one. */
const ROUNDS = 15;
const SHORT_REPEATS = 4;

/** Characters of the longest text; what is bounded below it by itself is measured up to its bound. */
const LONGEST = 32 * 1024;
const MAX_LINK = 16_000;

const FILLERS = [
  ..." \"':/=&%\n\t0a[],\\{}<>;?#@-.+|*!~_()\r\0",
  "\ufeff",
  "é",
  "😀",
  "\r\n",
  " \n",
  ": ",
  ", ",
  "= ",
  "/?",
  "?#",
  "#@",
  "@:",
  "@1:",
  "a=",
  "&a=",
  "%4",
  "%41",
  "%zz",
  "%ff",
  "\\n",
  "\\;",
  '""',
  '",',
  "''",
  "a.",
  "1.",
  "::",
  "1,",
  "1-1,",
  "<a",
  "<a>",
  "</a>",
  '<a b="',
  "<!--",
  "<![CDATA[",
  "&#1;",
  "&amp;",
  "-----BEGIN CERTIFICATE-----",
  "-----END CERTIFICATE-----",
  "a\n",
  "a=b\n",
  "[a]\n",
  "outbound[1]",
  "lookup ",
  "-WITH-",
  // Items that differ: what is only looked up among equal ones costs nothing.
  "№,",
  "a№\n",
  "a№=b\n",
  "a№: b\r\n",
  "&a№=1",
  "<a№>",
  '"a№":1,',
  "a№.test-site.org,",
  "fd00::№,",
] as const;

/** @returns the filler so often, with a number of its own in each */
function repeated(filler: string, count: number): string {
  if (!filler.includes(NUMBER)) return filler.repeat(count);
  return Array.from({ length: count }, (_, index) => filler.replaceAll(NUMBER, String(index))).join("");
}
const NUMBER = "№";
/** Digits of the greatest. */
const NUMBER_LETTERS = 5;

interface Reader {
  readonly name: string;
  read(text: string): unknown;
  /** What stands around the filler; by default nothing, and a letter behind it. */
  readonly frames?: readonly (readonly [prefix: string, suffix: string])[];
  readonly longest?: number;
}

const BARE: Reader["frames"] = [
  ["", ""],
  ["", "x"],
  ["x", "!"],
];
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const WIREGUARD = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n`;
const PEER = `\n[Peer]\nPublicKey = ${KEY}\nAllowedIPs = 0.0.0.0/0\nEndpoint = vpn.test-site.org:51820\n`;
const text = (
  read: (text: string) => unknown,
  frames: readonly (readonly [string, string])[] = [],
  longest = LONGEST,
  name = read.name,
): Reader => ({ name, read, frames: [...(BARE ?? []), ...frames], longest });
const named = (
  name: string,
  read: (text: string) => unknown,
  frames: Reader["frames"] = [],
  longest = LONGEST,
): Reader => text(read, frames, longest, name);
const latin = (of: string): Buffer => Buffer.from(of, "latin1");
/** As much of a certificate as readers of its subject look at, with a common name of these bytes. */
function withSubject(of: Buffer): Buffer {
  const sequence = (...parts: readonly Buffer[]) => encodeDer(DER.sequence, Buffer.concat(parts));
  const name = sequence(encodeDer(0x31, sequence(Buffer.from([6, 3, 0x55, 4, 3]), encodeDer(0x1e, of))));
  const none = sequence();
  return sequence(sequence(none, none, none, none, name));
}

const UUID = "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f";
const afterScheme = (scheme: string): Reader["frames"] => [
  [`${scheme}://`, ""],
  [`${scheme}://`, "@h.test-site.org:443"],
  [`${scheme}://a"`, 'x"'],
  [`${scheme}://?`, ""],
  [`${scheme}://${UUID}@h.test-site.org:443?a=b`, "#n"],
  [`${scheme}://${UUID}@h.test-site.org:443?security=tls&sni=`, ""],
  [`${scheme}://${UUID}@h.test-site.org:443?security=tls&path=`, ""],
  [`${scheme}://${UUID}@h.test-site.org:443#`, ""],
];
const link = (scheme: string, read: (link: string) => unknown): Reader =>
  named(`${scheme} link`, read, afterScheme(scheme), MAX_LINK);

const OPTIONS: readonly (readonly [string, string])[] = [
  ["client\nremote vpn.test-site.org 1194\n<ca>\nx\n</ca>\n", "\n"],
  ["client\nremote ", "\n"],
  ["client\nremote vpn.test-site.org 1194\n<ca>\n", "\n</ca>\n"],
  ["client\nremote vpn.test-site.org 1194\n<ca>\nx\n</ca>\ntls-cipher TLS-", "\n"],
];

const TEXTS: readonly Reader[] = [
  named("model: cuts", (of) => [before(of, "#"), before(of, "?#"), withoutTrailing(of, "/ ,"), withoutBlanks(of)]),
  named("model: linesOf", linesOf),
  named("model: pemBlocks", (of) => pemBlocks(of, "CERTIFICATE"), [["-----BEGIN CERTIFICATE-----", ""]]),
  named("model: normalUrl", normalUrl, [
    ["http://", ""],
    ["http://a:", "@b/"],
    ["https://[", "]/"],
  ]),
  named("model: parseUrl", (of) => parseUrl(of), [
    ["http://", ""],
    ["http://a:", "@b/"],
    ["http://a/", ""],
  ]),
  named("model: parseSmtpUrl", (of) => parseSmtpUrl(of), [
    ["smtp://", ""],
    ["smtp://a:", "@b"],
    ["smtp://a", "/"],
  ]),
  named("model: parseSender", (of) => parseSender(of), [
    ["", " <a@b>"],
    ["a <", "@b>"],
    ["a@", ""],
  ]),
  named("model: parseYaml", (of) => parseYaml(of), [
    ["a: '", "'"],
    ["a: {b: [", "]}"],
    ["a:\n  - ", ""],
    ["a: |\n  ", ""],
  ]),
  named("engine: stepsOf", stepsOf, [["(", "{2}"]], 8_192),
  named("model: parseDuration", (of) => parseDuration(of), [["1h", "m"]]),
  named("model: parseTime", parseTime, [["2026-01-01T00:00:00.", "Z"]]),
  named("api: linkedProtocol", linkedProtocol, afterScheme("vless")),
  named("api: body", (of) => readObject({ body: Buffer.from(of) } as unknown as ApiRequest), [
    ['{"config":"', '"}'],
    ["{", "}"],
    ['{"a":[', "]}"],
  ]),
  named(
    "api: check without protocol",
    (of) => readCheck({ config: of }, PUBLIC_TIMEOUT_S, false),
    afterScheme("hysteria2"),
  ),
  ...TUNNEL_PROTOCOLS.map((protocol) =>
    named(
      `api: check of ${protocol}`,
      (of) => {
        for (const body of [
          { config: of },
          { host: of },
          { host: "a.test-site.org", username: "a", password: "b", ca: of },
          { host: "a.test-site.org", username: "a", password: "b", pin: of.slice(0, 256) },
        ]) {
          ended(() => refuseAnonymous(readCheck({ protocol, ...body }, PUBLIC_TIMEOUT_S, false)));
        }
      },
      [
        [WIREGUARD, PEER],
        [`${WIREGUARD}Jc`, PEER],
        [`${WIREGUARD}I1 = <b 0x`, `>${PEER}`],
        ["Endpoint=", ""],
      ],
    ),
  ),
  named("cli: protocolOfFile", protocolOfFile, [["[Interface]\n", ""]]),
  named("cli: targetOf", (of) => targetOf(of, null, {}), [["tcp://", ":1"]]),
  named("native: parsePingOutput", parsePingOutput, [
    ["64 bytes from 192.0.2.1: icmp_seq=1 ", ""],
    ["seq=1 ", " time=1 ms"],
  ]),
  named("canary", (of) => [ended(() => parseCanary(of)), ended(() => gatewaysOf(of))]),
  named("classify: plainText", plainText),
  named(
    "cores: what they say",
    (of) => {
      const log = new CoreLog((line) => xray.explain(line) ?? singbox.explain(line));
      log.push(of);
      log.push("\n");
      log.findingsOf("a");
      judge(of.slice(0, 4_096));
      const entry = { account: { protocol: "trojan", password: "a" } };
      reasonOf(of, entry as never);
    },
    [
      ["taking detour [", ""],
      ["outbound/a[", ""],
      ["dial: lookup ", ""],
    ],
  ),
  named("amneziawg: parseSignature", (of) => parseSignature(of, "I1", 4), [
    ["<b 0x", ">"],
    ["<r ", ">"],
  ]),
  named("amneziawg: readAmneziaConfig", (of) => readAmneziaConfig({ config: of }), [
    [WIREGUARD, PEER],
    [`${WIREGUARD}H1 = `, PEER],
  ]),
  named("wireguard: readConfig", (of) => readWireguardConfig({ config: of }), [
    [WIREGUARD, PEER],
    [`${WIREGUARD}DNS = `, PEER],
  ]),
  named(
    "wireguard: who routes what",
    (of) => {
      const lists = `${WIREGUARD}Address = ${of}\nDNS = ${of}\n${PEER}AllowedIPs = ${of}\n`;
      const peers = of.startsWith("fd00::") ? of.split(",", 200).map((ip) => `${PEER}AllowedIPs = ${ip}\n`) : [];
      return new PreparedWireguard(readWireguardConfig({ config: lists + peers.join("") }), {}, null).deciderFor([]);
    },
    [["fd00::1/128,", ""]],
    MAX_LINK,
  ),
  named("wireguard: parseIni", parseIni, [["[Interface]\n", ""]]),
  named("ikev2: readIdentity", readIdentity, [
    ["@#", "0"],
    ["keyid:", ""],
  ]),
  named("requireCertificates", (of) => requireCertificates(of, "ca"), [
    ["-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----"],
  ]),
  named("ikev2: createAnchors", (of) => createAnchors([of]), [
    ["-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----"],
  ]),
  named("keys: readPem", (of) => readPem(of), [
    ["-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----"],
    ["-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----"],
  ]),
  named("dns: toAsciiName", toAsciiName),
  named(
    "endpoint: hosts and ports",
    (of) => {
      for (const read of [parseHost, parsePort, readHost, readPort, splitAuthority]) ended(() => read(of));
      ended(() => parseEndpoint(of, 443, "host"));
    },
    [
      ["[", "]:1"],
      ["a:", ":1"],
    ],
  ),
  named("http: codingsOf and charsetOf", (of) => [codingsOf(of), charsetOf(of)], [
    ["text/html;charset=", ""],
    ['a;charset="', ""],
  ]),
  named("http: parseWebUrl", (of) => parseWebUrl(of), [
    ["http://", "/"],
    ["http://a/", ""],
  ]),
  named("hysteria2: parsePorts", parsePorts),
  named("openconnect: address", (of) => [ended(() => addressOfLogin({ host: of })), isTarget(of)], [["https://", "/"]]),
  named(
    "openconnect: cookies",
    (of) => {
      const jar = new CookieJar();
      jar.take({ headers: [["set-cookie", of]] });
      return jar.text();
    },
    [
      ["a=", ""],
      ["a", "=b"],
    ],
  ),
  named("openconnect: parseXml", parseXml, [
    ["<a>", "</a>"],
    ["<a ", ">"],
  ]),
  named("openconnect: parseLoginAnswer", parseLoginAnswer, [["<auth><form>", "</form></auth>"]]),
  named("openvpn: parseProfile", parseProfile, OPTIONS),
  named("openvpn: readConfig", (of) => readOpenvpnConfig({ config: of }), OPTIONS),
  named("openvpn: ciphers", (of) => [cipherListOf(of), suiteListOf(of)], [
    ["TLS-A", "!"],
    ["TLS-", "-WITH-A"],
  ]),
  named("openvpn: control text", (of) => [...new ControlTextReader().push(latin(`${of}\0`))], [
    ["PUSH_REPLY,", ""],
    ["AUTH_FAILED,", ""],
  ]),
  named("openvpn: readPushed", (of) => readPushed(of.split(",")), [
    ["dhcp-option DNS ", ""],
    ["ifconfig-ipv6 ", ""],
  ]),
  named("openvpn: keys", (of) => [ended(() => parseStaticKey(of)), ended(() => parseClientKeyV2(of))], [
    ["-----BEGIN OpenVPN Static key V1-----\n", "\n-----END OpenVPN Static key V1-----"],
  ]),
  named(
    "share link: parts",
    (of) => {
      for (const read of [
        schemeOf,
        decoded,
        base64Text,
        foldedName,
        parametersOf,
        bytesOf,
        listOf,
        uuidOf,
        hostOfHeaders,
      ]) {
        ended(() => read(of));
      }
      ended(() => pathOf(of, "path"));
      ended(() => hostHeaderOf(of, "host", () => {}));
      ended(() => bodyOf(of, ["vless"]));
    },
    [
      ["a://", ""],
      ['{"host":"', '"}'],
      ["a=b&", ""],
    ],
  ),
  named(
    "share link: splitAddress",
    (of) => splitAddress(of),
    [
      ["", "@h.test-site.org:443"],
      ["a@h.test-site.org:443?", ""],
    ],
    MAX_LINK,
  ),
  ...Object.entries({
    vless: parseVlessLink,
    vmess: parseVmessLink,
    trojan: parseTrojanLink,
    ss: parseShadowsocksLink,
    hysteria2: parseHysteria2Link,
    tuic: parseTuicLink,
  }).flatMap(([scheme, read]) => [link(scheme, read), link(scheme, parseProxyLink)]),
  ...TUNNEL_PROTOCOLS.map((protocol) =>
    named(`${protocol}: parser`, (of) => parse(protocol, { url: of }), afterScheme(protocol), MAX_LINK),
  ),
  named(
    "vmess JSON",
    (of) => parseVmessLink(`vmess://${Buffer.from(of).toString("base64")}`),
    [
      ['{"add":"', '"}'],
      ["a = vmess, ", ""],
    ],
    11_000,
  ),
  named(
    "subscription: entriesOf",
    (of) => {
      let entries = 0;
      for (const _ of entriesOf(of)) entries++;
      return entries;
    },
    [
      ["proxies:\n", ""],
      ['{"outbounds":[', "]}"],
      ["vless://", "\n"],
      ["proxies:\n- {name: ", "}\n"],
      ["[{", ""],
      ['{"servers":[{', "]"],
      ["// a\n[", ""],
      ["proxies:\n- {a: 1}\n", ""],
    ],
  ),
  named("subscription: JSON", (of) => ended(() => entriesOfJson(parseLooseJson(of))), [
    ["[{", ""],
    ['{"servers":[{', "]"],
    ["/*", "["],
  ]),
  named("amneziavpn: key", (of) => ended(() => parseAmneziaKey(`vpn://${Buffer.from(of).toString("base64url")}`)), [
    ['{"containers":[{"awg":{"last_config":{"config":"', '"}}}]}'],
    ['{"containers":[{"awg":{"last_config":{"config":"DNS = ', '"}}}]}'],
  ]),
  named("a list's bytes", (of) => decodeText(Buffer.from(of)), [["\ufeff", ""]]),
  named("subscription: base64", (of) => decodeBase64List(of), [
    ["YQ==", ""],
    ["#", "\n"],
  ]),
  named(
    "transport: addresses",
    (of) => {
      for (const read of [
        parseAllowNet,
        parseCidr,
        parseIpv4,
        parseIpv6,
        literalOf,
        isDocumentationName,
        parseNameServer,
      ])
        ended(() => read(of));
    },
    [
      ["[", "]"],
      ["10.0.0.0/8:", ""],
    ],
  ),
  named("transport: files", (of) => [parseHosts(of), parseResolvConf(of)], [
    ["nameserver ", ""],
    ["127.0.0.1 ", ""],
    ["search ", ""],
  ]),
  named(
    "messages over Redis",
    (of) => [
      parseOutcomes(of),
      ended(() => parseReport(of, "de", 0)),
      ended(() => parseReply(of)),
      ended(() => parseOneOffCheck(of)),
      ended(() => parseBatch(of, (spec) => spec)),
    ],
    [
      ["[", "]"],
      ['[{"message":"', '"}]'],
      ['{"type":"measured","result":{"message":"', '"}}'],
      ['{"specs":[', '],"runs":[]}'],
    ],
  ),
  named("manifest of a backup", (of) => ended(() => parseManifest(of)), [
    ["", ""],
    ['{"format":1,"version":"', '"}'],
  ]),
  named("targets", (of) => [ended(() => parseTunnelTarget(of)), ended(() => parseVerifyUrl(of))], [
    ["dns:", ""],
    ["https://a.dev/#", ""],
  ]),
];

const QUERY = encodeQuery("a.test-site.org", "A", 7);
const HEAD = "HTTP/1.1 200 OK\r\n";

const BYTES: readonly Reader[] = [
  named(
    "api: parseRequestHead",
    (of) => {
      parseRequestHead(of);
    },
    [
      ["GET /", " HTTP/1.1\r\nHost: a"],
      ["GET / HTTP/1.1\r\nX: ", "\r\nHost: a"],
      ["GET / HTTP/1.1\r\nConnection: ", ""],
    ],
  ),
  named(
    "api: RequestReader",
    (of) => {
      const reader = new RequestReader();
      const bytes = latin(`POST / HTTP/1.1\r\nHost: a\r\n${of}`);
      for (let at = 0; at < bytes.length; at += 7) {
        reader.push(bytes.subarray(at, at + 7));
        const next = reader.next();
        if (next !== null && (next === "too long" || "status" in next)) break;
      }
    },
    [
      ["Transfer-Encoding: chunked\r\n\r\n", ""],
      ["Transfer-Encoding: chunked\r\n\r\n5;", ""],
      ["Transfer-Encoding: chunked\r\n\r\n0\r\n", ""],
      ["Content-Length: 900000\r\n\r\n", ""],
    ],
  ),
  named(
    "http: parseHead",
    (of) => {
      const head = latin(`${HEAD}${of}\r\n\r\n`);
      parseHead(head, 0, head.length);
    },
    [
      ["X: ", ""],
      ["Transfer-Encoding: ", ""],
      ["Content-Length: 1", "1"],
      ["Location: ", ""],
    ],
  ),
  named(
    "http: ResponseReader",
    (of) => {
      const reader = new ResponseReader({ head: () => true, body: () => true });
      for (const byte of latin(`${HEAD}${of}`)) if (reader.push(Buffer.of(byte))) break;
    },
    [
      ["X: ", ""],
      ["Transfer-Encoding: chunked\r\n\r\n", ""],
      ["\r\n", ""],
    ],
  ),
  ...STARTTLS_PROTOCOLS.map((protocol) =>
    named(
      `starttls: ${protocol}`,
      (of) => turnsOf(protocol, "[192.0.2.1]").map((turn) => ended(() => turn.read(latin(of)))),
      [
        ["220", ""],
        ["220-a\r\n", ""],
        ["* ", ""],
        ["* a\r\n", ""],
      ],
      16_000,
    ),
  ),
  named("openconnect: AnswerParser", (of) => new AnswerParser("GET").push(latin(`${HEAD}${of}`)), [
    ["X: ", "\r\n\r\n"],
    ["Connection: ", "\r\n\r\n"],
    ["Connection: a\r\n ", "\r\n\r\n"],
  ]),
  ...Object.entries({
    readReply: (of: Buffer) => readReply(of),
    readLines: (of: Buffer) => readLines(of, () => undefined),
    decodeReply: (of: Buffer) =>
      decodeReply(
        Buffer.concat([
          Buffer.from([0, 7, 0x81, 0x80, 0, 1, 0xff, 0xff, 0, 0, 0, 0]),
          Buffer.from(QUERY.bytes).subarray(12),
          of,
        ]),
        QUERY,
      ),
    readDer,
    readCertificate,
    namesOf,
    decodeHeader,
    decodeKeyExchange,
    decodeIdentity,
    decodeAuth,
    decodeCertificate,
    decodeDelete,
    decodeEap,
    decodeNotify,
    decodeAnnouncements,
    decodeHashes,
    decodeProposals,
    decodeSelectors,
    decodeConfigurationReply,
    decodeIp,
    decodeInner,
    decodeKeyMethod,
    decodeControl: (of: Buffer) => decodeControl(Buffer.alloc(9), of),
    subjectText: (of: Buffer) => subjectText(withSubject(of)),
    commonName: (of: Buffer) => commonName(withSubject(of)),
    decodeFrames,
    parseTarHeader: (of: Buffer) => parseTarHeader(Buffer.concat([of, Buffer.alloc(BLOCK_BYTES)], BLOCK_BYTES)),
    parseSockaddr,
    parseVector,
    parseMessageHeader: (of: Buffer) => parseHeader(Buffer.concat([of, Buffer.alloc(HEADER_BYTES)])),
    isHarmlessControl,
  } as Readonly<Record<string, (of: Buffer) => unknown>>).map(([name, read]) =>
    named(`bytes: ${name}`, (of) => read(latin(of)), [
      ["\x30\x84\x00\x01\x00\x00", ""],
      ["\x00\x00\x00\x08\x01\x01\x00\x04", ""],
    ]),
  ),
];
const BYTE_FILLERS = [
  "\x00",
  "\x01",
  "\x30",
  "\x31",
  "\x80",
  "\xff",
  "\xc0\x0c",
  "\x30\x00",
  "\x00\x04",
  "\x00\x08\x00\x00",
  " ",
  "\t",
  ",",
  ", ",
  "=",
  "\r",
  "\n",
  "a: b\r\n",
  "a:\r\n ",
  "1;",
  "1\r\na\r\n",
  "0",
];

/** What is read as it is taken. */
function entriesOfJson(value: unknown): void {
  const lists = [value, ...(typeof value === "object" && value !== null ? Object.values(value) : [])];
  for (const list of lists) {
    if (typeof list === "object" && list !== null && Symbol.iterator in list) Array.from(list as Iterable<unknown>);
  }
}

/** What is refused costs time too. */
function ended(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** @returns CPU ms of one reading */
function cpuMs(reader: Reader, text: string): number {
  const before = process.cpuUsage();
  ended(() => reader.read(text));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Collections of garbage and a busy neighbour make a linear reader of long texts look worse, but not each time: what grows faster does so in
 * every round. @returns the least times of the rounds; undefined when the cost grows as it may
 */
function growthOf(reader: Reader, long: string, short: string): string | undefined {
  let [longMs, shortMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    longMs = Math.min(longMs, cpuMs(reader, long));
    if (longMs <= FLOOR_MS) return undefined;
    for (let repeat = 0; repeat < SHORT_REPEATS; repeat++) shortMs = Math.min(shortMs, cpuMs(reader, short));
    if (longMs <= MAX_TIMES * Math.max(shortMs, FLOOR_MS / MAX_TIMES)) return undefined;
  }
  return `${shortMs} ms, ${longMs} ms`;
}

/** @returns a line for each filler in whose length the reader's cost grows faster than it should */
function superLinear(reader: Reader, fillers: readonly string[]): readonly string[] {
  const found: string[] = [];
  const longest = reader.longest ?? LONGEST;
  for (const filler of fillers) {
    for (const [prefix, suffix] of reader.frames ?? [["", ""]]) {
      const letters = filler.length + (filler.includes(NUMBER) ? NUMBER_LETTERS - 1 : 0);
      const many = Math.floor((longest - prefix.length - suffix.length) / letters);
      const of = (count: number): string => prefix + repeated(filler, count) + suffix;
      const grown = growthOf(reader, of(many), of(Math.floor(many / GROWTH)));
      if (grown !== undefined) {
        found.push(`${JSON.stringify(prefix.slice(-30))} + ${JSON.stringify(filler)}: ${grown}`);
      }
    }
  }
  return found;
}

describe("readers of text", () => {
  it.each(TEXTS.map((reader) => [reader.name, reader] as const))("%s", (_name, reader) => {
    expect(superLinear(reader, FILLERS)).toEqual([]);
  });
});

describe("readers of bytes", () => {
  it.each(BYTES.map((reader) => [reader.name, reader] as const))("%s", (_name, reader) => {
    expect(superLinear(reader, BYTE_FILLERS)).toEqual([]);
  });
});

describe("the measure itself", () => {
  it("finds a quadratic reader, and passes a linear one that is slow", () => {
    const longest = 8_192;
    const quadratic: Reader = { name: "quadratic", read: (of) => /[" ]+$/.test(of), longest, frames: [["", "x"]] };
    expect(superLinear(quadratic, [" "])).not.toEqual([]);
    const read = (of: string): number => {
      let sum = 0;
      for (let round = 0; round < 8_000; round++) for (let at = 0; at < of.length; at++) sum += of.charCodeAt(at);
      return sum;
    };
    const slow: Reader = { name: "slow", read, longest };
    expect(superLinear(slow, [" "])).toEqual([]);
  });
});
