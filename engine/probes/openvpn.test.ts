import { afterEach, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { type OpenvpnServer, openOpenvpnServer, type ServerOptions } from "../../demo/tunnels/openvpn-server.ts";
import { FAULTY_PATHS, openDatagramRelay } from "../../testkit/datagram-relay.ts";
import type { Outcome } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { classify } from "../net/classify.ts";
import { hostOf } from "../protocols/inner/host.suite.ts";
import { RECORDED } from "../protocols/openvpn/recorded.suite.ts";
import { type KeyBlock, keyBlockOf } from "../protocols/openvpn/static-key.ts";
import {
  closedPort,
  loopbackTransport,
  makeCheck,
  openBlackHole,
  openMirror,
  openTcpPeer,
} from "../transport/peers.suite.ts";
import type { Transport } from "../transport/transport.ts";
import { openvpn } from "./openvpn.ts";

const probe = await openvpn.load();

const authority = makeAuthority();
const certificate = makeCertificate({ commonName: "vpn.rig", names: ["vpn.rig"], issuer: authority });
const client = makeCertificate({ commonName: "client.rig", issuer: authority });
const TLS = { cert: certificate.certPem, key: certificate.keyPem };
const PASSWORD = "pAssw0rd of this test";
const LOGIN = { username: "ada", password: PASSWORD };

let servers: OpenvpnServer[] = [];
afterEach(async () => {
  for (const server of servers) await server.close();
  servers = [];
});

async function serverWith(options: Partial<ServerOptions> = {}): Promise<OpenvpnServer> {
  const server = await openOpenvpnServer({ tls: TLS, ...options });
  servers.push(server);
  return server;
}

function profile(server: Pick<OpenvpnServer, "port">, ...lines: readonly string[]): string {
  return ["client", `remote 127.0.0.1 ${server.port}`, `<ca>\n${authority.certPem}\n</ca>`, ...lines, ""].join("\n");
}

const transport = loopbackTransport({ tunnelTargets: ["icmp:1.1.1.1", "dns:1.1.1.1"] });

async function check(
  config: string,
  fields: TunnelFields = {},
  withinMs = 10_000,
  way: Transport = transport,
): Promise<Outcome & { readonly phases: readonly string[] }> {
  const rig = makeCheck(way);
  try {
    const context = { ...rig.context, deadlineAtMs: Date.now() + withinMs };
    const outcome = await probe.run(openvpn.settings.parse({ config, ...fields }), context);
    return { ...outcome, phases: rig.phases };
  } catch (error) {
    return { ...classify(error, "handshake"), phases: rig.phases };
  }
}

describe("an OpenVPN tunnel", () => {
  it("comes up and carries an echo: times and address are those of the contract", async () => {
    const server = await serverWith();
    const outcome = await check(profile(server));
    expect(outcome).toEqual({
      verdict: "ok",
      latencyMs: expect.any(Number),
      connectMs: expect.any(Number),
      tunnel: {
        connectionTimeMs: outcome.connectMs,
        handshakeTimeMs: expect.any(Number),
        assignedIp: "10.8.0.2",
        engineUsed: null,
      },
      phases: ["handshake", "resolve", "handshake", "request"],
    });
    expect(server.heard).toContain("EXIT");
  });

  const classic = ["ifconfig 10.8.0.2 255.255.255.0"];
  it.each<[string, Partial<ServerOptions>]>([
    ["over TCP", { proto: "tcp" }],
    ["with keys by the PRF and no peer id", { push: classic }],
    ["with epochs", { push: [...classic, "peer-id 0", "protocol-flags tls-ekm aead-epoch"] }],
    ["under ChaCha20-Poly1305", { cipher: "CHACHA20-POLY1305" }],
    ["under AES-128-CBC with SHA1", { cipher: "AES-128-CBC", push: [...classic, "peer-id 0"] }],
    ["by TLS 1.2", { tls: { ...TLS, maxVersion: "TLSv1.2" } }],
    ["by DNS where echoes are filtered", { host: hostOf({ dns: "answer" }) }],
    [
      "though the server is deaf to the port that it is asked from first",
      { loses: (_count, session) => session === 0 },
    ],
    [
      "though that port hears of the session that was there before",
      { loses: (_count, session) => session === 0, isBabbling: true },
    ],
    ["though packets are lost", { loses: (count) => count === 0 || count === 3 }],
    ["though packets come twice and in another order", { isMessy: true }],
    ["though what it sends comes back", { isMirrored: true }],
  ])("comes up %s", async (_name, options) => {
    const server = await serverWith(options);
    const lines = options.proto === "tcp" ? ["proto tcp"] : [];
    expect(await check(profile(server, ...lines))).toMatchObject({ verdict: "ok", tunnel: { assignedIp: "10.8.0.2" } });
  });

  it("tells a server of before that it ends, in band", async () => {
    const server = await serverWith({ push: [...classic, "peer-id 0"] });
    expect((await check(profile(server))).verdict).toBe("ok");
    await expect.poll(() => server.heard).toContain("in-band");
  });

  it("comes up under tls-crypt, and under another key not at all", async () => {
    const [one, two] = keyBlockOf(RECORDED.tlsCrypt.staticKey);
    const reversed: KeyBlock = [two, one];
    const server = await serverWith({ proto: "tcp", protection: () => ({ kind: "tls-crypt", key: reversed }) });
    const inline = (key: Buffer) =>
      `<tls-crypt>\n-----BEGIN OpenVPN Static key V1-----\n${key.toString("hex")}\n-----END OpenVPN Static key V1-----\n</tls-crypt>`;
    const lines = ["proto tcp", "cipher AES-256-GCM"];
    expect((await check(profile(server, ...lines, inline(RECORDED.tlsCrypt.staticKey)))).verdict).toBe("ok");
    expect(await check(profile(server, ...lines, inline(RECORDED.tlsAuth.staticKey)))).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining("tls-crypt key"),
    });
    expect(await check(profile(server, ...lines))).toMatchObject({
      verdict: "closed",
      hint: expect.stringContaining("tls-auth or tls-crypt"),
    });
  });

  it("takes its login along", async () => {
    const server = await serverWith();
    expect((await check(profile(server, "auth-user-pass"), LOGIN)).verdict).toBe("ok");
    expect(server.heard.join("\n")).toContain(PASSWORD);
  });

  it.each<[string, string, object]>([
    ["AUTH_FAILED", "auth-failed", { message: expect.stringContaining("AUTH_FAILED") }],
    [`AUTH_FAILED,No ${PASSWORD} here`, "auth-failed", { peer: "No … here" }],
    ["AUTH_FAILED,Data channel cipher negotiation failed (no shared cipher)", "misconfigured", {}],
    [
      "AUTH_FAILED,CRV1:R,E:c3RhdGU=:YWRh:Type the code",
      "auth-failed",
      { peer: "Type the code", message: expect.stringContaining("second factor") },
    ],
    ["AUTH_FAILED,TEMP[backoff 9]:full", "closed", { peer: "TEMP[backoff 9]:full" }],
    ["AUTH_PENDING,timeout 60", "auth-failed", { message: expect.stringContaining("interactive_required") }],
    ["INFO_PRE,WEB_AUTH::https://login.rig/hidden", "auth-failed", { peer: "a page to log in at" }],
    ["RESTART,[N]moving", "closed", { peer: "[N]moving" }],
    ["HALT,for good", "closed", { message: expect.stringContaining("HALT") }],
    ["PUSH_REPLY,peer-id 0,cipher AES-256-GCM", "misconfigured", { message: expect.stringContaining("no address") }],
    [
      "PUSH_REPLY,ifconfig 10.8.0.2 255.0.0.0,cipher BF-CBC",
      "misconfigured",
      { message: expect.stringContaining("BF-CBC") },
    ],
    [
      "PUSH_REPLY,ifconfig 10.8.0.2 255.0.0.0",
      "misconfigured",
      { message: expect.stringContaining("chooses no cipher") },
    ],
  ])("is refused by %s", async (says, verdict, rest) => {
    const server = await serverWith({ says });
    const outcome = await check(profile(server, "auth-user-pass"), LOGIN);
    expect(outcome).toMatchObject({ verdict, peerAnswered: true, ...rest });
    expect(JSON.stringify(outcome)).not.toMatch(/pAssw0rd|hidden|c3RhdGU/);
  });

  it("does not trust whom its profile does not", async () => {
    const server = await serverWith();
    const other = profile(server).replace(authority.certPem, makeAuthority("Another").certPem);
    expect(await check(other)).toMatchObject({ verdict: "cert-invalid", peer: "vpn.rig" });
    expect((await check(profile(server, "remote-cert-tls server"))).verdict).toBe("cert-invalid");
    expect((await check(profile(server, "verify-x509-name other.rig name"))).verdict).toBe("cert-invalid");
    expect((await check(profile(server, "verify-x509-name vpn. name-prefix"))).verdict).toBe("ok");
    expect((await check(profile(server, "verify-x509-name CN=vpn.rig"))).verdict).toBe("ok");
    expect(server.heard).not.toContain("ada");
  });

  it("is refused when a server is silent about what it was shown, and answers who begins anew", async () => {
    const server = await serverWith({ ignoresFrom: 2 });
    const inline = `<cert>\n${client.certPem}\n</cert>\n<key>\n${client.keyPem}\n</key>`;
    expect(await check(profile(server, inline))).toMatchObject({
      verdict: "auth-failed",
      message: expect.stringContaining("certificate"),
    });
    expect(server.sessions).toBe(2);
  });

  it("over a stream that floods it says so, and not that the server closed it", async () => {
    const frame = Buffer.concat([Buffer.from([0x40, 0]), Buffer.alloc(0x4000)]);
    const server = await openTcpPeer((socket) => {
      const pour = (): void => {
        while (!socket.destroyed && socket.write(frame));
      };
      socket.on("drain", pour);
      pour();
    });
    try {
      expect(await check(profile(server, "proto tcp"))).toMatchObject({
        verdict: "protocol-error",
        message: "The server floods this checker",
      });
    } finally {
      await server.close();
    }
  });

  it("says of a refused certificate of its own that its time is over", async () => {
    const server = await serverWith({ ignoresFrom: 2 });
    const old = makeCertificate({ commonName: "client.rig", issuer: authority, notAfterMs: Date.now() - 86_400_000 });
    const inline = `<cert>\n${old.certPem}\n</cert>\n<key>\n${old.keyPem}\n</key>`;
    expect(await check(profile(server, inline))).toMatchObject({
      verdict: "auth-failed",
      message: expect.stringMatching(/^This client's certificate has expired: .*GMT\. The server is silent/),
    });
  });

  it("is tried at the next server when one does not bring it up", async () => {
    const closed = await closedPort();
    const refusing = await serverWith({ says: "RESTART" });
    const server = await serverWith();
    const config = profile({ port: closed }, `remote 127.0.0.1 ${refusing.port}`, `remote 127.0.0.1 ${server.port}`);
    expect((await check(config)).verdict).toBe("ok");
    const both = profile({ port: closed }, `remote 127.0.0.1 ${refusing.port}`);
    expect(await check(both)).toMatchObject({ verdict: "closed" });
    const own = { servers: [{ host: "127.0.0.1", port: server.port, proto: "udp" as const }] };
    expect((await check(both, own)).verdict).toBe("ok");
  });

  it("does not wait for a connection as long as there is another server", async () => {
    const hole = await openBlackHole();
    try {
      const server = await serverWith();
      const config = profile({ port: hole.port }, "proto tcp", `remote 127.0.0.1 ${server.port} udp`);
      expect((await check(config)).verdict).toBe("ok");
    } finally {
      await hole.close();
    }
  });

  it("looks its server's name up as the profile says: in one family, and with random letters before it", async () => {
    const server = await serverWith();
    const asked: (readonly [string, string])[] = [];
    const way: Transport = {
      ...transport,
      resolve(host, port, family, context) {
        asked.push([host, family]);
        return transport.resolve(host.endsWith("vpn.rig") ? "127.0.0.1" : host, port, "both", context);
      },
    };
    const config = profile(server, "remote-random-hostname", "proto udp4").replace("127.0.0.1", "vpn.rig");
    expect((await check(config, {}, 10_000, way)).verdict).toBe("ok");
    expect((await check(config, { ip: "127.0.0.1" }, 10_000, way)).verdict).toBe("ok");
    expect((await check(profile(server, "remote-random-hostname"), {}, 10_000, way)).verdict).toBe("ok");
    expect(asked).toEqual([
      [expect.stringMatching(/^[0-9a-f]{12}\.vpn\.rig$/), "ipv4"],
      ["127.0.0.1", "both"],
      ["127.0.0.1", "both"],
    ]);
    expect(await check(profile(server, "proto udp6"))).toMatchObject({ verdict: "misconfigured" });
  });

  it("goes on to a server's next address when the first does not answer", async () => {
    const server = await serverWith();
    const way: Transport = {
      ...transport,
      resolve: async (host, port, family, context) => [
        ...(host === "vpn.rig" ? await transport.resolve("127.0.0.9", port, family, context) : []),
        ...(await transport.resolve("127.0.0.1", port, family, context)),
      ],
    };
    // Nothing listens at the first.
    const config = profile(server).replace("127.0.0.1", "vpn.rig");
    expect((await check(config, {}, 10_000, way)).verdict).toBe("ok");
  });

  it("takes of the server's options what its profile lets through", async () => {
    const server = await serverWith({ push: ["ifconfig 10.8.0.2 255.255.255.0", "dhcp-option DNS 1.1.1.1"] });
    expect((await check(profile(server, "pull-filter ignore dhcp-option"))).verdict).toBe("ok");
    expect(await check(profile(server, "pull-filter ignore ifconfig"))).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining("no address"),
    });
    const lines = profile(server, 'pull-filter reject "dhcp-option DNS"').split("\n");
    expect(await check(lines.join("\n"))).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining(`pull-filter reject in line ${lines.length - 1}`),
    });
  });

  it("is offered the ciphers that its profile names", async () => {
    const server = await serverWith({ tls: { ...TLS, maxVersion: "TLSv1.2" } });
    expect((await check(profile(server, "tls-cipher TLS-ECDHE-ECDSA-WITH-AES-256-GCM-SHA384"))).verdict).toBe("ok");
    // Not for a certificate with such a key.
    const other = await check(profile(server, "tls-cipher TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384"));
    expect(other).toMatchObject({ verdict: "misconfigured", message: expect.stringContaining("in common") });
    const newer = await serverWith();
    expect((await check(profile(newer, "tls-ciphersuites TLS_AES_128_GCM_SHA256"))).verdict).toBe("ok");
  });

  it("tells of lines that are not known where the tunnel does not come up, and not what they say", async () => {
    const silent = await serverWith({ host: hostOf({}) });
    const refusing = await serverWith({ says: "HALT,for good" });
    for (const server of [silent, refusing]) {
      const lines = profile(server, `${PASSWORD} with words`, "nobind").split("\n");
      const outcome = await check(lines.join("\n"));
      const number = lines.findIndex((line) => line.startsWith(PASSWORD)) + 1;
      expect(outcome.verdict).toBe(server === silent ? "stuck" : "closed");
      expect(outcome.hint).toMatch(new RegExp(`option that is not known: ${number}$`));
      expect(JSON.stringify(outcome)).not.toContain(PASSWORD);
    }
  }, 30_000);

  it("is stuck when nothing comes back, and does not fit when what comes back cannot be read", async () => {
    const silent = await serverWith({ host: hostOf({}) });
    expect(await check(profile(silent, "up /bin/false"))).toMatchObject({
      verdict: "stuck",
      hint: expect.stringContaining("never does: up"),
    });
    const other = await serverWith({ hasOtherKeys: true });
    expect((await check(profile(other))).verdict).toBe("misconfigured");
  }, 30_000);

  // The server of this rig sends nothing again, as the lab's do.
  const lossless = Object.entries(FAULTY_PATHS).filter(([, faults]) => !("lossShare" in faults));
  it.each(lossless)("comes up through a path that %s", async (_name, faults) => {
    const server = await serverWith();
    const relay = await openDatagramRelay({ server: { host: "127.0.0.1", port: server.port }, faults });
    const outcome = await check(profile(relay, "auth-user-pass"), LOGIN);
    await relay.close();
    expect(outcome).toMatchObject({ verdict: "ok" });
  });

  it("is stuck, not unreadable, when only what it sends comes back through it", async () => {
    const server = await serverWith({ host: hostOf({}), isMirrored: true });
    expect(await check(profile(server), {}, 3_000)).toMatchObject({ verdict: "stuck" });
  });

  const key = `-----BEGIN OpenVPN Static key V1-----\n${RECORDED.tlsAuth.staticKey.toString("hex")}\n-----END OpenVPN Static key V1-----`;
  it.each([
    ["without protection", []],
    ["under one tls-auth key both ways", [`<tls-auth>\n${key}\n</tls-auth>`]],
    ["under tls-crypt", [`<tls-crypt>\n${key}\n</tls-crypt>`]],
  ])("%s is not connected to a server that only sends back what it is sent", async (_name, lines) => {
    const mirror = await openMirror();
    const outcome = await check(profile(mirror, ...lines), {}, 1_200);
    await mirror.close();
    expect(outcome).toMatchObject({ verdict: "timeout", peerAnswered: false });
  });

  it.each([
    ["remote 127.0.0.1 9\n", "missing <ca>"],
    [profile({ port: 9 }, `<cert>\n${client.certPem}\n</cert>`), "<cert> and <key> go together"],
    [profile({ port: 9 }, "<tls-auth>\nnothing\n</tls-auth>"), "<tls-auth> is no OpenVPN static key"],
    [profile({ port: 9 }, "tls-version-min 1.3", "tls-version-max 1.2"), "tls-version-min"],
    [profile({ port: 9 }, "data-ciphers BF-CBC"), "no cipher that is supported"],
  ])("is refused before any check when its profile cannot work: case %#", (config, words) => {
    expect(() => openvpn.settings.parse({ config })).toThrow(words);
  });

  it("without a profile says in the check what it lacks", async () => {
    const settings = openvpn.settings.parse({ host: "127.0.0.1" });
    await expect(probe.run(settings, makeCheck(transport).context)).rejects.toThrow("missing <ca>");
  });

  it.each([
    ["remote 127.0.0.1 9\n<ca>\nnothing\n</ca>\n", "<ca> holds no certificate"],
    [profile({ port: 9 }, "tls-cipher TLS-NO-SUCH-CIPHER"), "tls-cipher has nothing"],
    [profile({ port: 9 }, "tls-ciphersuites TLS_NO_SUCH"), "tls-ciphersuites has nothing"],
    [profile({ port: 9 }, "tls-groups no-such"), "tls-groups has nothing"],
  ])("is not tried when it cannot work: case %#", async (config, words) => {
    expect(await check(config)).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining(words),
      phases: [],
    });
  });
});
