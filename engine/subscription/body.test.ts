import fc from "fast-check";
import { dump } from "js-yaml";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../testkit/property.ts";
import { cores } from "../cores/choice.ts";
import { base64, UUID } from "../protocols/config.suite.ts";
import { mutations } from "../protocols/mutations.suite.ts";
import { KEY16, LINKS, PBK } from "../protocols/share-link/links.suite.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { entriesOf, MAX_CONFIGS_LISTED } from "./body.ts";
import { BodyError } from "./body-error.ts";
import type { Entry } from "./entry.ts";
import { identityOfConfig, listServers } from "./list.ts";

const at = "p.test-site.org";
const all = (body: string): Entry[] => [...entriesOf(body)];
const configs = (body: string) => all(body).map((entry) => (entry.kind === "config" ? entry.read.config : entry));
const link = (rest = "", name = "n"): string => `vless://${UUID}@${rest || at}:443?security=tls#${name}`;

describe("bodies of links", () => {
  const links = [...LINKS.values()];
  const expected = links.map((text) => parseProxyLink(text).config);

  it.each([
    ["lines", links.join("\n")],
    ["lines of Windows with a BOM and remarks", `\ufeff#profile-title: x\r\n//y\r\n${links.join("\r\n")}`],
    ["letters for newlines", links.join("\\n")],
    ["one line", links.join(" ")],
    ["base64", base64(links.join("\n"))],
    ["base64 twice, in lines", base64(base64(links.join("\n"))).replace(/.{76}/g, "$&\n")],
    ["a JSON array", JSON.stringify(links)],
  ])("as %s", (_, body) => {
    expect(configs(body)).toEqual(expected);
  });

  it("say of each line what is wrong with it", () => {
    const body = [link(), "ssr://abc", "some words", "vless://incomplete", "https://nested.test-site.org/sub"].join(
      "\n",
    );
    expect(all(body).slice(1)).toEqual([
      { kind: "unsupported", at: 2, what: "ssr" },
      { kind: "bad", at: 3, reason: "this is no link" },
      { kind: "bad", at: 4, reason: "the link has no server after an @" },
      { kind: "unsupported", at: 5, what: "https" },
    ]);
  });

  it("know what is a message", () => {
    const zero = "00000000-0000-0000-0000-000000000000";
    expect(all(`vless://${zero}@0.0.0.0:1#Expired%20yesterday`)).toEqual([
      { kind: "info", at: 1, text: "Expired yesterday" },
    ]);
  });
});

describe("structured bodies", () => {
  const names = ["vless ws tls", "vless grpc tls", "trojan tcp tls", "ss 2022", "hysteria2 hops", "tuic"];
  const render = (engine: "xray" | "singbox", chosen: readonly string[]): string =>
    cores[engine].render({
      entries: chosen.map((name, index) => ({
        tag: `n_${index}`,
        config: parseProxyLink(LINKS.get(name) ?? "").config,
        address: at,
        password: "p",
      })),
      port: 1,
      identityPassword: "p",
      isVerbose: false,
    });
  const withoutAlpn = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, member) => (key === "alpn" ? undefined : member)));
  const read = (chosen: readonly string[]) =>
    chosen.map((name) => withoutAlpn(parseProxyLink(LINKS.get(name) ?? "").config));

  it("of sing-box are read back", () => {
    expect(configs(render("singbox", names)).map(withoutAlpn)).toEqual(read(names));
  });

  it("of xray are read back", () => {
    const chosen = [
      "vless ws tls",
      "vless vision reality",
      "vmess grpc tls",
      "trojan xhttp tls pinned",
      "ss 2022",
      "vless tcp http tls",
    ];
    const own = (body: string) => configs(body).map(withoutAlpn);
    const expected = read(chosen);
    expect(own(render("xray", chosen))).toEqual(expected);
    expect(all(JSON.stringify([{ remarks: "Berlin", ...JSON.parse(render("xray", ["ss 2022"])) }]))).toMatchObject([
      { kind: "config", read: { name: "Berlin" } },
    ]);
  });

  it("of Clash are read, every scalar as a text", () => {
    const yaml = `
base: &base { server: ${at}, port: 443, tls: true, client-fingerprint: chrome }
proxies:
  - { <<: *base, name: a, type: vless, uuid: ${UUID}, network: ws, servername: s.test-site.org, ws-opts: { path: "/w?ed=2560", headers: { Host: c.test-site.org } }, alpn: [h2, http/1.1] }
  - { <<: *base, name: b, type: vless, uuid: ${UUID}, flow: xtls-rprx-vision, servername: s.test-site.org, client-fingerprint: firefox, reality-opts: { public-key: ${PBK}, short-id: 00880088 } }
  - { name: c, type: ss, server: ${at}, port: 8388, cipher: 2022-blake3-aes-128-gcm, password: "${KEY16}:${KEY16}" }
  - { name: d, type: trojan, server: ${at}, port: 443, password: 0123, sni: s.test-site.org, skip-cert-verify: true }
  - { name: e, type: hysteria2, server: ${at}, ports: "443,5000-6000", password: pw, obfs: salamander, obfs-password: salt, skip-cert-verify: true, hop-interval: 30 }
  - { name: f, type: tuic, server: ${at}, port: 443, uuid: ${UUID}, password: pw, congestion-controller: bbr, udp-relay-mode: quic, alpn: [h3], skip-cert-verify: true }
  - { name: g, type: ss, server: ${at}, port: 8388, cipher: aes-256-gcm, password: pw, plugin: obfs, plugin-opts: { mode: tls, host: c.test-site.org } }
  - { name: h, type: vmess, server: ${at}, port: 443, uuid: ${UUID}, alterId: 0, cipher: auto, network: grpc, tls: true, grpc-opts: { grpc-service-name: svc } }
  - { name: i, type: snell, server: ${at}, port: 1 }
  - { name: j, type: vless, server: ${at}, port: 443, uuid: ${UUID}, tls: true, network: xhttp, xhttp-opts: { path: /x, mode: packet-up, x-padding-bytes: 100-1000, no-grpc-header: true, reuse-settings: { max-concurrency: 16-32 } } }
`;
    const found = configs(yaml);
    const same = (name: string) => parseProxyLink(LINKS.get(name) ?? "").config;
    expect(found[0]).toEqual(same("vless ws tls"));
    expect(found[1]).toMatchObject({
      account: { flow: "xtls-rprx-vision" },
      security: { shortId: "00880088", publicKey: PBK },
    });
    expect(found[2]).toEqual(same("ss 2022"));
    expect(found[3]).toMatchObject({ account: { password: "0123" }, security: { kind: "tls", isInsecure: true } });
    expect(found[4]).toEqual(same("hysteria2 hops"));
    expect(found[5]).toEqual(same("tuic"));
    expect(found[6]).toEqual(same("ss obfs"));
    expect(found[7]).toMatchObject({ transport: { type: "grpc", serviceName: "svc" }, security: { sni: at } });
    expect(found[8]).toEqual({ kind: "unsupported", at: 9, what: "snell" });
    expect(found[9]).toMatchObject({
      transport: {
        mode: "packet-up",
        extra: { xPaddingBytes: "100-1000", noGRPCHeader: true, xmux: { maxConcurrency: "16-32" } },
      },
    });
  });

  it("of SIP008 are read", () => {
    const server = { server: at, server_port: 8388, method: "aes-256-gcm", password: "p:w", remarks: "n" };
    expect(configs(JSON.stringify({ version: 1, servers: [server] }))).toEqual([
      parseProxyLink(LINKS.get("ss aead") ?? "").config,
    ]);
  });

  it("without a credential are bad, as links without one are: what is imported can be read again", () => {
    const server = { server: at, port: 443, server_port: 443, method: "aes-256-gcm", cipher: "aes-256-gcm" };
    const singbox = (type: string, more: object = {}) => ({ type, ...server, tls: { enabled: true }, ...more });
    const outbounds = [
      singbox("vless"),
      singbox("vmess"),
      singbox("trojan"),
      singbox("shadowsocks"),
      singbox("tuic", { uuid: UUID }),
    ];
    const clash = ["vless", "vmess", "trojan", "ss"].map((type) => ({ ...server, name: "n", type }));
    const reasons = (body: string) => all(body).map((entry) => (entry.kind === "bad" ? entry.reason : entry.kind));
    const noUser = "the entry has no user id";
    const noPassword = "the entry has no password";
    expect(reasons(JSON.stringify({ outbounds }))).toEqual([noUser, noUser, noPassword, noPassword, noPassword]);
    expect(reasons(dump({ proxies: [...clash, { ...clash[2], password: " " }] }))).toEqual([
      noUser,
      noUser,
      noPassword,
      noPassword,
      noPassword,
    ]);
    expect(reasons(JSON.stringify({ servers: [{ ...server, server_port: 8388 }] }))).toEqual([noPassword]);
  });

  it("that are no list are refused in words", () => {
    const bomb = `a: &a [x, x]\n${Array.from({ length: 200 }, (_, i) => `b${i}: *a\n`).join("")}proxies:\n  - *a\n`;
    const reasons = [
      "",
      "<!DOCTYPE html>",
      "a\0b",
      "{",
      "[1]",
      "{}",
      "hello world",
      "proxies: [",
      bomb,
      "x".repeat(6e6),
    ].map((body) => {
      try {
        return all(body).length;
      } catch (error) {
        return error instanceof BodyError ? error.message : error;
      }
    });
    expect(reasons).toEqual([
      "The list is empty.",
      "The answer is a web page, not a list.",
      "The list is in no format that is known here.",
      "The list is JSON that cannot be read.",
      "The list is JSON in no format that is known here.",
      "The list is JSON in no format that is known here.",
      "The list is in no format that is known here.",
      "The list is YAML that cannot be read.",
      1,
      "The list is larger than 5 MiB.",
    ]);
    expect(() => all(`${link()}\n`.repeat(MAX_CONFIGS_LISTED + 1))).toThrow("The list has more than 20000 servers.");
  });

  it("that are nested without end are refused, or told entry by entry", () => {
    const deep = (open: string, close: string): string => open.repeat(200_000) + close.repeat(200_000);
    const reasonOf = (body: string): unknown => {
      try {
        return all(body).map((entry) => (entry.kind === "bad" ? entry.reason : entry.kind));
      } catch (error) {
        return error instanceof BodyError ? error.message : error;
      }
    };
    expect(reasonOf(deep("[", "]"))).toBe("The list is JSON in no format that is known here.");
    expect(reasonOf(`["x", ${deep("[", "]")}]`)).toEqual(["this is no link", "it is no server"]);
    expect(reasonOf(`proxies: ${deep("[", "]")}`)).toBe("The list is YAML that cannot be read.");
    expect(reasonOf(`{"outbounds":[{"type":"vless","server_port":443,"server":${deep("[", "]")}}]}`)).toEqual([
      "server is neither a name nor an address",
    ]);
    expect(
      reasonOf(
        `{"proxies":[{"type":"ss","network":"xhttp","xhttp-opts":${deep('{"a":', "1").replace(/1+$/, `1${"}".repeat(200_000)}`)}}]}`,
      ),
    ).toEqual([expect.any(String)]);
  });

  it("of junk are counted, and what is good among it is taken", async () => {
    const list = await listServers(entriesOf(`${"junk\n".repeat(100_000)}${link()}`), async () => {});
    expect(list).toMatchObject({ badCount: 100_000, configCount: 1 });
    expect(list.bad[0]).toEqual({ at: 1, reason: "this is no link" });
    expect(() => all("x\n".repeat(300_000))).toThrow();
  });

  it("that are untrusted end in entries or in a BodyError", () => {
    const singbox = JSON.parse(render("singbox", names));
    const xray = JSON.parse(render("xray", ["vless ws tls", "trojan xhttp tls pinned"]));
    const lines = [...LINKS.values()].join("\n").slice(0, 3_000);
    const texts = [JSON.stringify(singbox), JSON.stringify(xray), dump({ proxies: singbox.outbounds }), lines];
    const { cuts, edit } = mutations(["{", "}", ",", "null", "1e9", "&a ", "*a", "!!js/x "], 20);
    assertProperty(
      fc.property(fc.constantFrom(...texts), cuts(4), (text, made) => {
        try {
          const entries = all(edit(text, made));
          // What is no line of a list has entries, and no links.
          if (text !== lines)
            for (const entry of entries) if (entry.kind === "bad") expect(entry.reason).not.toMatch(/\bthe link\b/);
        } catch (error) {
          if (!(error instanceof BodyError)) throw error;
        }
      }),
      { numRuns: 3_000 },
    );
  }, 120_000);
});

describe("lists", () => {
  const listOf = (body: string) => listServers(entriesOf(body), async () => {});

  it("hold a server whatever its user id, but for one of zeros, which is how panels write messages", async () => {
    const withId = (digit: string): string =>
      link("a.test-site.org", "Berlin").replace(UUID, UUID.replace(/[^-]/g, digit));
    expect((await listOf(withId("1"))).servers).toHaveLength(1);
    expect((await listOf(withId("0"))).servers).toHaveLength(0);
  });

  it("join duplicates, group by host, and show the name that is no notice", async () => {
    const list = await listOf(
      [
        link("a.test-site.org", "Left%205%20GB"),
        link("a.test-site.org", "Berlin"),
        link("b.test-site.org"),
        link("A.test-site.org:8443?x=").replace(":443", ""),
        "ssr://x",
        "junk",
      ].join("\n"),
    );
    expect(list.servers.map(({ host, configs: own }) => [host, own.length])).toEqual([
      ["a.test-site.org", 2],
      ["b.test-site.org", 1],
    ]);
    expect(list.servers[0]?.configs[0]?.names).toEqual(["Berlin", "Left 5 GB"]);
    expect(list).toMatchObject({
      configCount: 3,
      duplicateCount: 1,
      unsupported: { ssr: 1 },
      bad: [{ at: 6, reason: "this is no link" }],
    });
  });

  it("keep identities when entries are renamed, written otherwise, or stand elsewhere", () => {
    const one = parseProxyLink(`trojan://pw@P.test-site.org:443?sni=${at}&type=tcp#a`).config;
    const other = parseProxyLink(`trojan://p%77@${at}?security=tls&headerType=none&peer=${at.toUpperCase()}#b`).config;
    expect(identityOfConfig(other)).toBe(identityOfConfig(one));
    expect(identityOfConfig(parseProxyLink(`trojan://px@${at}`).config)).not.toBe(identityOfConfig(one));
  });

  it("let others have the thread again and again", async () => {
    let breaths = 0;
    const body = Array.from({ length: 2_600 }, (_, i) => link(`h${i}.test-site.org`)).join("\n");
    const list = await listServers(entriesOf(body), async () => void breaths++);
    expect([list.servers.length, breaths]).toEqual([2_600, 26]);
  });
});
