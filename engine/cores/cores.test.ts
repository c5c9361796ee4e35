import { describe, expect, it } from "vitest";
import type { Engine } from "../../model/subscription.ts";
import { CARRIERS, LINKS, SECURITIES } from "../protocols/share-link/links.suite.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { chooseEngines, cores, needsPin, withPin } from "./choice.ts";
import type { CoreEntry } from "./core.ts";
import { judge } from "./finding.ts";

const ADDRESS = "203.0.113.9";
const config = (name: string): ProxyConfig => parseProxyLink(LINKS.get(name) ?? name).config;
const entry = (name: string, tag = "n_1"): CoreEntry => ({
  tag,
  config: config(name),
  address: ADDRESS,
  password: "p",
});
const render = (engine: Engine, entries: readonly CoreEntry[], isVerbose = false): string =>
  cores[engine].render({ entries, port: 1080, identityPassword: "d", isVerbose });

function outboundOf(engine: Engine, name: string): Record<string, unknown> {
  const { outbounds } = JSON.parse(render(engine, [entry(name)])) as { outbounds: Record<string, unknown>[] };
  return outbounds.find(({ tag }) => tag === "n_1") ?? {};
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** carrier → security → engines in the order in which they are tried. */
const CHOSEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tcp: {
    none: "singbox xray",
    tls: "singbox xray",
    "tls insecure": "singbox",
    "tls pinned": "xray",
    reality: "xray singbox",
  },
  "tcp http": { none: "singbox xray", tls: "xray", "tls insecure": "", "tls pinned": "xray", reality: "xray" },
  ws: {
    none: "singbox xray",
    tls: "singbox xray",
    "tls insecure": "singbox",
    "tls pinned": "xray",
    reality: "singbox",
  },
  httpupgrade: {
    none: "singbox xray",
    tls: "singbox xray",
    "tls insecure": "singbox",
    "tls pinned": "xray",
    reality: "singbox",
  },
  grpc: {
    none: "xray singbox",
    tls: "xray singbox",
    "tls insecure": "singbox",
    "tls pinned": "xray",
    reality: "xray singbox",
  },
  "grpc multi": {
    none: "xray singbox",
    tls: "xray singbox",
    "tls insecure": "singbox",
    "tls pinned": "xray",
    reality: "xray singbox",
  },
  xhttp: { none: "xray", tls: "xray", "tls insecure": "", "tls pinned": "xray", reality: "xray" },
  kcp: { none: "xray", tls: "xray", "tls insecure": "", "tls pinned": "xray" },
  h2: { none: "singbox", tls: "singbox", "tls insecure": "singbox", "tls pinned": "", reality: "singbox" },
  quic: { none: "", tls: "singbox", "tls insecure": "singbox", "tls pinned": "" },
};

describe("the choice of a core", () => {
  it("follows the table for every transport and security", () => {
    const chosen = Object.fromEntries(
      Object.keys(CARRIERS).map((carrier) => [
        carrier,
        Object.fromEntries(
          Object.keys(SECURITIES)
            .filter((security) => LINKS.has(`vless ${carrier} ${security}`))
            .map((security) => [
              security,
              chooseEngines(config(`vless ${carrier} ${security}`), null).engines.join(" "),
            ]),
        ),
      ]),
    );
    expect(chosen).toEqual(CHOSEN);
  });

  it.each([
    ["vless encrypted", "xray"],
    ["vmess json old", "singbox"],
    ["ss 2022", "singbox xray"],
    ["ss obfs", "singbox"],
    ["ss old", "singbox"],
    ["hysteria2", "singbox xray"],
    ["hysteria2 hops", "singbox"],
    ["hysteria2 pinned", ""],
    ["tuic", "singbox"],
  ])("of %s is %s", (name, engines) => {
    expect(chooseEngines(config(name), null).engines.join(" ")).toBe(engines);
  });

  it.each([
    ["vless xhttp tls insecure", null, true],
    ["vless tcp http tls insecure", null, true],
    ["vless xhttp tls", null, false],
    ["vless xhttp tls pinned", null, false],
    ["vless kcp tls insecure", null, false],
    ["vless ws tls insecure", null, false],
    ["vless ws tls insecure", "xray", true],
    ["vless xhttp tls insecure", "singbox", false],
    ["hysteria2 hops", "xray", false],
    ["tuic", "xray", false],
  ] as const)("of %s, where %s is wanted, needs a pin: %s", (name, wanted, needed) => {
    expect(needsPin(config(name), wanted)).toBe(needed);
    const pinned = withPin(config(name), "ab".repeat(32));
    if (needed) expect(chooseEngines(pinned, wanted).engines).toEqual(["xray"]);
  });

  it("keeps to what the person wants, and says why it cannot", () => {
    expect(chooseEngines(config("tuic"), "xray")).toEqual({ engines: [], refusals: ["xray has no TUIC"] });
    expect(chooseEngines(config("ss 2022"), "xray").engines).toEqual(["xray"]);
  });
});

describe("what is handed to a core", () => {
  const all = [...LINKS.keys()].flatMap((name) =>
    chooseEngines(config(name), null).engines.map((engine) => ({ name, engine })),
  );

  it.each(all)("dials only the address for $name in $engine", ({ name, engine }) => {
    const outbound = outboundOf(engine, name);
    const server = engine === "xray" ? (outbound.settings as { address: string }).address : outbound.server;
    expect(server).toBe(ADDRESS);
    const dialled = textsIn({ ...outbound, tls: null, transport: null, streamSettings: null, plugin_opts: null });
    expect(dialled.filter((text) => text.includes("test-site.org"))).toEqual([]);
  });

  it("has one local port with a user for each, and blocks what no rule names", () => {
    const entries = [entry("vless ws tls", "n_1"), entry("trojan tcp tls", "n_2")];
    const inXray = JSON.parse(render("xray", entries));
    const accounts = ["door d", "n_1 p", "n_2 p"]
      .map((words) => words.split(" "))
      .map(([user, pass]) => ({ user, pass }));
    expect(inXray.inbounds).toEqual([
      {
        tag: "in",
        listen: "127.0.0.1",
        port: 1080,
        protocol: "socks",
        settings: { auth: "password", accounts, udp: false },
      },
    ]);
    expect(inXray.outbounds[0]).toEqual({ tag: "block", protocol: "blackhole" });
    expect(inXray.routing.rules[1]).toEqual({ type: "field", user: ["n_2"], outboundTag: "n_2" });
    expect([inXray.dns, inXray.log.loglevel]).toEqual([undefined, "error"]);
    const inSingbox = JSON.parse(render("singbox", entries, true));
    expect(inSingbox.route).toEqual({
      rules: ["n_1", "n_2"].map((tag) => ({ auth_user: [tag], action: "route", outbound: tag })),
      final: "block",
    });
    expect(inSingbox.inbounds).toHaveLength(1);
    expect(inSingbox.inbounds[0]).toMatchObject({ listen: "127.0.0.1", listen_port: 1080 });
    expect(inSingbox.inbounds[0].users[2]).toEqual({ username: "n_2", password: "p" });
    expect([inSingbox.dns, inSingbox.log.level]).toEqual([undefined, "info"]);
  });

  it("is what each core understands", () => {
    expect(outboundOf("xray", "vless ws tls").streamSettings).toEqual({
      network: "ws",
      security: "tls",
      tlsSettings: { serverName: "s.test-site.org", fingerprint: "chrome" },
      wsSettings: { path: "/w?ed=2560", host: "c.test-site.org" },
    });
    expect(outboundOf("singbox", "vless ws tls")).toMatchObject({
      tls: { server_name: "s.test-site.org", alpn: ["http/1.1"], utls: { enabled: true, fingerprint: "chrome" } },
      transport: { type: "ws", path: "/w", headers: { Host: "c.test-site.org" }, max_early_data: 2560 },
    });
    expect(outboundOf("xray", "vless vision reality")).toMatchObject({
      settings: { flow: "xtls-rprx-vision", encryption: "none" },
      streamSettings: {
        network: "raw",
        realitySettings: { serverName: "s.test-site.org", shortId: "ab12", spiderX: "/" },
      },
    });
    expect(outboundOf("xray", "vless kcp none").streamSettings).toMatchObject({
      finalmask: { udp: [{ type: "header-wechat" }, { type: "mkcp-aes128gcm", settings: { password: "s" } }] },
    });
    expect(outboundOf("singbox", "hysteria2 hops")).toMatchObject({
      server_ports: ["443:443", "5000:6000"],
      hop_interval: "30s",
      obfs: { type: "salamander", password: "salt" },
      tls: { insecure: true, alpn: ["h3"] },
    });
    expect(outboundOf("singbox", "ss v2ray").plugin_opts).toBe("mode=websocket;tls;host=c.test-site.org;path=/x;mux=1");
    expect(outboundOf("singbox", "vmess json ws").security).toBe("aes-128-gcm");
    expect(outboundOf("singbox", "vless tcp http none").transport).toEqual({
      type: "http",
      method: "GET",
      path: "/a",
      host: ["c.test-site.org"],
    });
  });
});

describe("a core's words", () => {
  it.each([
    ["x509: certificate has expired or is not yet valid: current time", "cert-invalid"],
    ["tls: failed to verify certificate: x509: certificate signed by unknown authority", "cert-invalid"],
    ["CRYPTO_ERROR 0x12a (local): tls: failed to verify certificate", "cert-invalid"],
    ["peer cert is unrecognized (against pinnedPeerCertSha256)", "cert-invalid"],
    ["REALITY: processed invalid connection", "auth-failed"],
    ["tls: server rejected ECH", "handshake-failed"],
    ["received real certificate (potential MITM or redirection)", "auth-failed"],
    ["auth failed code 404", "auth-failed"],
    ["failed to find an available destination > transport/internet/hysteria: auth failed", "auth-failed"],
    ["proxy/hysteria: connection ends > proxy/hysteria: dial tcp: connect: connection refused", "stuck"],
    ["rpc error: code = Unavailable desc = error reading server preface: http2: frame too large", "handshake-failed"],
    ["unexpected HTTP status code received from server: 404 (Not Found); transport: received", "handshake-failed"],
    ["unexpected response version. Expecting 0 but actually 72", "auth-failed"],
    ["websocket: bad handshake: unexpected HTTP response status: 404", "handshake-failed"],
    ["unexpected HTTP response status: 502", "handshake-failed"],
    ["tls: first record does not look like a TLS handshake", "handshake-failed"],
    ["remote error: tls: handshake failure", "handshake-failed"],
    ["remote error: connect: no answer", "stuck"],
    ["dial tcp 127.0.0.1:9: connect: connection refused", "refused"],
    ["lookup nx.invalid: i/o timeout", "unresolved"],
    ["dial tcp 192.0.2.1:1: i/o timeout", "timeout"],
    ["read: connection reset by peer", "closed"],
    ["remote error: network changed", "stuck"],
    ["open connection to 192.0.2.1:80 using outbound/hysteria2[n_1]: network changed", "unfit"],
    ["failed to build outbound config with tag n_1 > unknown cipher method", "misconfigured"],
    ["non existing outTag: n_3", "internal-error"],
  ])("%s: %s", (words, verdict) => {
    expect(judge(words)?.verdict).toBe(verdict);
  });

  it("do not call xhttp grpc", () => {
    const met = judge(
      "http2: failed reading the frame payload: note that the frame header looked like an HTTP/1.1 header",
    );
    expect(met?.reason).toBe("the server does not speak HTTP/2, which the link's transport needs");
  });

  it("take a failed request of xhttp for its carrier's fault, whatever ended it", () => {
    const line = (end: string): string =>
      `[Info] [7] transport/internet/splithttp: failed to GET https://lab.test/x/ > Get "https://lab.test/x/1": ${end}`;
    for (const end of [
      'net/http: HTTP/1.x transport connection broken: malformed HTTP response "\\x00\\x00"',
      "EOF",
      "http2: client connection force closed via ClientConn.Close",
    ]) {
      expect(judge(line(end)), end).toMatchObject({ verdict: "handshake-failed" });
    }
    expect(judge(line("x509: certificate has expired or is not yet valid"))?.verdict).toBe("cert-invalid");
    expect(judge(line("dial tcp 1.2.3.4:1: connect: connection refused"))?.verdict).toBe("refused");
    expect(judge("connection ends > failed to use xtls-rprx-vision, found outer tls version 771")?.reason).toBe(
      "the link's flow needs TLS 1.3, and the server has an older one",
    );
  });

  it("are joined to the config that they are about", () => {
    const of = (engine: Engine, line: string) => cores[engine].explain(line);
    expect(of("xray", "2026/11/21 [Info] [123456] app/dispatcher: taking detour [n_1] for [tcp:a:443]")).toEqual({
      session: "123456",
      tag: "n_1",
      verdict: null,
      reason: "",
    });
    expect(
      of("xray", "[Info] [123456] transport: failed > dial tcp 1.2.3.4:1: connect: connection refused"),
    ).toMatchObject({
      session: "123456",
      verdict: "refused",
    });
    expect(
      of("singbox", "ERROR [77 12ms] connection: open connection to h:443 using outbound/vless[n_a]: EOF"),
    ).toMatchObject({ session: "77", tag: "n_a", verdict: "closed" });
    expect(of("singbox", "INFO [77 0ms] inbound/socks[in]: [n_a] inbound connection to h:443")).toMatchObject({
      tag: "n_a",
      verdict: null,
    });
    expect([of("xray", "Xray 26.3.27 started"), of("singbox", "INFO sing-box started")]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("name the entry that a file is refused for", () => {
    const entries = [entry("vless ws tls", "n_1"), entry("ss aead", "n_2")];
    expect(cores.xray.culprit("failed to build outbound config with tag n_2 > x", entries)?.tag).toBe("n_2");
    expect(cores.singbox.culprit("initialize outbound[1]: unknown method", entries)?.tag).toBe("n_2");
    expect(cores.singbox.culprit("FATAL something", entries)).toBeUndefined();
  });
});
