/**
 * Hostile lists: whole set-ups of xray, sing-box and Clash with everything in them that would open, read, write, run or dial something
 * else. What comes out is either refused or a plain config, and of the rest nothing reaches a core's file.
 */
import { describe, expect, it } from "vitest";
import { cores } from "../cores/choice.ts";
import { ENGINES } from "../cores/program.ts";
import { UUID } from "../protocols/config.suite.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { writeLink } from "../protocols/share-link/write-link.ts";
import { entriesOf } from "./body.ts";
import { BodyError } from "./body-error.ts";
import type { Entry } from "./entry.ts";

const SERVER = "p.test-site.org";
/** In every place that no core may be told of. */
const EVIL = "evil-marker";
const PATH = `/etc/${EVIL}`;

/** Of sing-box (docs/configuration): fields of a dial, of TLS and of the file that reach beyond the endpoint. */
const SINGBOX = {
  log: { output: PATH },
  experimental: {
    cache_file: { path: PATH },
    clash_api: { external_controller: "0.0.0.0:9090", external_ui: PATH, secret: EVIL },
  },
  inbounds: [{ type: "mixed", tag: EVIL, listen: "0.0.0.0", listen_port: 1_080 }],
  route: { rules: [{ outbound: EVIL }], rule_set: [{ type: "remote", url: `http://${EVIL}.test-site.org/x` }] },
  dns: { servers: [{ type: "udp", server: `${EVIL}.test-site.org` }] },
  outbounds: [
    {
      type: "vless",
      tag: `${EVIL}\u001b[31m`,
      server: SERVER,
      server_port: 443,
      uuid: UUID,
      bind_interface: EVIL,
      netns: PATH,
      routing_mark: 7,
      domain_resolver: EVIL,
      tls: {
        enabled: true,
        certificate_path: PATH,
        client_key_path: PATH,
        ech: { enabled: true, config_path: PATH, query_server_name: `${EVIL}.test-site.org` },
      },
      transport: { type: "ws", path: "/w", headers: { Host: "c.test-site.org", "X-Evil": EVIL } },
      multiplex: { enabled: true, brutal: { enabled: true } },
    },
    { type: "direct", tag: EVIL, override_address: `${EVIL}.test-site.org` },
    { type: "ssh", server: SERVER, private_key_path: PATH },
    { type: "tor", executable_path: PATH },
  ],
};

/** Of xray (infra/conf): the same, and addresses that it reads from its environment. */
const XRAY = {
  log: { access: PATH, error: PATH },
  api: { tag: EVIL, services: ["HandlerService"], listen: "0.0.0.0:10085" },
  reverse: { portals: [{ tag: EVIL, domain: `${EVIL}.test-site.org` }] },
  inbounds: [{ protocol: "socks", listen: "0.0.0.0", port: 1_080, tag: EVIL }],
  routing: { rules: [{ type: "field", outboundTag: EVIL, domain: [`ext:${PATH}:x`] }] },
  outbounds: [
    {
      protocol: "vless",
      tag: EVIL,
      sendThrough: "0.0.0.0",
      proxySettings: { tag: EVIL },
      settings: { vnext: [{ address: SERVER, port: 443, users: [{ id: UUID, encryption: "none", reverse: EVIL }] }] },
      streamSettings: {
        network: "ws",
        security: "tls",
        wsSettings: { path: "/w", headers: { Host: "c.test-site.org", "X-Evil": EVIL } },
        tlsSettings: {
          serverName: "s.test-site.org",
          masterKeyLog: PATH,
          certificates: [{ certificateFile: PATH, keyFile: PATH }],
        },
        sockopt: { dialerProxy: EVIL, interface: EVIL, customSockopt: [{ opt: EVIL }] },
      },
    },
    { protocol: "freedom", settings: { redirect: `${EVIL}.test-site.org:25` } },
    {
      protocol: "trojan",
      settings: { servers: [{ address: "env:HOME", port: 443, password: EVIL }] },
    },
  ],
};

const CLASH = `
external-controller: 0.0.0.0:9090
secret: ${EVIL}
rule-providers: { a: { type: http, url: "http://${EVIL}.test-site.org", path: ${PATH} } }
proxies:
  - { name: "${EVIL}", type: vless, server: ${SERVER}, port: 443, uuid: ${UUID}, tls: true, certificate: ${PATH}, private-key: ${PATH}, interface-name: ${EVIL}, routing-mark: 7 }
  - { name: b, type: ss, server: ${SERVER}, port: 8388, cipher: aes-256-gcm, password: pw, plugin: ${PATH}, plugin-opts: { path: ${PATH} } }
  - { name: c, type: ss, server: ${SERVER}, port: 8388, cipher: aes-256-gcm, password: pw, plugin: v2ray-plugin, plugin-opts: { mode: websocket, certificate: ${PATH}, loglevel: ${EVIL} } }
`;

const LINKS = [
  // JSON in fields, lines in fields, addresses that are something else, files and programs.
  `vless://${UUID}@${SERVER}:443?type=ws&path=${encodeURIComponent(`/w","inbounds":[{"tag":"${EVIL}-json"`)}&security=tls`,
  `vless://${UUID}@${SERVER}:443?type=ws&path=%2Fw%0A%22inbounds%22:${EVIL}`,
  `vless://${UUID}@env:HOME:443?type=tcp`,
  `vless://${UUID}@unix:${PATH}:443?type=tcp`,
  `vless://${UUID}@${SERVER}:443?type=tcp&security=tls&certificateFile=${PATH}&masterKeyLog=${PATH}`,
  `vless://${UUID}@${SERVER}:443?type=xhttp&extra=${encodeURIComponent(JSON.stringify({ listen: EVIL, path: PATH, downloadSettings: { address: "10.0.0.1", sockopt: { dialerProxy: EVIL } } }))}`,
  `vless://${UUID}@${SERVER}:443?type=tcp&fm=${encodeURIComponent(JSON.stringify({ udp: [{ type: EVIL }] }))}`,
  `ss://${Buffer.from("aes-256-gcm:pw").toString("base64")}@${SERVER}:8388?plugin=${encodeURIComponent(`${PATH};exec`)}`,
  `trojan://pw%0a%22${EVIL}@${SERVER}:443`,
].join("\n");

function namedIn(body: string) {
  const entries: Entry[] = [...entriesOf(body)];
  return { entries, read: entries.flatMap((entry) => (entry.kind === "config" ? [entry.read] : [])) };
}

function filesOf(body: string): readonly string[] {
  const { read } = namedIn(body);
  return ENGINES.flatMap((engine) => {
    const entries = read
      // As the store keeps them: sealed as links.
      .map((named) => parseProxyLink(writeLink(named)).config)
      .filter((config) => cores[engine].supports(config) === undefined)
      .map((config, index) => ({ tag: `n_${index}`, config, address: "192.0.2.1", password: "p" }));
    return cores[engine].render({ entries, port: 10_000, identityPassword: "d", isVerbose: true });
  });
}

describe("a list of hostile hands", () => {
  it.each([
    ["sing-box's set-up", JSON.stringify(SINGBOX), 1],
    ["xray's set-up", JSON.stringify(XRAY), 1],
    ["xray's profiles", JSON.stringify([{ remarks: EVIL, ...XRAY }]), 1],
    ["Clash's set-up", CLASH, 2],
  ])("as %s brings its servers and nothing else to a core", (_, body, count) => {
    expect(namedIn(body).read).toHaveLength(count);
    for (const file of filesOf(body)) {
      expect(file).not.toContain(EVIL);
      const { inbounds } = JSON.parse(file);
      expect(inbounds).toHaveLength(1);
      expect(inbounds[0].listen).toBe("127.0.0.1");
    }
  });

  it("as links brings what is harmless, and of the others the field that is not", () => {
    const { entries } = namedIn(LINKS);
    expect(entries.map((entry) => (entry.kind === "bad" ? entry.reason : entry.kind))).toEqual([
      "config",
      "path holds control characters",
      "the link has no server after an @",
      "the link has no server after an @",
      "config",
      "config",
      "fm has masks other than salamander and port hopping, which are not supported",
      "plugin must be obfs-local or v2ray-plugin: others would be programs to run",
      "the link's password holds control characters",
    ]);
    for (const file of filesOf(LINKS)) {
      const { inbounds } = JSON.parse(file);
      expect(inbounds).toHaveLength(1);
      expect(inbounds[0].listen).toBe("127.0.0.1");
      // A path may be anything that HTTP can carry: it stays one text.
      expect(file.replaceAll(`${EVIL}-json`, "")).not.toContain(EVIL);
      expect(file).not.toContain("10.0.0.1");
    }
  });

  it.each([
    ["newlines", `x${"\n".repeat(5_000_000)}x`],
    ["blank lines", `x${"\n ".repeat(2_500_000)}x`],
    ["quotes", `x\n${"'".repeat(5_000_000)}`],
    ["quotes and blanks", `x\n${"' ".repeat(2_500_000)}`],
    ["letters that begin a scheme", "a+".repeat(2_500_000)],
    ["documents", `${"---\n".repeat(1_250_000)}proxies: []`],
    ["remarks behind a list of proxies", `proxies:\n${"#\n".repeat(2_500_000)}`],
  ])("of five megabytes of %s is looked through in one pass", (_, body) => {
    const count = (): number => [...entriesOf(body)].length;
    // What looks at the rest of the body at each of its lines takes hours for this, and the test's own time-out ends it.
    try {
      expect(count()).toBe(0);
    } catch (error) {
      expect(error).toBeInstanceOf(BodyError);
    }
  });

  it("of aliases that make a few lines millions of items long has no such field", () => {
    const levels = Array.from({ length: 24 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]\n`);
    const proxy = `  - { name: n, type: vless, server: ${SERVER}, port: 443, uuid: ${UUID}, alpn: *a24 }\n`;
    const { read } = namedIn(`a0: &a0 [x, x]\n${levels.join("")}proxies:\n${proxy}`);
    expect(read).toHaveLength(1);
    expect(JSON.stringify(read)).not.toContain("x,x");
  });

  it("with a field that is longer than any is told by its number, and spoils no other", () => {
    const entry = (alpn: unknown) => ({
      type: "vless",
      server: SERVER,
      server_port: 443,
      uuid: UUID,
      tls: { enabled: true, alpn },
    });
    const many = Array.from({ length: 1_001 }, () => "h2");
    const { entries } = namedIn(
      JSON.stringify({ outbounds: [entry("h2"), entry(many), entry("h".repeat(102_401)), entry(["h2"])] }),
    );
    expect(entries.map((one) => (one.kind === "bad" ? [one.at, one.reason] : one.kind))).toEqual([
      "config",
      [2, "a field of it has more than 1000 items"],
      [3, "a field of it is too long"],
      "config",
    ]);
  });
});
