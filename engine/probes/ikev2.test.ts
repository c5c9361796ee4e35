import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { afterEach, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { bind } from "../../demo/loopback.ts";
import { ASSIGNED } from "../../demo/tunnels/ikev2-gateway.ts";
import { type Ikev2Server, openIkev2Server, type ServerBehavior } from "../../demo/tunnels/ikev2-server.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import { FAULTY_PATHS, openDatagramRelay } from "../../testkit/datagram-relay.ts";
import type { ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import type { ForeignKey } from "../key-opener/key-opener.ts";
import { openKey } from "../key-opener/open-key.ts";
import { classify } from "../net/classify.ts";
import {
  AES_128_CBC,
  AES_128_GCM,
  AES_256_CBC,
  AES_256_GCM,
  CHACHA,
  type Encryption,
  GROUP,
  HMAC_SHA1_96,
  HMAC_SHA256_128,
  HMAC_SHA384_192,
  HMAC_SHA512_256,
  type Integrity,
  PRF_SHA1,
  PRF_SHA256,
  PRF_SHA384,
  PRF_SHA512,
  type Prf,
} from "../protocols/ikev2/algorithms.ts";
import { IDENTITY, type Identity } from "../protocols/ikev2/bodies.ts";
import { NOTIFY } from "../protocols/ikev2/notify.ts";
import { KEY_LIMITS } from "../protocols/keys/key-bounds.ts";
import { loopbackTransport, makeCheck } from "../transport/peers.suite.ts";
import { type LoginServerOptions, openLoginServer } from "../tunnels/eap-tls-server.suite.ts";
import { ikev2 } from "./ikev2.ts";

const probe = await ikev2.load();

const KEY = "the key of this test";
const LOGIN = { username: "alice", password: "the password of alice" } as const;
const authority = makeAuthority();
const certificate = makeCertificate({ commonName: "gw", names: ["gw.test", "127.0.0.1"], issuer: authority });

const client = makeCertificate({ commonName: "client", issuer: authority });
const rsaClient = makeCertificate({ commonName: "client", issuer: authority, rsaBits: 2_048 });
const oldClient = makeCertificate({ commonName: "client", issuer: authority, notAfterMs: Date.now() - 86_400_000 });
const byCertificate = { cert: client.certPem, key: client.keyPem, ca: authority.certPem };
/** CN=client. */
const subject = Buffer.from("3011310f300d06035504030c06636c69656e74", "hex");

let servers: Ikev2Server[] = [];
afterEach(async () => {
  for (const server of servers) await server.close();
  servers = [];
});

async function serverWith(manners: ServerBehavior): Promise<Ikev2Server> {
  const server = await openIkev2Server(manners);
  servers.push(server);
  return server;
}

const transport = loopbackTransport({ tunnelTargets: ["icmp:1.1.1.1"] });

async function check(
  port: number,
  fields: Partial<TunnelFields> = { psk: KEY },
  timeoutMs = 10_000,
  more: Pick<ProbeContext, "keyOpener"> = {},
) {
  const rig = makeCheck(transport);
  const context = { ...rig.context, ...more, deadlineAtMs: Date.now() + timeoutMs };
  const settings = ikev2.settings.parse({ host: "127.0.0.1", port, ...fields });
  const outcome = await probe
    .run(settings, context)
    .catch((error: unknown) => classify(error, rig.phases.at(-1) ?? null));
  const peerAnswered = ("peerAnswered" in outcome ? outcome.peerAnswered : undefined) ?? rig.answers > 0;
  expect(JSON.stringify(outcome)).not.toMatch(/the key of this|the password of|PRIVATE KEY/);
  return { ...outcome, category: errorCategoryOf(outcome.verdict, "tunnel", peerAnswered), phases: rig.phases };
}

const login = { ...LOGIN, ca: authority.certPem };
const byLogin: ServerBehavior = { login: LOGIN, certificate };

const tlsFields = { ...byCertificate, username: "client@gw.test" };
const foreignAuthority = makeAuthority("foreign");
const loginBy = (options: Partial<LoginServerOptions> = {}): ServerBehavior => ({
  loginServer: () => openLoginServer({ certificate, clientCa: authority.certPem, ...options }),
});
const byTls = (options: Partial<LoginServerOptions> = {}): ServerBehavior => ({ certificate, ...loginBy(options) });
const loginServerCertificate = makeCertificate({ commonName: "radius", names: ["radius.test"], issuer: authority });

function idOf(type: number, text: string): Identity {
  return { type, data: Buffer.from(text) };
}

/** Another group than the one that we send first. */
const otherGroup = { suite: { encryption: AES_256_GCM, integrity: null, prf: PRF_SHA256, group: GROUP.modp2048 } };

describe("an IKEv2 tunnel", () => {
  it("comes up with a pre-shared key and carries an echo: times and address are those of the contract", async () => {
    const server = await serverWith({ sharedKey: KEY });
    const outcome = await check(server.port);
    expect(outcome).toEqual({
      verdict: "ok",
      category: null,
      latencyMs: expect.any(Number),
      connectMs: expect.any(Number),
      tunnel: {
        connectionTimeMs: "connectMs" in outcome ? outcome.connectMs : null,
        handshakeTimeMs: expect.any(Number),
        assignedIp: ASSIGNED,
        engineUsed: null,
      },
      phases: ["resolve", "handshake", "request"],
    });
    expect(server.heard).toEqual(["init", "auth", "delete"]);
  });

  it("comes up with a login, once the gateway has shown its certificate", async () => {
    const server = await serverWith(byLogin);
    expect((await check(server.port, login)).verdict).toBe("ok");
    expect(server.heard).toEqual(["init", "auth", "eap 26 2", "eap 26 3", "auth", "delete"]);
  });

  it.each<readonly [string, ServerBehavior, Partial<TunnelFields>]>([
    [
      "a pre-shared key and a name",
      { sharedKey: KEY, client: idOf(IDENTITY.fqdn, "a.test") },
      { psk: KEY, local_id: "@a.test" },
    ],
    [
      "a pre-shared key and a key id",
      { sharedKey: KEY, client: idOf(IDENTITY.keyId, "jk") },
      { psk: KEY, local_id: "@#6a6b" },
    ],
    [
      "a login and another identity",
      { ...byLogin, client: idOf(IDENTITY.email, "a@a.test") },
      { ...login, local_id: "a@a.test" },
    ],
    ["a login and no other identity", { ...byLogin, client: idOf(IDENTITY.fqdn, "alice") }, login],
    [
      "a pre-shared key and our address",
      { sharedKey: KEY, client: { type: IDENTITY.ipv4, data: Buffer.from([127, 0, 0, 1]) } },
      { psk: KEY },
    ],
  ])("is known to the gateway by %s, and by nothing else", async (_name, manners, fields) => {
    const [server, other] = [await serverWith(manners), await serverWith(manners)];
    expect(await check(server.port, fields)).toMatchObject({ verdict: "ok" });
    expect(await check(other.port, { ...fields, local_id: "b.test" })).toMatchObject({ verdict: "auth-failed" });
  });

  const hashes = [1, 2, 3, 4];
  it.each<readonly [string, ServerBehavior, Partial<TunnelFields>]>([
    [
      "RSA",
      { signatureHashes: hashes, clientCertificate: rsaClient },
      { cert: rsaClient.certPem, key: rsaClient.keyPem },
    ],
    ["RSA with SHA-1", { clientCertificate: rsaClient }, { cert: rsaClient.certPem, key: rsaClient.keyPem }],
    ["ECDSA", { signatureHashes: hashes, clientCertificate: client }, byCertificate],
    ["ECDSA in the older way", { clientCertificate: client }, byCertificate],
    [
      "a chain in the wrong order",
      { clientCertificate: client },
      { ...byCertificate, cert: `${authority.certPem}${client.certPem}` },
    ],
    [
      "a certificate and another identity",
      { clientCertificate: client, client: idOf(IDENTITY.email, "ada@a.test") },
      { ...byCertificate, local_id: "ada@a.test" },
    ],
    [
      "a certificate, and its subject as identity",
      { clientCertificate: client, client: { type: IDENTITY.distinguishedName, data: subject } },
      { ...byCertificate, local_id: "CN=client" },
    ],
  ])("comes up with our own certificate: %s", async (_name, manners, fields) => {
    const server = await serverWith({ certificate, ...manners });
    expect(await check(server.port, { ...fields, ca: authority.certPem })).toMatchObject({ verdict: "ok" });
    expect(server.heard).toEqual(["init", "auth", "delete"]);
  });

  it.each<readonly [string, ServerBehavior, Partial<TunnelFields>]>([
    ["TLS 1.3", byTls(), {}],
    ["TLS 1.2", byTls({ version: "TLSv1.2" }), {}],
    ["a gateway that it alone proves", { ...byTls(), hidesProof: true }, {}],
    ["a gateway with a pre-shared key", { ...loginBy(), sharedKey: KEY }, { psk: KEY }],
    ["a login server of another name behind the gateway", byTls({ certificate: loginServerCertificate }), {}],
    [
      "flights in small pieces",
      { ...byTls({ version: "TLSv1.2", chain: Array.from({ length: 4 }, () => authority) }), pieceBytes: 100 },
      {},
    ],
    ["an RSA certificate", byTls(), { cert: rsaClient.certPem, key: rsaClient.keyPem }],
    [
      "its subject as our identity",
      { ...byTls(), client: { type: IDENTITY.distinguishedName, data: subject } },
      { username: "CN=client" },
    ],
    ["the username as our identity", { ...byTls(), client: idOf(IDENTITY.email, "client@gw.test") }, {}],
    ["another identity", { ...byTls(), client: idOf(IDENTITY.fqdn, "a.test") }, { local_id: "a.test" }],
  ])("comes up with a login by certificate: %s", async (_name, manners, fields) => {
    const server = await serverWith(manners);
    expect(await check(server.port, { ...tlsFields, ...fields })).toMatchObject({ verdict: "ok" });
    expect(server.heard.at(-1)).toBe("delete");
  });

  const pss = "304106092a864886f70d01010a";
  const rsaFields = { cert: rsaClient.certPem, key: rsaClient.keyPem, ca: authority.certPem };
  it("shows a gateway that takes RSA-PSS alone such a signature after the other one", async () => {
    const server = await serverWith({
      certificate,
      clientCertificate: rsaClient,
      signatureHashes: hashes,
      onlySignature: pss,
    });
    const again = ["init", "auth"];
    expect(await check(server.port, rsaFields)).toMatchObject({ verdict: "ok" });
    expect(server.heard).toEqual([...again, ...again, "delete"]);
  });

  it("signs at once as the gateway announces it", async () => {
    const sha512 =
      "304106092a864886f70d01010a3034a00f300d06096086480165030402030500a11c301a06092a864886f70d010108300d06096086480165030402030500a203020140";
    const announces = ["300a06082a8648ce3d040302", sha512];
    const server = await serverWith({
      certificate,
      clientCertificate: rsaClient,
      signatureHashes: hashes,
      announces,
      onlySignature: sha512,
    });
    expect(await check(server.port, rsaFields)).toMatchObject({ verdict: "ok" });
    expect(server.heard).toEqual(["init", "auth", "delete"]);
  });

  it("shows a gateway that refuses both paddings no third signature", async () => {
    const server = await serverWith({
      certificate,
      clientCertificate: rsaClient,
      signatureHashes: hashes,
      onlySignature: "31",
    });
    expect(await check(server.port, rsaFields)).toMatchObject({ verdict: "auth-failed", category: "auth_failed" });
    expect(server.heard).toEqual(["init", "auth", "init", "auth"]);
  });

  it("comes up with our own certificate at a gateway that proves itself by a pre-shared key", async () => {
    const server = await serverWith({ clientCertificate: client, sharedKey: KEY });
    expect(await check(server.port, { ...byCertificate, psk: KEY })).toMatchObject({ verdict: "ok" });
  });

  it("opens a key whose use may be costly elsewhere, once", async () => {
    const rsaBits = KEY_LIMITS.untriedModulusBits + 8;
    const large = makeCertificate({ commonName: "client", issuer: authority, rsaBits });
    const server = await serverWith({ certificate, clientCertificate: large });
    const fields = { cert: large.certPem, key: large.keyPem, ca: authority.certPem };
    const asked: ForeignKey[] = [];
    const keyOpener = {
      open: async (key: ForeignKey) => {
        asked.push(key);
        return openKey(key);
      },
    };
    expect(await check(server.port, fields, 10_000, { keyOpener })).toMatchObject({ verdict: "ok" });
    expect(asked).toHaveLength(1);
    expect(await check(server.port, fields)).toMatchObject({
      verdict: "unsupported",
      message: "This checker cannot open the key of a configuration",
    });
    const other = { ...fields, cert: client.certPem };
    expect(await check(server.port, other, 10_000, { keyOpener })).toMatchObject({
      verdict: "misconfigured",
      message: "Invalid VPN configuration: cert and key do not belong together",
    });
  });

  const groups = Object.values(GROUP);
  const suites: readonly (readonly [Encryption, Integrity | null, Prf, Encryption, Integrity | null])[] = [
    [AES_256_GCM, null, PRF_SHA256, AES_256_GCM, null],
    [AES_128_GCM, null, PRF_SHA384, AES_128_GCM, null],
    [CHACHA, null, PRF_SHA512, CHACHA, null],
    [AES_256_GCM, null, PRF_SHA1, AES_256_CBC, HMAC_SHA1_96],
    [AES_256_CBC, HMAC_SHA256_128, PRF_SHA256, AES_256_CBC, HMAC_SHA256_128],
    [AES_128_CBC, HMAC_SHA384_192, PRF_SHA384, AES_128_CBC, HMAC_SHA384_192],
    [AES_256_CBC, HMAC_SHA512_256, PRF_SHA512, AES_256_CBC, HMAC_SHA512_256],
    [AES_128_CBC, HMAC_SHA1_96, PRF_SHA1, AES_128_CBC, HMAC_SHA1_96],
  ];
  it.each(suites.map((suite, index) => [groups[index] ?? 0, ...suite] as const))(
    "speaks every algorithm that it offers: group %i and suite %#",
    async (group, encryption, integrity, prf, espEncryption, espIntegrity) => {
      const isAead = integrity === null;
      const fitting = isAead && group === GROUP.modp1024 ? GROUP.p256 : group;
      const server = await serverWith({
        sharedKey: KEY,
        suite: { encryption, integrity, prf, group: fitting },
        esp: { encryption: espEncryption, integrity: espIntegrity },
      });
      expect(await check(server.port)).toMatchObject({ verdict: "ok" });
    },
  );

  it.each<readonly [string, ServerBehavior]>([
    ["a cookie", { asksForCookie: true }],
    ["answers in fragments", { isVerbose: true }],
    ["its first answers lost", { lost: 2 }],
    ["every answer twice", { instead: (_nth, datagram) => [datagram, datagram] }],
    [
      "every answer twice, a cookie and another group",
      { ...otherGroup, asksForCookie: true, instead: (_nth, datagram) => [datagram, datagram] },
    ],
    ["our own packets mirrored before its answer", { instead: (_nth, datagram, request) => [request, datagram] }],
    ["noise before its answer", { instead: (_nth, datagram) => [...noise(), datagram] }],
    ["forged answers before its own", { instead: (_nth, datagram) => [bent(datagram), datagram] }],
  ])("comes up with %s", async (_name, manners) => {
    const server = await serverWith({ sharedKey: KEY, ...manners });
    expect(await check(server.port)).toMatchObject({ verdict: "ok" });
  });
});

describe("an IKEv2 tunnel through a path that", () => {
  const manners = { ...otherGroup, asksForCookie: true, isVerbose: true };
  const cases = Object.entries(FAULTY_PATHS).flatMap(([name, faults]) => [
    [name, "a pre-shared key", { sharedKey: KEY, ...manners }, { psk: KEY }, faults] as const,
    [name, "a login by certificate", { ...byTls(), ...manners }, tlsFields, faults] as const,
  ]);
  it.each(cases)("%s comes up with %s", async (_name, _what, behavior, fields, faults) => {
    const server = await serverWith(behavior);
    const relay = await openDatagramRelay({ server: { host: "127.0.0.1", port: server.port }, faults });
    try {
      expect(await check(relay.port, fields, 20_000)).toMatchObject({ verdict: "ok" });
    } finally {
      await relay.close();
    }
  });

  it("is a mirror, without a gateway behind it, does not answer", async () => {
    const nothing = createSocket("udp4");
    const server = { host: "127.0.0.1", port: await bind(nothing) };
    const relay = await openDatagramRelay({ server, faults: { isMirror: true } });
    try {
      const outcome = await check(relay.port, { psk: KEY }, 1_500);
      expect(outcome).toMatchObject({ verdict: "timeout", category: "server_not_connected" });
    } finally {
      await relay.close();
      nothing.close();
    }
  });
});

/** Marked and not, IKE and ESP, too short and too long. */
function noise(): readonly Buffer[] {
  const marked = (bytes: Buffer): Buffer => Buffer.concat([Buffer.alloc(4), bytes]);
  return [
    Buffer.alloc(0),
    Buffer.from([0xff]),
    Buffer.alloc(4),
    marked(randomBytes(40)),
    randomBytes(60),
    randomBytes(1_400),
  ];
}

/** A byte behind the header and SPIs changed: of the first answer an SPI. */
function bent(datagram: Buffer): Buffer {
  const forged = Buffer.from(datagram);
  const isFirst = datagram.readUInt8(4 + 18) === 34;
  const at = isFirst ? 4 : datagram.length - 1;
  forged.writeUInt8(forged.readUInt8(at) ^ 1, at);
  return forged;
}

describe("an IKEv2 gateway that", () => {
  it.each<readonly [string, ServerBehavior, Partial<TunnelFields>, string, string, RegExp]>([
    [
      "has another key",
      { sharedKey: "another" },
      { psk: KEY },
      "auth-failed",
      "auth_failed",
      /refused the credentials/,
    ],
    [
      "only pretends to know the key",
      { sharedKey: KEY, breaksProof: true },
      { psk: KEY },
      "cert-invalid",
      "cert_error",
      /does not know the pre-shared key/,
    ],
    [
      "has another password",
      byLogin,
      { ...login, password: "the password of bob" },
      "auth-failed",
      "auth_failed",
      /wrong username or password/,
    ],
    [
      "ends the login without a word",
      { ...byLogin, forgetsUser: true },
      login,
      "auth-failed",
      "auth_failed",
      /refused the username or password/,
    ],
    [
      "does not know our certificate",
      { certificate, clientCertificate: rsaClient },
      byCertificate,
      "auth-failed",
      "auth_failed",
      /refused the credentials/,
    ],
    [
      "does not know our certificate, whose time is over",
      { certificate, clientCertificate: rsaClient },
      { ...byCertificate, cert: oldClient.certPem, key: oldClient.keyPem },
      "auth-failed",
      "auth_failed",
      /^This client's certificate has expired: .*GMT\. The gateway refused the credentials/,
    ],
    [
      "wants a login and gets a certificate",
      byLogin,
      byCertificate,
      "misconfigured",
      "config_error",
      /wants a username/,
    ],
    ["wants a login", byLogin, { psk: KEY }, "misconfigured", "config_error", /wants a username/],
    [
      "wants a password and gets a certificate's login",
      byLogin,
      tlsFields,
      "misconfigured",
      "config_error",
      /EAP MSCHAPv2, and these fields/,
    ],
    ["wants a login by certificate", byTls(), login, "misconfigured", "config_error", /EAP TLS, and these fields/],
    [
      "does not know the certificate of the login",
      byTls({ clientCa: foreignAuthority.certPem, version: "TLSv1.2" }),
      tlsFields,
      "auth-failed",
      "auth_failed",
      /refused the username or certificate/,
    ],
    [
      "has a login server that no trusted authority has signed",
      byTls({ certificate: makeCertificate({ commonName: "gw", names: ["127.0.0.1"], issuer: foreignAuthority }) }),
      tlsFields,
      "cert-invalid",
      "cert_error",
      /login server's certificate is signed by an unknown authority/,
    ],
    [
      "is proven by the login alone, for another name",
      { ...byTls({ certificate: loginServerCertificate }), hidesProof: true },
      tlsFields,
      "cert-invalid",
      "cert_error",
      /login server's certificate is for another name than 127.0.0.1/,
    ],
    [
      "proves nothing before the password",
      { ...byLogin, hidesProof: true },
      login,
      "cert-invalid",
      "cert_error",
      /does not prove who it is/,
    ],
    [
      "cannot sign for its certificate",
      { ...byLogin, breaksProof: true },
      login,
      "cert-invalid",
      "cert_error",
      /does not fit its certificate/,
    ],
    ["no trusted authority has signed", byLogin, LOGIN, "cert-invalid", "cert_error", /unknown authority/],
    [
      "is another one",
      byLogin,
      { ...login, remote_id: "other.test" },
      "cert-invalid",
      "cert_error",
      /another one than remote_id/,
    ],
    [
      "proves itself with a key, and we have none",
      { login: LOGIN, sharedKey: KEY },
      login,
      "misconfigured",
      "config_error",
      /none is given/,
    ],
    [
      "wants an unsupported group",
      { sharedKey: KEY, suite: { encryption: AES_256_GCM, integrity: null, prf: PRF_SHA256, group: 22 } },
      { psk: KEY },
      "misconfigured",
      "config_error",
      /group 22/,
    ],
    [
      "has no tunnel for us",
      { sharedKey: KEY, childError: NOTIFY.tsUnacceptable },
      { psk: KEY },
      "misconfigured",
      "config_error",
      /no traffic/,
    ],
    [
      "accepts none of our algorithms for data",
      { sharedKey: KEY, childError: NOTIFY.noProposalChosen },
      { psk: KEY },
      "misconfigured",
      "config_error",
      /tunnel's data/,
    ],
    [
      "has no address for us",
      { sharedKey: KEY, childError: NOTIFY.internalAddressFailure },
      { psk: KEY },
      "misconfigured",
      "config_error",
      /no address/,
    ],
    [
      "is too busy",
      { sharedKey: KEY, childError: NOTIFY.temporaryFailure },
      { psk: KEY },
      "timeout",
      "timeout",
      /busy/,
    ],
  ])("%s", async (_name, manners, fields, verdict, category, said) => {
    const server = await serverWith(manners);
    const outcome = await check(server.port, fields);
    expect(outcome).toMatchObject({ verdict, category, message: expect.stringMatching(said) });
    // Whatever it may remember is ended: by us, or because it refused.
    const isRefusal =
      verdict === "auth-failed" || /for another login/.test(outcome.message ?? "") || server.heard.length === 0;
    expect(["delete", "broken off"].includes(server.heard.at(-1) ?? "")).toBe(!isRefusal);
  });

  it("proves itself with a key beside the login is trusted when we have it too", async () => {
    const server = await serverWith({ login: LOGIN, sharedKey: KEY });
    expect((await check(server.port, { ...LOGIN, psk: KEY })).verdict).toBe("ok");
  });

  it.each([
    [0, "server_not_connected", "No answer on UDP port"],
    [1, "timeout", "silent since"],
    [2, "timeout", "silent since"],
    [3, "timeout", "silent since"],
  ])("is silent from its answer %i on", async (deafFrom, category, words) => {
    const server = await serverWith({ ...byLogin, deafFrom });
    const outcome = await check(server.port, login, 1_500);
    expect(outcome).toMatchObject({ verdict: "timeout", category, message: expect.stringContaining(words) });
  });

  it("asks for another group and is silent then has answered", async () => {
    const server = await serverWith({ sharedKey: KEY, ...otherGroup, deafFrom: 1 });
    const outcome = await check(server.port, { psk: KEY }, 1_500);
    expect(outcome).toMatchObject({
      verdict: "timeout",
      category: "timeout",
      message: expect.stringContaining("silent since"),
    });
  });

  it("asks for the group that it has been given, again and again", async () => {
    let first: Buffer | undefined;
    const insists = (_nth: number, datagram: Buffer): readonly Buffer[] => {
      first ??= datagram;
      return [first];
    };
    const server = await serverWith({ sharedKey: KEY, ...otherGroup, instead: insists });
    const outcome = await check(server.port, { psk: KEY }, 1_500);
    expect(outcome).toMatchObject({
      verdict: "handshake-failed",
      message: expect.stringContaining("goes on asking"),
    });
  });

  it("carries nothing is stuck, and is left in order", async () => {
    const server = await serverWith({ sharedKey: KEY, isCut: true });
    expect(await check(server.port, { psk: KEY }, 1_500)).toMatchObject({
      verdict: "stuck",
      category: "internet_stuck",
    });
    expect(server.heard.at(-1)).toBe("delete");
  });

  it("is not there is refused", async () => {
    const server = await serverWith({ sharedKey: KEY });
    const { port } = server;
    await server.close();
    servers = [];
    expect(await check(port)).toMatchObject({ verdict: "refused", category: "server_not_connected" });
  });

  it.each<readonly [string, (request: Buffer) => Buffer]>([
    ["another version", (request) => withByte(request, 4 + 17, 0x10)],
    ["a chain without an end", (request) => withByte(withByte(request, 4 + 19, 0x20), 4 + 28 + 3, 1)],
  ])("answers the first message with %s", async (_name, answer) => {
    const server = await serverWith({ sharedKey: KEY, instead: (_nth, _datagram, request) => [answer(request)] });
    const outcome = await check(server.port, { psk: KEY }, 1_500);
    expect(outcome.verdict).toMatch(/^(misconfigured|protocol-error)$/);
  });
});

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(value, at);
  return changed;
}
