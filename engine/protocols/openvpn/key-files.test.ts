import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../../demo/certificates.ts";
import {
  certificateOf,
  certificatePem,
  ecPublic,
  pkcs12Of,
  rsaPrivate,
  rsaPublic,
  sequence,
} from "../keys/hostile-keys.suite.ts";
import { readPem, writePem } from "../keys/pem.ts";
import { parseOpenvpn, readConfig } from "./config.ts";
import { hasPkcs12, keyFilesOf } from "./key-files.ts";
import { settingsOfScope } from "./settings.ts";

const authority = makeAuthority();
const client = makeCertificate({ commonName: "client.rig", issuer: authority });
const own = [
  ["ca", authority.certPem],
  ["cert", client.certPem],
] as const;
const keyPem = (bits: number): string => writePem("RSA PRIVATE KEY", rsaPrivate(bits));
const pkcs12 = (macRounds: number): string => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = pair.privateKey.export({ type: "pkcs8", format: "der" });
  const certificates = [certificateOf({ spki: pair.publicKey.export({ type: "spki", format: "der" }) })];
  return pkcs12Of({ key, certificates, macRounds }).toString("base64").replace(/.{64}/g, "$&\n");
};
/** A profile has at most 5,000 lines. */
const longLines = (pem: string): string =>
  pem.replace(/([A-Za-z0-9+/]{64})\n/g, "$1").replace(/[A-Za-z0-9+/]{4000}/g, "$&\n");
const config = (...files: readonly (readonly [tag: string, text: string])[]): string =>
  ["client", "remote vpn.test-site.org", ...files.map(([tag, text]) => `<${tag}>\n${text}\n</${tag}>`)].join("\n");
const filesOf = (text: string) => {
  const [remote] = readConfig({ config: text }).servers;
  if (remote === undefined) throw new Error("no server");
  return keyFilesOf(settingsOfScope(remote.scope).tls);
};

describe("keys of a profile", () => {
  const hostile: readonly (readonly [string, string, string])[] = [
    [
      "pkcs12",
      pkcs12(150_000_000),
      "<pkcs12> holds a key derivation of 150000000 rounds; at most 1000000 are accepted in all",
    ],
    ["key", keyPem(16_384), "<key> holds an RSA modulus of 16384 bits; at most 8192 are accepted"],
    [
      "key",
      writePem("RSA PRIVATE KEY", rsaPrivate(2_048, { exponentBits: 80_000 })),
      "<key> holds an RSA private exponent of 80000 bits",
    ],
    ["ca", certificatePem({ spki: rsaPublic(16_384) }), "<ca> holds an RSA modulus of 16384 bits"],
    ["ca", certificatePem({ spki: ecPublic("P-256", "explicit") }), "<ca> holds an elliptic curve by its own numbers"],
    ["ca", writePem("X509 CERTIFICATE", certificateOf({ spki: rsaPublic(16_384) })), "<ca> holds an RSA modulus"],
    ["ca", writePem("TRUSTED CERTIFICATE", certificateOf({ spki: rsaPublic(16_384) })), "<ca> holds an RSA modulus"],
    ["ca", authority.certPem.repeat(300), "<ca> holds more than 256 certificates"],
    ["cert", certificatePem({ spki: rsaPublic(16_384) }), "<cert> holds an RSA modulus of 16384 bits"],
    ["extra-certs", certificatePem({ spki: rsaPublic(16_384) }), "<extra-certs> holds an RSA modulus of 16384 bits"],
    [
      "crl-verify",
      longLines(writePem("X509 CRL", sequence(Buffer.alloc(1_100_000)))),
      "<crl-verify> holds a revocation list of 1100005 bytes",
    ],
  ];
  it.each(hostile)("refuses what is in <%s> at the door", (tag, text, words) => {
    expect(() => parseOpenvpn({ config: config([tag, text]) })).toThrow(words);
    const within = `<connection>\nremote a.test-site.org\n<${tag}>\n${text}\n</${tag}>\n</connection>`;
    expect(() => parseOpenvpn({ config: `${config()}\n${within}` })).toThrow(words);
  });

  it("lets at the door what cannot be read at all, and says so in the check", () => {
    const files: readonly (readonly [string, string])[] = ["ca", "cert", "key"].map((tag) => [tag, "nothing"]);
    for (const tag of ["ca", "extra-certs", "crl-verify", "pkcs12"]) {
      expect(() => parseOpenvpn({ config: config(...files, [tag, "nothing"]) })).not.toThrow();
    }
    const trusted = ["ca", authority.certPem] as const;
    expect(() => filesOf(config(trusted, ["cert", client.certPem], ["key", "nothing"]))).toThrow(
      "<key> cannot be read",
    );
    expect(() => filesOf(config(trusted, ["crl-verify", "nothing"]))).toThrow("<crl-verify> cannot be read");
    expect(() => filesOf(config(["ca", "nothing"]))).toThrow("<ca> holds no certificate in PEM");
  });

  it("hands on what was looked at and nothing else", () => {
    const hidden = "-----BEGIN NONSENSE-----\nAAAA\n-----END NONSENSE-----\n";
    const files = filesOf(
      config(["ca", `${hidden}x${authority.certPem}`], ["cert", client.certPem], ["key", hidden + client.keyPem]),
    );
    expect(files.ca).toBe(authority.certPem);
    expect(readPem(files.key ?? "").map(({ label }) => label)).toEqual(["PRIVATE KEY"]);
    expect(files.untried).toBeNull();
  });

  it("has keys tried out elsewhere from 4,096 bits on, and PKCS #12 opened there", () => {
    expect(filesOf(config(...own, ["key", keyPem(4_096)])).untried).toBeNull();
    expect(filesOf(config(...own, ["key", keyPem(4_224)]))).toMatchObject({ key: null, untried: { kind: "key" } });
    expect(filesOf(config(["pkcs12", pkcs12(2_048)]))).toMatchObject({ key: null, untried: { kind: "pkcs12" } });
  });

  it("refuses keys under a password, and a chain of a hundred", () => {
    const old =
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----";
    for (const text of [old, writePem("ENCRYPTED PRIVATE KEY", Buffer.alloc(9))]) {
      expect(() => filesOf(config(...own, ["key", text]))).toThrow("<key> is encrypted");
      expect(() => parseOpenvpn({ config: config(...own, ["key", text]) })).toThrow("<key> is encrypted");
    }
    const chain = ["cert", client.certPem.repeat(100)] as const;
    expect(() => filesOf(config(["ca", authority.certPem], chain, ["key", client.keyPem]))).toThrow(
      "<cert> holds more than 32 certificates",
    );
  });

  it("tells whether there is PKCS #12", () => {
    expect(hasPkcs12({ config: config(["pkcs12", ""]) })).toBe(true);
    expect(hasPkcs12({ config: config(["ca", "<pkcs12>"]) })).toBe(false);
    expect(hasPkcs12({ config: config() })).toBe(false);
    expect(hasPkcs12({ config: "<pkcs12>" })).toBe(false);
    expect(hasPkcs12({})).toBe(false);
  });
});
