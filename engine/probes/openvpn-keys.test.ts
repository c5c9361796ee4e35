/** OpenVPN with keys and servers that would cost too much: client certificates in PKCS #12, large keys, groups of a server's choice. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { type OpenvpnServer, openOpenvpnServer, type ServerOptions } from "../../demo/tunnels/openvpn-server.ts";
import type { Outcome } from "../contract/probe.ts";
import type { ForeignKey, KeyOpener } from "../key-opener/key-opener.ts";
import { openKey } from "../key-opener/open-key.ts";
import { classify } from "../net/classify.ts";
import {
  certificateOf,
  certificatePem,
  integer,
  LARGE_KEY,
  oddNumber,
  type Pkcs12,
  pkcs12Of,
  rsaPrivate,
  rsaPublic,
  sequence,
} from "../protocols/keys/hostile-keys.suite.ts";
import { readPem, writePem } from "../protocols/keys/pem.ts";
import { loopbackTransport, makeCheck } from "../transport/peers.suite.ts";
import { openvpn } from "./openvpn.ts";

const probe = await openvpn.load();

const authority = makeAuthority();
const certificate = makeCertificate({ commonName: "vpn.rig", names: ["vpn.rig"], issuer: authority });
const client = makeCertificate({ commonName: "client.rig", issuer: authority });
const TLS = { cert: certificate.certPem, key: certificate.keyPem };

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

const transport = loopbackTransport({ tunnelTargets: ["icmp:1.1.1.1"] });

/** What the process does, in this one: nothing that is given to it here takes long. */
const opener: KeyOpener = { open: async (key) => openKey(key) };

interface Checked extends Outcome {
  readonly phases: readonly string[];
}

async function check(
  port: number,
  lines: readonly string[],
  keyOpener: KeyOpener | undefined = opener,
): Promise<Checked> {
  const rig = makeCheck(transport);
  const ca = `<ca>\n${authority.certPem}\n</ca>`;
  const config = ["client", `remote 127.0.0.1 ${port}`, ca, ...lines, ""].join("\n");
  try {
    const settings = openvpn.settings.parse({ config });
    return { ...(await probe.run(settings, { ...rig.context, keyOpener })), phases: rig.phases };
  } catch (error) {
    return { ...classify(error, null), phases: rig.phases };
  }
}

const derOf = (pem: string): Buffer => readPem(pem)[0]?.der ?? Buffer.alloc(0);
function pkcs12(overrides: Partial<Pkcs12> = {}): string {
  const own = {
    key: client.key.export({ type: "pkcs8", format: "der" }),
    certificates: [authority, client].map(({ certPem }) => derOf(certPem)),
  };
  return `<pkcs12>\n${pkcs12Of({ ...own, ...overrides })
    .toString("base64")
    .replace(/.{64}/g, "$&\n")}\n</pkcs12>`;
}

describe("a profile with PKCS #12", () => {
  it("shows the server the certificate in it, wherever that stands among the others", async () => {
    const server = await serverWith({ asksForCertificate: true });
    expect((await check(server.port, [pkcs12()])).verdict).toBe("ok");
    expect(server.heard).toContain("certificate of client.rig");
  });

  it("needs no other authority than those in it", async () => {
    const server = await serverWith();
    const rig = makeCheck(transport);
    const settings = openvpn.settings.parse({ config: `client\nremote 127.0.0.1 ${server.port}\n${pkcs12()}` });
    expect((await probe.run(settings, { ...rig.context, keyOpener: opener })).verdict).toBe("ok");
  });

  it("is opened once for all checks of a monitor", async () => {
    const server = await serverWith();
    const asked: ForeignKey[] = [];
    const counting: KeyOpener = {
      open: async (key) => {
        asked.push(key);
        return openKey(key);
      },
    };
    const config = `client\nremote 127.0.0.1 ${server.port}\n${pkcs12()}`;
    const settings = openvpn.settings.parse({ config });
    for (let checks = 0; checks < 3; checks++) {
      expect((await probe.run(settings, { ...makeCheck(transport).context, keyOpener: counting })).verdict).toBe("ok");
    }
    expect(asked).toHaveLength(1);
  });

  const other = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" });
  it.each<[string, string, string]>([
    ["under a password", pkcs12({ password: "secret" }), "<pkcs12> holds a PKCS #12 file with a password"],
    [
      "of a key of another certificate",
      pkcs12({ key: other }),
      "<pkcs12> holds a key that belongs to none of its certificates",
    ],
    [
      "of a huge key",
      pkcs12({ key: hugeKey() }),
      "<pkcs12> holds an RSA modulus of 16384 bits; at most 8192 are accepted",
    ],
    [
      "of a certificate with a curve of its own",
      pkcs12({ certificates: [explicitCurve()] }),
      "<pkcs12> holds an elliptic curve by its own numbers",
    ],
    ["of nothing", "<pkcs12>\nAAAA\n</pkcs12>", "<pkcs12> holds a PKCS #12 file that cannot be read"],
  ])("is not tried %s", async (_name, lines, words) => {
    expect(await check(9, [lines])).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining(`Invalid VPN configuration: ${words}`),
      phases: [],
    });
  });

  it("says whose fault it is when it was not opened", async () => {
    const never: KeyOpener = { open: () => new Promise(() => {}) };
    const rig = makeCheck(transport);
    const settings = openvpn.settings.parse({ config: `client\nremote 127.0.0.1 9\n${pkcs12()}` });
    const run = probe.run(settings, { ...rig.context, keyOpener: never });
    rig.expire();
    await expect(run).rejects.toMatchObject({ verdict: "unfit" });
    const slow: KeyOpener = {
      open: async () => ({ type: "refused", refusal: { verdict: "misconfigured", words: "takes too long to open" } }),
    };
    expect(await check(9, [pkcs12()], slow)).toMatchObject({
      verdict: "misconfigured",
      message: "Invalid VPN configuration: <pkcs12> takes too long to open",
    });
    await expect(probe.run(settings, makeCheck(transport).context)).rejects.toMatchObject({ verdict: "unsupported" });
  });
});

describe("a profile with a large key", () => {
  const inline = (key: string): readonly string[] => [`<cert>\n${client.certPem}\n</cert>`, `<key>\n${key}\n</key>`];
  it("has it tried out: one whose parts do not fit is refused before the handshake", async () => {
    const outcome = await check(9, inline(writePem("RSA PRIVATE KEY", rsaPrivate(6_144))));
    expect(outcome).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringMatching(/^Invalid VPN configuration: <key> /),
      phases: [],
    });
  });
  it("still says when certificate and key do not belong together", async () => {
    const other = certificatePem({ spki: rsaPublic(4_224) });
    const outcome = await check(9, [`<cert>\n${other}\n</cert>`, `<key>\n${LARGE_KEY}\n</key>`]);
    expect(outcome).toMatchObject({
      verdict: "misconfigured",
      message: "Invalid VPN configuration: <cert> and <key> do not belong together",
    });
  });
  it("comes up with a sound one", async () => {
    const server = await serverWith({ asksForCertificate: true });
    const spki = createPublicKey(LARGE_KEY).export({ type: "spki", format: "der" });
    const own = certificatePem({ spki, subject: "large.rig", issuer: authority.commonName, signer: authority.key });
    const outcome = await check(server.port, [`<cert>\n${own}\n</cert>`, `<key>\n${LARGE_KEY}\n</key>`]);
    expect(outcome.verdict).toBe("ok");
    expect(server.heard).toContain("certificate of large.rig");
  });
});

describe("a server with a Diffie-Hellman group of its own", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const own = certificateOf({
    spki: publicKey.export({ type: "spki", format: "der" }),
    subject: "vpn.rig",
    issuer: authority.commonName,
    isAuthority: false,
    signer: authority.key,
  });
  const options = (bits: number): ServerOptions => ({
    tls: {
      cert: writePem("CERTIFICATE", own),
      key: privateKey.export({ type: "pkcs8", format: "pem" }),
      ciphers: "DHE-RSA-AES128-GCM-SHA256",
      maxVersion: "TLSv1.2",
      dhparam: writePem("DH PARAMETERS", sequence(integer(oddNumber(bits)), integer(2))),
    },
  });
  it.each([2_048, 4_096])("comes up with one of %i bits", async (bits) => {
    const server = await serverWith(options(bits));
    expect((await check(server.port, [])).verdict).toBe("ok");
  });
  it.each([4_112, 6_144, 8_192, 10_000])(
    "is refused with one of %i bits, before any of it is computed",
    async (bits) => {
      const server = await serverWith(options(bits));
      expect(await check(server.port, [])).toMatchObject({
        verdict: "handshake-failed",
        message: "The server wants a Diffie-Hellman group of more than 4096 bits",
      });
      expect(server.heard).toEqual([]);
    },
  );
  it("is not offered the large groups of TLS 1.3, also where the profile names them", async () => {
    const server = await serverWith({ tls: { ...TLS, minVersion: "TLSv1.3", ecdhCurve: "ffdhe8192" } });
    expect((await check(server.port, [])).verdict).not.toBe("ok");
    expect((await check(server.port, ["tls-groups ffdhe8192:X25519"])).verdict).not.toBe("ok");
    expect(await check(server.port, ["tls-groups ffdhe8192"])).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining("tls-groups has nothing that is supported"),
    });
  });
});

function hugeKey(): Buffer {
  const rsa = Buffer.from("300d06092a864886f70d0101010500", "hex");
  const inner = rsaPrivate(16_384);
  const octets = Buffer.concat([Buffer.from([4, 0x82, inner.length >> 8, inner.length & 0xff]), inner]);
  return sequence(integer(0), rsa, octets);
}

function explicitCurve(): Buffer {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" });
  return certificateOf({ spki: publicKey.export({ type: "spki", format: "der" }) });
}
