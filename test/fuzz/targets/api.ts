/** What callers of the API send: heads, bodies, queries, ids, times, addresses; and what the operator's settings hold. */
import { clientAddressOf, networkOf, plainAddress } from "../../../api/address.ts";
import { readObject } from "../../../api/body.ts";
import { PUBLIC_TIMEOUT_S, readCheck, refuseAnonymous, TIMEOUT_S } from "../../../api/checks/order.ts";
import { organizationParameter } from "../../../api/endpoints/params.ts";
import { ApiError } from "../../../api/errors.ts";
import { headOf } from "../../../api/head.ts";
import type { ApiRequest } from "../../../api/http.ts";
import { draftOfNew, targetOf } from "../../../api/monitors/draft.ts";
import { isUptimeKind } from "../../../api/monitors/fields.ts";
import {
  changesTunnel,
  draftOfNewTunnel,
  draftOfTunnelChange,
  linkedProtocol,
  readTunnelChange,
} from "../../../api/monitors/tunnels.ts";
import { readRegion } from "../../../api/on-demand/region.ts";
import {
  limitParameter,
  offsetParameter,
  readQuery,
  switchParameter,
  textParameter,
  wordParameter,
} from "../../../api/query.ts";
import { requestOf } from "../../../api/request.ts";
import { RequestReader } from "../../../api/request-reader.ts";
import type { Route } from "../../../api/route.ts";
import { createRouter } from "../../../api/router.ts";
import { readDraft } from "../../../api/subscriptions/draft.ts";
import { UPTIME_KINDS } from "../../../engine/contract/registry.ts";
import { parseTunnelTarget, TunnelTargetError } from "../../../engine/contract/tunnel-targets.ts";
import { formatIpv4, formatIpv6, parseCidr, parseIpv4, parseIpv6 } from "../../../engine/net/ip.ts";
import { isDocumentationName, literalOf } from "../../../engine/net/literal.ts";
import { AllowNetError, parseAllowNet } from "../../../engine/transport/allow-nets.ts";
import { parseNameServer } from "../../../engine/transport/name-servers.ts";
import { parseHosts, parseResolvConf } from "../../../engine/transport/system-names.ts";
import { CanaryError, gatewaysOf, parseCanary } from "../../../engine/trust/canary.ts";
import { parseVerifyUrl, VerifyUrlError } from "../../../engine/verify/endpoint.ts";
import { parseDuration } from "../../../model/document/durations.ts";
import { parseYaml } from "../../../model/document/yaml.ts";
import { formatId, parseId } from "../../../model/ids.ts";
import { overridePlans } from "../../../model/plan.ts";
import { parseSender, parseSmtpUrl } from "../../../model/smtp-url.ts";
import { normalUrl } from "../../../model/subscription.ts";
import { formatIso, parseTime } from "../../../model/time.ts";
import { parseUrl } from "../../../model/url.ts";
import {
  displayAddress,
  displayLocation,
  editorAddress,
  receiverAddress,
  restoreAddress,
} from "../../../model/web-address.ts";
import { parseListen } from "../../../roles/listener.ts";
import { parseTemplate, TemplateError } from "../../../scheduler/alerts/template.ts";
import { type FuzzTarget, JSON_WORDS, json, must, text, utf8 } from "../target.ts";

const UUID = "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f";
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const WIREGUARD = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\nJc = 3\nI1 = <r 5>\n[Peer]\nPublicKey = ${KEY}\nAllowedIPs = 0.0.0.0/0\nEndpoint = vpn.test-site.org:51820\n`;
const SECRET = "Zm9yYmlkZGVuc2VjcmV0";
const WORDS = [
  ...JSON_WORDS,
  "__proto__",
  "constructor",
  '"protocol":',
  '"config":',
  '"host":',
  '"port":',
  '"servers":',
  '"url":',
  '"name":',
  SECRET,
];
/** Bodies of the API are bounded, and so is what they are parsed with. */
const LONGEST_BODY = 256 * 1024;

const request = (body: Buffer): ApiRequest => ({ body }) as unknown as ApiRequest;
const REFUSED = { refusals: [ApiError], mostMessage: 400 } as const;

const CHECKS = json(
  { config: `vless://${UUID}@vpn.test-site.org:443?security=tls#n`, timeout: 9, engine: "xray" },
  { protocol: "wireguard", config: WIREGUARD },
  { protocol: "amneziawg", config: WIREGUARD, host: "h.test-site.org" },
  {
    protocol: "openvpn",
    config: "client\nremote vpn.test-site.org 1194\nauth-user-pass\n<ca>\nx\n</ca>\n",
    username: "ada",
    password: SECRET,
  },
  { protocol: "ikev2", host: "vpn.test-site.org", username: "ada", password: "pw", remote_id: "id", port: 500 },
  {
    protocol: "openconnect",
    config: "vpn.test-site.org:8443",
    username: "ada",
    password: "pw",
    group: "g",
    pin: `pin-sha256:${"A".repeat(43)}=`,
  },
);
const MONITORS = json(
  {
    type: "http",
    name: "a",
    url: "https://u:p@a.test-site.org/x?y=z",
    interval: 60,
    tags: ["A", "b"],
    accepted_statuscodes: ["200-299", "404"],
    ssl_expiration: 14,
  },
  { type: "keyword", name: "a", url: "http://a.test-site.org", keyword: "hello", invert_keyword: true },
  { type: "ping", name: "a", host: "a.test-site.org", timeout: 5, maxretries: 2 },
  { type: "port", name: "a", host: "::1", port: 22 },
  { type: "dns", name: "a", domain: "bücher.example", host: "1.1.1.1", keyword: "x" },
  { type: "push", name: "a", period: 3600, active: false },
  { type: "vpn", name: "a", protocol: "vless", url: `vless://${UUID}@vpn.test-site.org:443?security=tls#n` },
  { name: "a", protocol: "wireguard", wg: WIREGUARD, wireguard_ip: "9.9.9.9" },
  {
    name: "a",
    protocol: "openvpn",
    host: "h",
    username: "u",
    password: "p",
    servers: [{ host: "a.test-site.org", port: 1, proto: "tcp" }],
  },
  { type: "vpn", password: null, config: null },
);
const SUBSCRIPTIONS = json(
  {
    url: "https://u:p@lists.test-site.org:8443/sub?token=x#f",
    name: "n",
    syncIntervalSec: 300,
    timeoutSeconds: 30,
    maxWorkers: 9,
    enabled: "false",
  },
  { name: null },
  { region: "de", region_fallback: "fail" },
);

function ended<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    must(error.message.length <= 400 && !error.message.includes(SECRET), `tells: ${error.message.slice(0, 200)}`);
    return undefined;
  }
}

const bodies: readonly FuzzTarget[] = [
  {
    name: "api: json body",
    seeds: [...CHECKS, ...MONITORS, ...SUBSCRIPTIONS],
    words: WORDS,
    longest: 1_048_576,
    cost: 2,
    ...REFUSED,
    run(input) {
      const body = readObject(request(input));
      must(!/\p{Surrogate}/u.test(JSON.stringify(body).replace(/\\u/g, "")), "half a character");
      return Object.keys(body).length;
    },
  },
  {
    name: "api: body of a check",
    seeds: CHECKS,
    words: WORDS,
    longest: LONGEST_BODY,
    cost: 4,
    ...REFUSED,
    run(input) {
      const body = readObject(request(input));
      const order = readCheck(body, TIMEOUT_S, true);
      must(order.timeoutMs >= 5_000 && order.timeoutMs <= 60_000, "another time than is allowed");
      const same = ended(() => readCheck(body, PUBLIC_TIMEOUT_S, false));
      ended(() => refuseAnonymous(order));
      return `${order.tunnel.protocol} ${order.isDetected} ${same === undefined}`;
    },
  },
  {
    name: "api: body of a monitor",
    seeds: MONITORS,
    words: WORDS,
    longest: LONGEST_BODY,
    cost: 4,
    ...REFUSED,
    run(input) {
      const body = readObject(request(input));
      const { type } = body;
      let shape = "";
      if (typeof type === "string" && isUptimeKind(type)) {
        const draft = draftOfNew(type, body);
        const target = targetOf(type, draft.settings);
        shape += `${type} ${target === null}`;
      } else {
        const draft = draftOfNewTunnel(body);
        shape += draft.tunnel.protocol;
      }
      ended(() => draftOfTunnelChange("openvpn", {}, body));
      ended(() => changesTunnel("wireguard", body));
      return `${shape} ${linkedProtocol(body.url)}`;
    },
  },
  {
    name: "api: body of every uptime kind",
    seeds: MONITORS,
    words: WORDS,
    longest: LONGEST_BODY,
    cost: 4,
    ...REFUSED,
    run(input) {
      const body = readObject(request(input));
      return UPTIME_KINDS.map((kind) => {
        const draft = ended(() => draftOfNew(kind, { ...body, type: kind }));
        if (draft !== undefined) targetOf(kind, draft.settings);
        return draft === undefined ? "-" : "+";
      }).join("");
    },
  },
  {
    name: "api: body of a change and of a subscription",
    seeds: [...SUBSCRIPTIONS, ...MONITORS],
    words: WORDS,
    longest: LONGEST_BODY,
    ...REFUSED,
    run(input) {
      const body = readObject(request(input));
      const change = ended(() => readTunnelChange(body));
      const region = ended(() => readRegion(body));
      const draft = readDraft(body);
      if (draft.url !== undefined)
        must(draft.url.target.port >= 0 && draft.url.target.port <= 65_535, "a port that none is");
      return `${Object.keys(draft).length} ${change === undefined} ${region?.mustBeThere}`;
    },
  },
];

const QUERY = {
  limit: limitParameter(500),
  offset: offsetParameter,
  organization_id: organizationParameter("x"),
  explain: switchParameter("x"),
  q: textParameter("x"),
  status: wordParameter({
    words: ["healthy", "down"],
    aliases: { up: "healthy" },
    fallback: null,
    message: "x",
    description: "x",
    lowercase: true,
  }),
} as const;

const PATHS = ["/servers", "/servers/search", "/servers/{id}", "/servers/{id}/results", "/push/{token}"];
const routes = PATHS.map((path) => ({ method: "GET", path }) as unknown as Route);
const router = createRouter(routes);
const clientAddress = clientAddressOf(["10.0.0.0/8", "fd00::/8"]);

/** What a connection that brings these pieces has read of it, and how that ends. */
function readOf(pieces: readonly Buffer[]): { read: string; end: string } {
  const reader = new RequestReader();
  let read = "";
  for (const piece of pieces) {
    reader.push(piece);
    for (let next = reader.next(); next !== null; next = reader.next()) {
      if (next === "too long" || "status" in next) return { read, end: "refused" };
      const { method, path, query, host, apiKey, body } = requestOf(next.line, "10.0.0.1", next.body);
      must(!/[ \t\r\n\0]/.test(method + path), "a request line that can be read in two ways");
      read += JSON.stringify([method, path, query, host, apiKey, body?.length]);
      if (next.line.isLast) return { read, end: "last" };
    }
  }
  return { read, end: reader.phase };
}

const heads: readonly FuzzTarget[] = [
  {
    name: "api: requests of a connection",
    seeds: utf8(
      "GET /a?b HTTP/1.1\r\nHost: a\r\nX_Id: 1\r\n\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    ),
    words: [
      "\r\n",
      "\r\n\r\n",
      "GET / HTTP/1.1\r\n",
      "Host: a\r\n",
      "Content-Length: 3\r\n",
      "Transfer-Encoding: chunked\r\n",
      "Connection: close\r\n",
      "0\r\n\r\n",
      "fffffff\r\n",
    ],
    run(input) {
      const whole = readOf([input]);
      const middle = Math.floor(input.length / 2);
      const cut = readOf([input.subarray(0, middle), input.subarray(middle)]);
      must(whole.read === cut.read, "read in another way where it comes in two pieces");
      return `${whole.end} ${whole.read.split("][").length}`;
    },
  },
  {
    name: "api: request heads",
    seeds: utf8(
      "Host: a\nX-API-Key: k\nContent-Length: 5\nX-Forwarded-For: 203.0.113.9, 10.0.0.1",
      'host: 127.0.0.1:8080\ntransfer-encoding: chunked\nauthorization: Bearer x\nX-Project-Id: 1\nIf-None-Match: "e"',
      "Host: a\nForwarded: for=1\nX-Forwarded-For: ::ffff:10.0.0.1\nX-Forwarded-For: 2001:db8::1%eth0",
    ),
    words: [
      "Host: ",
      "\nContent-Length: ",
      "\nTransfer-Encoding: ",
      "chunked",
      "\nX-Forwarded-For: ",
      ", ",
      "::ffff:",
      "%0",
      "x-api-key",
    ],
    run(input) {
      const raw = input
        .toString("latin1")
        .split("\n")
        .flatMap((line) => {
          const colon = line.indexOf(": ");
          return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 2)];
        });
      const head = headOf(raw);
      const refused = head.refusal("GET");
      if (refused === null) {
        const named = (name: string) =>
          raw.filter((_, at) => at % 2 === 0).filter((one) => one.toLowerCase() === name).length;
        must(
          named("host") === 1 && named("content-length") + named("transfer-encoding") < 2 && named("x-api-key") < 2,
          "a head that can be read in two ways",
        );
      } else must(/^\{"error":true,"code":4\d\d,"message":"[A-Z][a-z ]+"\}$/.test(refused.body), "repeats the head");
      const address = clientAddress({ remoteAddress: "10.0.0.1", forwardedFor: head.forwardedFor } as ApiRequest);
      must(!/[\s,]/.test(networkOf(address)), "an address that none is");
      return `${refused?.status} ${head.isProxied} ${head.isChunked} ${address === "10.0.0.1"}`;
    },
  },
  {
    name: "api: queries and paths",
    seeds: utf8(
      "limit=5&offset=10&q=a%20b&status=UP",
      "organization_id=3&explain=1&limit=",
      "/api/v1/servers/srv_12/results",
      "/api/v1/servers/%73earch",
    ),
    words: ["&", "=", "%", "limit=", "offset=", "/", "//", "..", "srv_", "%2f", "%zz", "+"],
    ...REFUSED,
    run(input) {
      const given = input.toString("latin1");
      const found = router.find("GET", given);
      const { limit, offset } = readQuery(QUERY, given);
      must(limit >= 1 && limit <= 1_000 && Number.isSafeInteger(offset) && offset >= 0, "out of its range");
      return `${found.type} ${limit === 500}`;
    },
  },
  {
    name: "api: ids and times",
    seeds: utf8("srv_12", "9007199254740991", "2026-12-31", "2026-12-31T23:59:59.123+02:00", "2024-02-29 00:00:00"),
    words: ["srv_", "inc_", "-02-30", "T", "Z", "+23:59", ".", "9999", "0000"],
    run(input) {
      const given = text(input);
      const id = parseId("server", given);
      if (id !== undefined) must(parseId("server", formatId("server", id)) === id, "another id");
      const atMs = parseTime(given);
      if (atMs !== undefined && atMs >= 0 && atMs < 253_402_300_800_000) {
        must(parseTime(formatIso(atMs)) === atMs, "another time");
      }
      return `${id === undefined} ${atMs === undefined}`;
    },
  },
  {
    name: "documents",
    seeds: utf8(
      "sonde: 1\nname: x\ndefaults: {tags: &t [a]}\nmonitors:\n  a: {type: http, tags_add: *t, interval: 5m}\n",
      '{"sonde": 1, "alert_rules": [{"name": "a", "repeat_s": "1h"}]}',
      "1h30m",
    ),
    run(input) {
      const given = text(input);
      const { root, faults } = parseYaml(given);
      must(root !== null || faults.length > 0 || given.length < 10_000, "neither a tree nor a fault");
      const seconds = parseDuration(given);
      if (seconds !== undefined) must(parseDuration(`${seconds}s`) === seconds, "another duration");
      return `${root?.type} ${faults.length} ${seconds === undefined}`;
    },
  },
  {
    name: "mail servers, senders and templates of channels",
    seeds: utf8(
      "smtps://user:p%40ss@mail.test-site.org:465",
      "smtp://[2001:db8::1]",
      "Sonde <sonde@test-site.org>",
      "{% if message.severity == 'ok' %}{{ message.title | upcase }}{% else %}{{ name }}{% endif %}",
      "{% capture a %}{{ msg }}{% endcapture %}{{ a | replace: 'a', 'b' }}",
    ),
    words: ["{{", "}}", "{%", "%}", "|", "for i in (1..9)", "endfor", "smtp://", "smtps://", "@", "<", ">", "%00"],
    refusals: [TemplateError],
    run(input) {
      const given = text(input);
      const server = parseSmtpUrl(given);
      if (server !== undefined) must(server.host !== "" && Number.isInteger(server.port), "a server without a place");
      const sender = parseSender(given);
      if (sender !== undefined) must(!/[\r\n]/.test(sender.name + sender.address), "a sender of two lines");
      return `${server?.isTls} ${sender === undefined} ${parseTemplate(given).length > 1}`;
    },
  },
  {
    name: "web addresses",
    seeds: utf8(
      "https://user:word@a.test-site.org:8443/path?token=x#f",
      "http://[2001:db8::1]/",
      "https://***@a.test-site.org/p?***",
      "//b?x",
      "mailto:a@b",
    ),
    words: ["https://", "@", "***", "?", "#", ":", "%40", "\\", "/", "xn--", "[::1]", SECRET],
    run(input) {
      const given = text(input);
      const url = parseUrl(given);
      const shown = displayAddress(given);
      for (const secret of url?.protocol === "https:" || url?.protocol === "http:"
        ? [url.password, url.search.slice(1)]
        : []) {
        // A short one, or one that stands elsewhere in it as well, is shown there.
        const isAlone =
          /^[a-z0-9]{6,}$/i.test(secret) &&
          !`${url?.username} ${url?.host} ${url?.pathname}`.includes(secret.slice(0, 4));
        must(!isAlone || !shown.includes(secret), `shows ${secret.slice(0, 40)}`);
      }
      editorAddress(given);
      receiverAddress(given);
      displayLocation(given);
      const restored = restoreAddress(given, "https://name:word@a.test-site.org:8443/path?token=y");
      if ("url" in restored && url !== undefined) {
        must(
          !restored.url.includes("name:word") || url.origin === "https://a.test-site.org:8443",
          "a secret for another origin",
        );
      }
      const normal = normalUrl(given);
      if (normal !== undefined) must(normalUrl(normal) === normal, "normal once more is another");
      return `${url?.protocol.slice(0, 6)} ${"fault" in restored} ${normal === undefined}`;
    },
  },
];

const SETTINGS: readonly (readonly [
  (entry: string) => unknown,
  readonly (abstract new (...args: never[]) => Error)[],
])[] = [
  [parseAllowNet, [AllowNetError]],
  [parseCidr, []],
  [parseNameServer, [Error]],
  [parseCanary, [CanaryError]],
  [parseTunnelTarget, [TunnelTargetError]],
  [parseVerifyUrl, [VerifyUrlError]],
  [parseListen, []],
  [isDocumentationName, []],
  [parseHosts, []],
  [parseResolvConf, []],
  [gatewaysOf, []],
];

const settings: readonly FuzzTarget[] = [
  {
    name: "addresses",
    seeds: utf8(
      "192.0.2.1",
      "2001:db8::1",
      "::ffff:10.0.0.1",
      "[::1]",
      "0x7f.1",
      "2130706433",
      "fe80::1%eth0",
      "127.0.0.1.",
      "１２７.0.0.1",
      "%31%32%37.0.0.1",
    ),
    words: [".", ":", "::", "0x", "%", "[", "]", "ffff", "0177", "。", "٣"],
    run(input) {
      const given = text(input);
      const four = parseIpv4(given);
      if (four >= 0) must(formatIpv4(four) === given, "another IPv4 address");
      const six = parseIpv6(given);
      if (six !== undefined)
        must(JSON.stringify(parseIpv6(formatIpv6(six))) === JSON.stringify(six), "another IPv6 address");
      const literal = literalOf(given);
      if (literal !== undefined && !literal.hasZone) {
        must(literalOf(literal.ip)?.ip === literal.ip, "an address whose canonical form is another");
        must(parseIpv4(literal.ip) >= 0 || parseIpv6(literal.ip) !== undefined, "an address that none is");
      }
      must(plainAddress(plainAddress(given)) === plainAddress(given), "plain once more is another");
      return `${four >= 0} ${six !== undefined} ${literal?.family}`;
    },
  },
  {
    name: "settings of the operator, and the system's files",
    seeds: utf8(
      "10.0.0.0/8:443-8443",
      "[fc00::/7]:53",
      "tcp:a.test-site.org:443",
      "dns:[2001:db8::1]:53",
      "icmp:1.1.1.1",
      "https://a.dev/x?token=1#trace",
      "[::1]:8080",
      "nameserver 192.0.2.1\nsearch a b\noptions ndots:2 timeout:1\n",
      "127.0.0.1 localhost a b # c\n::1 ip6\n",
      "Iface\tDestination\tGateway\neth0\t00000000\t0101A8C0\t0003\n",
    ),
    words: [
      "/",
      ":",
      "-",
      "[",
      "]",
      "#",
      "65536",
      "icmp:",
      "dns:",
      "tcp:",
      "nameserver ",
      "options ",
      "\n",
      "\t",
      "00000000",
    ],
    run(input) {
      const entry = text(input);
      return SETTINGS.map(([read, refusals]) => {
        try {
          return read(entry) === undefined ? "." : "+";
        } catch (error) {
          if (
            refusals.some((refusal) => error instanceof refusal) &&
            !(error instanceof TypeError || error instanceof RangeError)
          )
            return "-";
          throw error;
        }
      }).join("");
    },
  },
  {
    name: "plans of the operator",
    seeds: json({ free: { shortestIntervalS: 60 }, pro: { tunnelSlots: null, apiAccess: true } }, {}),
    words: ['"free":', '"pro":', "null", "{", "}", "-1", "1.5", '"__proto__":'],
    refusals: [Error],
    // The operator is told which words of the file are wrong.
    mostMessage: Number.POSITIVE_INFINITY,
    run: (input) => Object.keys(overridePlans(JSON.parse(text(input)))).length,
  },
];

export const API: readonly FuzzTarget[] = [...bodies, ...heads, ...settings];
