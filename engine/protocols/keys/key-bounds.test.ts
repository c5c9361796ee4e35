import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { rootCertificates } from "node:tls";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../../../demo/certificates.ts";
import { must } from "../../../testkit/must.ts";
import { fuzz } from "../fuzz.suite.ts";
import {
  certificateOf,
  dhPublic,
  dsaPublic,
  ecPublic,
  ecPublicOn,
  integer,
  nested,
  octets,
  oddNumber,
  oid,
  rsaPrivate,
  rsaPublic,
  sequence,
} from "./hostile-keys.suite.ts";
import { bitsOf, boundCertificate, boundCrl, boundPrivateKey, boundPublicKey, KeyBoundError } from "./key-bounds.ts";
import { readPem, writePem } from "./pem.ts";

const bytesOf = (pem: string): Buffer => readPem(pem)[0]?.der ?? Buffer.alloc(0);

describe("bounds of keys and certificates", () => {
  it("let every public authority pass", () => {
    const kinds = rootCertificates.map((pem) => boundCertificate(bytesOf(pem)).kind);
    expect(kinds.length).toBeGreaterThan(100);
    expect(new Set(kinds)).toEqual(new Set(["rsa", "ec"]));
  });

  const keys: readonly [string, () => { publicKey: KeyObject; privateKey: KeyObject }][] = [
    ["RSA", () => generateKeyPairSync("rsa", { modulusLength: 2_048 })],
    ["RSA-PSS", () => generateKeyPairSync("rsa-pss", { modulusLength: 2_048 })],
    ["DSA", () => generateKeyPairSync("dsa", { modulusLength: 1_024, divisorLength: 160 })],
    ["P-256", () => generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["P-521", () => generateKeyPairSync("ec", { namedCurve: "P-521" })],
    ["secp256k1", () => generateKeyPairSync("ec", { namedCurve: "secp256k1" })],
    ["brainpoolP384r1", () => generateKeyPairSync("ec", { namedCurve: "brainpoolP384r1" })],
    ["Ed25519", () => generateKeyPairSync("ed25519")],
    ["Ed448", () => generateKeyPairSync("ed448")],
  ];
  it.each(keys)("let %s pass, in every form of PEM", (_name, generate) => {
    const { publicKey, privateKey } = generate();
    const kind = boundPublicKey(publicKey.export({ type: "spki", format: "der" })).kind;
    expect(boundPrivateKey(privateKey.export({ type: "pkcs8", format: "der" }), "PRIVATE KEY").kind).toBe(kind);
    if (privateKey.asymmetricKeyType === "rsa") {
      expect(boundPrivateKey(privateKey.export({ type: "pkcs1", format: "der" }), "RSA PRIVATE KEY").modulusBits).toBe(
        2_048,
      );
    }
    if (kind === "ec") boundPrivateKey(privateKey.export({ type: "sec1", format: "der" }), "EC PRIVATE KEY");
  });

  it("let moduli of 8,192 bits pass, and exponents of 64", () => {
    const exponent = oddNumber(64);
    expect(boundPublicKey(rsaPublic(8_192, exponent))).toEqual({ kind: "rsa", modulusBits: 8_192 });
    expect(boundPrivateKey(rsaPrivate(8_192), "RSA PRIVATE KEY").modulusBits).toBe(8_192);
    expect(boundPublicKey(dsaPublic(8_192)).modulusBits).toBe(8_192);
    expect(boundPublicKey(dhPublic(8_192)).modulusBits).toBe(8_192);
  });

  it.each<[string, () => unknown, string]>([
    ["RSA of 16,384 bits", () => boundPublicKey(rsaPublic(16_384)), "an RSA modulus of 16384 bits; at most 8192"],
    ["RSA of 8,200 bits", () => boundPublicKey(rsaPublic(8_200)), "an RSA modulus of 8200 bits"],
    [
      "a public exponent of 2,048 bits",
      () => boundPublicKey(rsaPublic(2_048, oddNumber(2_048))),
      "exponent of 2048 bits; at most 64",
    ],
    ["a public exponent of 72 bits", () => boundPublicKey(rsaPublic(2_048, oddNumber(72))), "exponent of 72 bits"],
    [
      "a private key of 16,384 bits",
      () => boundPrivateKey(rsaPrivate(16_384), "RSA PRIVATE KEY"),
      "modulus of 16384 bits",
    ],
    [
      "a private exponent of 80,000 bits",
      () => boundPrivateKey(rsaPrivate(2_048, { exponentBits: 80_000 }), "RSA PRIVATE KEY"),
      "private exponent of 80000 bits; at most 2048",
    ],
    [
      "primes of 80,000 bits",
      () => boundPrivateKey(rsaPrivate(2_048, { partBits: 20_000 }), "RSA PRIVATE KEY"),
      "a part of an RSA key of 20000 bits",
    ],
    [
      "the same within PKCS #8",
      () => boundPrivateKey(pkcs8(rsaPrivate(16_384)), "PRIVATE KEY"),
      "modulus of 16384 bits",
    ],
    ["DSA of 10,000 bits", () => boundPublicKey(dsaPublic(10_000)), "a DSA modulus of 10000 bits; at most 8192"],
    ["a q of DSA as long as its p", () => boundPublicKey(dsaPublic(4_096, 4_096)), "the q of a DSA key of 4096 bits"],
    ["DH of 16,384 bits", () => boundPublicKey(dhPublic(16_384)), "a DH modulus of 16384 bits; at most 8192"],
    [
      "a curve by its own numbers",
      () => boundPublicKey(ecPublic("P-256", "explicit")),
      "an elliptic curve by its own numbers",
    ],
    [
      "a curve over a binary field, sect571r1",
      () => boundPublicKey(ecPublicOn("1.3.132.0.39")),
      "an elliptic curve that is not known (1.3.132.0.39)",
    ],
    [
      "a kind of key that is not known",
      () => boundPublicKey(sequence(sequence(oid("1.2.3.4")), Buffer.from([3, 2, 0, 1]))),
      "not known (1.2.3.4)",
    ],
    [
      "a certificate with such a key",
      () => boundCertificate(certificateOf({ spki: rsaPublic(16_384) })),
      "an RSA modulus of 16384 bits",
    ],
    ["a certificate nested 10,000 deep", () => boundCertificate(nested(4_000)), "nested deeper than 32 levels"],
    [
      "a certificate of 20,000 values",
      () => boundCertificate(sequence(Buffer.alloc(60_000, integer(1)))),
      "of more than 10000 values",
    ],
    [
      "a certificate of 1 MB",
      () => boundCertificate(sequence(octets(Buffer.alloc(1_000_000)))),
      "bytes; at most 65536",
    ],
    [
      "a key of 1 MB",
      () => boundPrivateKey(sequence(octets(Buffer.alloc(1_000_000))), "PRIVATE KEY"),
      "bytes; at most 16384",
    ],
    ["a revocation list of 2 MB", () => boundCrl(sequence(octets(Buffer.alloc(2_000_000)))), "bytes; at most 1048576"],
    [
      "a revocation list of 300,000 values",
      () => boundCrl(sequence(Buffer.alloc(900_000, Buffer.from([2, 1, 1])))),
      "of more than 200000 values",
    ],
  ])("refuse %s, with what was found and the limit", (_name, bound, words) => {
    expect(bound).toThrow(KeyBoundError);
    expect(bound).toThrow(words);
  });

  it("count bits as openssl does", () => {
    for (const hex of ["00", "01", "ff", "0080", "010001", "7fff", "00ffff"]) {
      expect(bitsOf(Buffer.from(hex, "hex"))).toBe(Number.parseInt(hex, 16).toString(2).replace(/^0$/, "").length);
    }
  });

  const good = [
    certificateOf({ spki: rsaPublic(2_048) }),
    certificateOf({ spki: ecPublic("P-256", "named") }),
    certificateOf({ spki: ecPublic("P-521", "explicit") }),
    certificateOf({ spki: dsaPublic(2_048) }),
    bytesOf(makeCertificate({ commonName: "a.rig", names: ["a.rig", "192.0.2.1"] }).certPem),
    rsaPrivate(1_024),
    pkcs8(rsaPrivate(1_024)),
    createPrivateKey(makeCertificate({ commonName: "b.rig" }).keyPem).export({ type: "sec1", format: "der" }),
    dhPublic(1_024),
    nested(20),
  ];
  const forms = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"] as const;
  const readers = [
    boundCertificate,
    boundCrl,
    boundPublicKey,
    ...forms.map((form) => (der: Buffer) => boundPrivateKey(der, form)),
  ];
  const change = fc.tuple(fc.nat(1 << 20), fc.nat(255), fc.nat(2));
  fuzz(
    "take mutated files, or refuse them in their own words",
    [fc.nat(good.length - 1), fc.nat(readers.length - 1), fc.array(change, { maxLength: 6 })],
    (which, reader, changes) => refusesOrTakes(readers[reader], mutated(good[which] ?? Buffer.alloc(0), changes)),
  );
  fuzz(
    "take any bytes, or refuse them",
    [fc.nat(readers.length - 1), fc.uint8Array({ maxLength: 64 })],
    (reader, bytes) => refusesOrTakes(readers[reader], Buffer.from(bytes)),
  );
});

describe("PEM", () => {
  const certificate = makeCertificate({ commonName: "c.rig" });
  it("is read and written, with text and other blocks around it", () => {
    const [one, two] = readPem(
      `Bag Attributes\n  x: y\n${certificate.certPem}\r\n${certificate.keyPem.replaceAll("\n", "\r\n")}rest`,
    );
    expect([one?.label, two?.label]).toEqual(["CERTIFICATE", "PRIVATE KEY"]);
    expect(writePem("CERTIFICATE", one?.der ?? Buffer.alloc(0))).toBe(certificate.certPem);
  });
  it("says what is encrypted by a header", () => {
    const text =
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----";
    expect(readPem(text)).toEqual([{ label: "RSA PRIVATE KEY", der: Buffer.alloc(3), isEncrypted: true }]);
  });
  it("is read in one go, whatever begins and never ends", () => {
    expect(readPem("-----BEGIN A-----".repeat(60_000))).toEqual([]);
    expect(readPem("-----BEGIN é-----".repeat(60_000))).toEqual([]);
    expect(readPem("-----BEGIN A-----\n-----END A-----\n".repeat(60_000))).toHaveLength(1_024);
  });
  const pieces = ["-----BEGIN ", "-----", "-----END ", "CERTIFICATE", "AAAA", "\n", ":", "é"] as const;
  fuzz("is read out of any text", [fc.array(fc.constantFrom(...pieces), { maxLength: 30 })], (parts) => {
    const blocks = readPem(parts.join(""));
    must(blocks.length <= parts.length, "more blocks than pieces");
  });
});

function pkcs8(rsa: Buffer): Buffer {
  return sequence(integer(0), sequence(oid("1.2.840.113549.1.1.1"), Buffer.from([5, 0])), octets(rsa));
}

function mutated(bytes: Buffer, changes: readonly (readonly [number, number, number])[]): Buffer {
  let changed = Buffer.from(bytes);
  for (const [place, value, kind] of changes) {
    const at = place % Math.max(1, changed.length);
    if (kind === 0) changed[at] = value;
    else if (kind === 1) changed = Buffer.concat([changed.subarray(0, at), Buffer.from([value]), changed.subarray(at)]);
    else changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + 1 + (value % 8))]);
  }
  return changed;
}

function refusesOrTakes(read: ((bytes: Buffer) => unknown) | undefined, bytes: Buffer): void {
  try {
    read?.(bytes);
  } catch (error) {
    must(error instanceof KeyBoundError && error.message.length < 200, `not a refusal: ${error}`);
  }
}
