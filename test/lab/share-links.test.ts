/** What share links' checks say about real servers on loopback, and the false verdicts that cores cause in a naive check. */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createHttps, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import type { Outcome } from "../../engine/contract/probe.ts";
import type { Resolver } from "../../engine/transport/resolver.ts";
import type { Engine } from "../../model/subscription.ts";
import { describeWith } from "../prerequisites.ts";
import { type LinkRig, OTHER_UUID, openLinkRig, PASSWORD, UUID } from "./link-rig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const verdictsOf = (outcomes: readonly Outcome[]): readonly string[] => outcomes.map(({ verdict }) => verdict);

describeWith(["proxy cores"], "share links", () => {
  let rig: LinkRig;
  let ports: Readonly<Record<string, number>> = {};
  beforeAll(async () => {
    rig = await openLinkRig();
    const files = { certificate_path: `${rig.folder}/server.crt`, key_path: `${rig.folder}/server.key` };
    const tls = { enabled: true, ...files };
    const [vless = 0, trojan = 0, hysteria2 = 0, tuic = 0] = await rig.serve("singbox", [
      { type: "vless", users: [{ uuid: UUID }] },
      { type: "trojan", users: [{ password: PASSWORD }], tls },
      { type: "hysteria2", users: [{ password: PASSWORD }], tls: { ...tls, alpn: ["h3"] } },
      { type: "tuic", users: [{ uuid: UUID, password: PASSWORD }], tls: { ...tls, alpn: ["h3"] } },
    ]);
    const [vmess = 0, shadowsocks = 0] = await rig.serve("xray", [
      { protocol: "vmess", settings: { clients: [{ id: UUID }] } },
      { protocol: "shadowsocks", settings: { method: "aes-256-gcm", password: PASSWORD, network: "tcp" } },
    ]);
    ports = { vless, trojan, hysteria2, tuic, vmess, shadowsocks };
  });
  afterAll(() => rig.close());

  const at = (kind: string): string => `127.0.0.1:${ports[kind]}`;
  const links = {
    vless: (uuid = UUID) => `vless://${uuid}@${at("vless")}`,
    trojan: (password = PASSWORD, more = "sni=localhost") =>
      `trojan://${password}@${at("trojan")}?security=tls&${more}`,
    vmess: (id = UUID) =>
      `vmess://${base64(JSON.stringify({ v: "2", add: "127.0.0.1", port: ports.vmess, id, aid: "0", scy: "auto", net: "tcp" }))}`,
    shadowsocks: (password = PASSWORD) => `ss://${base64(`aes-256-gcm:${password}`)}@${at("shadowsocks")}`,
    hysteria2: (password = PASSWORD, sni = "localhost") => `hy2://${password}@${at("hysteria2")}?sni=${sni}`,
    tuic: (password = PASSWORD) => `tuic://${UUID}:${password}@${at("tuic")}?sni=localhost&alpn=h3`,
  };

  it.each([
    ["vless", "singbox"],
    ["vless", "xray"],
    ["trojan", "singbox"],
    ["trojan", "xray"],
    ["vmess", "singbox"],
    ["vmess", "xray"],
    ["shadowsocks", "singbox"],
    ["shadowsocks", "xray"],
    ["hysteria2", "singbox"],
    ["hysteria2", "xray"],
    ["tuic", "singbox"],
  ] as const)("%s passes in %s, with the times that mean what they say", async (kind, engine) => {
    const outcome = await rig.check(links[kind](), { engine });
    expect(outcome).toMatchObject({
      verdict: "ok",
      tunnel: { assignedIp: "127.0.0.1", engineUsed: engine, handshakeTimeMs: null },
    });
    for (const ms of [outcome.latencyMs, outcome.connectMs, outcome.tunnel?.connectionTimeMs])
      expect(ms).toBeGreaterThan(0);
  });

  it.each<[name: string, link: () => string, verdict: string, engine: Engine | undefined]>([
    ["vless with a wrong id", () => links.vless(OTHER_UUID), "auth-failed", undefined],
    ["trojan with a wrong password", () => links.trojan("wrong"), "auth-failed", undefined],
    ["hysteria2 with a wrong password", () => links.hysteria2("wrong"), "auth-failed", undefined],
    ["hysteria2 with a wrong password, in xray", () => links.hysteria2("wrong"), "auth-failed", "xray"],
    ["tuic with a wrong password", () => links.tuic("wrong"), "auth-failed", undefined],
    [
      "trojan with a name that is not in the certificate",
      () => links.trojan(PASSWORD, "sni=a.test"),
      "cert-invalid",
      undefined,
    ],
    [
      "hysteria2 with a name that is not in the certificate",
      () => links.hysteria2(PASSWORD, "a.test"),
      "cert-invalid",
      undefined,
    ],
    ["a closed port", () => `vless://${UUID}@127.0.0.1:9`, "refused", undefined],
    // Silent to unknown clients for longer than any check: nothing tells it from a server without a way out.
    ["vmess with a wrong id", () => links.vmess(OTHER_UUID), "stuck", undefined],
    ["shadowsocks with a wrong password", () => links.shadowsocks("wrong"), "stuck", undefined],
    [
      "a variant that no core can do",
      () => `vless://${UUID}@127.0.0.1:9?security=tls&allowInsecure=1&type=kcp`,
      "unsupported",
      undefined,
    ],
  ])(
    "%s",
    async (_, link, verdict, engine) => {
      const timeoutMs = verdict === "stuck" ? 4_000 : 15_000;
      const outcome = await rig.check(link(), { timeoutMs, ...(engine !== undefined && { engine }) });
      expect([outcome.verdict, outcome.message]).toEqual([verdict, expect.any(String)]);
      expect(outcome.message).not.toMatch(/wrong|right-password|5ec2e700/);
    },
    30_000,
  );

  describe("are not judged falsely", () => {
    it("when xray would join the sessions of one hysteria2 server", async () => {
      const passwords = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? PASSWORD : `wrong-${index}`));
      const outcomes = await Promise.all(
        passwords.map((password) => rig.check(links.hysteria2(password), { engine: "xray", timeoutMs: 40_000 })),
      );
      expect(verdictsOf(outcomes)).toEqual(passwords.map((password) => (password === PASSWORD ? "ok" : "auth-failed")));
    }, 60_000);

    it.each(["vmess", "shadowsocks"] as const)(
      "when this thread stands still for longer than xray lets %s wait",
      async (kind) => {
        // The answer of the local port and the request that follows it are more than 100 ms apart.
        const stalls = setInterval(() => {
          const untilMs = performance.now() + 130;
          while (performance.now() < untilMs);
        }, 10);
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, () => rig.check(links[kind](), { engine: "xray", timeoutMs: 20_000 })),
        );
        clearInterval(stalls);
        expect(new Set(verdictsOf(outcomes))).toEqual(new Set(["ok"]));
      },
      60_000,
    );

    it("when many ask through sing-box, which loses what comes before its answer", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 400 }, () => rig.check(links.vless(), { engine: "singbox", timeoutMs: 20_000 })),
      );
      expect(new Set(verdictsOf(outcomes))).toEqual(new Set(["ok"]));
    }, 60_000);

    it("when one of two users at one server is wrong, in 1,000 tries", async () => {
      const ids = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? UUID : OTHER_UUID));
      const found: string[] = [];
      const next = ids.entries();
      const worker = async (): Promise<void> => {
        for (const [index, id] of next) {
          const { verdict } = await rig.check(links.vless(id), { engine: "singbox", timeoutMs: 60_000 });
          found[index] = verdict;
        }
      };
      await Promise.all(Array.from({ length: 250 }, worker));
      expect(found).toEqual(ids.map((id) => (id === UUID ? "ok" : "auth-failed")));
    }, 120_000);
  });

  it.each([
    ["hysteria2", "singbox"],
    ["hysteria2", "xray"],
    ["tuic", "singbox"],
  ] as const)("over UDP go to the IPv4 address of a name: %s in %s", async (kind, engine) => {
    expect(await rig.check(links[kind](), { engine, hasIpv6First: true })).toMatchObject({ verdict: "ok" });
  });

  it("are dialled where we resolved them, whatever the name says later", async () => {
    const asked: string[] = [];
    const moving: Resolver = {
      lookup: (name, _, family) => {
        asked.push(`${name} ${family}`);
        // IPv4 once on our list, then elsewhere in our own network.
        const ip = asked.length <= 2 ? "127.0.0.1" : "10.1.2.3";
        return family === 4 ? { addresses: [{ ip, family }], fault: null } : { addresses: [], fault: NOTHING };
      },
    };
    const url = links.vless().replace("127.0.0.1", "moving.sonde-lab.net");
    const { started } = rig.supervisor.stats;
    expect(await rig.check(url, { engine: "xray", transport: { resolver: moving } })).toMatchObject({ verdict: "ok" });
    // Each family once: no second lookup between ours and the core's dial.
    expect(asked).toHaveLength(2);
    const later = await rig.check(url, { transport: { resolver: moving } });
    expect(later).toMatchObject({ verdict: "misconfigured" });
    expect(later.message).toContain("10.1.2.3");
    expect(rig.supervisor.stats.started).toBe(started + 1);
  });
});
const NOTHING = new Error("no such name");

describeWith(["proxy cores"], "verify endpoints of share links", () => {
  const pages: (Server | HttpsServer)[] = [];
  const rigs: LinkRig[] = [];
  afterAll(async () => {
    for (const rig of rigs) await rig.close();
    for (const page of pages) page.close();
  });
  async function page(
    answer: (url: URL) => readonly [status: number, body: string],
    afterwards: (socket: Socket) => void = () => {},
  ): Promise<string> {
    const server = createServer((request, response) => {
      const [status, body] = answer(new URL(request.url ?? "/", "http://localhost"));
      response.writeHead(status, { "content-length": body.length }).end(body, () => afterwards(request.socket));
    });
    const port = await listen(server);
    pages.push(server);
    return `http://127.0.0.1:${port}`;
  }
  async function checkWith(verifyUrls: readonly string[]): Promise<Outcome> {
    const rig = await openLinkRig({ verifyUrls });
    rigs.push(rig);
    const [port = 0] = await rig.serve("singbox", [{ type: "vless", users: [{ uuid: UUID }] }]);
    return rig.check(`vless://${UUID}@127.0.0.1:${port}`, { timeoutMs: 8_000 });
  }

  it("that answer something else to all clients prove nothing, and no server is blamed", async () => {
    const login = await page(() => [200, "<html>please log in</html>"]);
    expect(await checkWith([`${login}/a#ip`, `${login}/b#token`])).toMatchObject({ verdict: "unfit" });
  }, 30_000);

  it("of which one does not work leave it to the other", async () => {
    const broken = await page(() => [500, "out of order"]);
    const good = await page((url) => [200, url.searchParams.get("token") ?? ""]);
    const outcome = await checkWith([`${broken}/#ip`, `${good}/#token`]);
    expect(outcome).toMatchObject({ verdict: "ok", tunnel: { assignedIp: null } });
  }, 30_000);

  it.each(["singbox", "xray"] as const)(
    "of https prove the passage with their certificate, in %s",
    async (engine) => {
      const server = createHttps({}, (request, response) => {
        response.end(new URL(request.url ?? "/", "https://localhost").searchParams.get("token"));
      });
      const port = await listen(server);
      pages.push(server);
      const rig = await openLinkRig({ verifyUrls: [`https://127.0.0.1:${port}/#token`] });
      rigs.push(rig);
      const [vless = 0] = await rig.serve("singbox", [{ type: "vless", users: [{ uuid: UUID }] }]);
      const ask = () => rig.check(`vless://${UUID}@127.0.0.1:${vless}`, { engine, timeoutMs: 8_000 });
      const use = (name: string): void =>
        server.setSecureContext({
          cert: readFileSync(`${rig.folder}/${name}.crt`),
          key: readFileSync(`${rig.folder}/${name}.key`),
        });
      use("server");
      expect(await ask()).toMatchObject({ verdict: "ok", latencyMs: expect.any(Number) });
      // Its certificate is for another name: it is another server, through the proxy as well as directly.
      rig.authority.issue("wrong-name", "DNS:wrong-name.test");
      use("wrong-name");
      expect(await ask()).toMatchObject({ verdict: "unfit" });
    },
    30_000,
  );

  it("need not keep their connection, nor say so when they do not", async () => {
    const silent = await page(
      (url) => [200, url.searchParams.get("token") ?? ""],
      (socket) => socket.end(),
    );
    expect(await checkWith([`${silent}/#token`])).toMatchObject({ verdict: "ok", latencyMs: expect.any(Number) });
  }, 30_000);

  it("tell the address that traffic leaves from, in each of their ways", async () => {
    const trace = await page(() => [200, "fl=1\nip=198.51.100.7\nts=1\n"]);
    const json = await page(() => [200, '{"ip":"2001:db8::7"}']);
    expect((await checkWith([`${trace}/#trace`])).tunnel?.assignedIp).toBe("198.51.100.7");
    expect((await checkWith([`${json}/#ip`])).tunnel?.assignedIp).toBe("2001:db8::7");
    const empty = await page(() => [204, ""]);
    expect(await checkWith([`${empty}/#204`])).toMatchObject({ verdict: "ok", tunnel: { assignedIp: null } });
  }, 30_000);
});
