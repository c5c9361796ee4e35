import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AUTH_METHOD, hasOtherPadding, isSignature, maySign, signatureAuth, type TakenSignatures } from "./auth.ts";

const octets = Buffer.from("what both sides have said");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const p521 = generateKeyPairSync("ec", { namedCurve: "P-521" });
const ed25519 = generateKeyPairSync("ed25519");

/** RFC 7427 appendix A, RFC 8420 appendix A. */
const IDENTIFIER = {
  sha1Rsa: "300d06092a864886f70d0101050500",
  sha256Rsa: "300d06092a864886f70d01010b0500",
  sha384Rsa: "300d06092a864886f70d01010c0500",
  sha512Rsa: "300d06092a864886f70d01010d0500",
  ecdsaSha256: "300a06082a8648ce3d040302",
  ecdsaSha384: "300a06082a8648ce3d040303",
  ecdsaSha512: "300a06082a8648ce3d040304",
  pssSha256:
    "304106092a864886f70d01010a3034a00f300d06096086480165030402010500a11c301a06092a864886f70d010108300d06096086480165030402010500a203020120",
  ed25519: "300506032b6570",
} as const;

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

function named(identifier: string, signature: Buffer): Buffer {
  const bytes = Buffer.from(identifier, "hex");
  return Buffer.concat([Buffer.from([bytes.length]), bytes, signature]);
}

const CASES: readonly (readonly [string, number, Buffer, KeyObject])[] = [
  ["RSA with SHA-1", AUTH_METHOD.rsa, sign("sha1", octets, rsa.privateKey), rsa.publicKey],
  ["ECDSA P-256", AUTH_METHOD.ecdsa256, raw("sha256", p256.privateKey), p256.publicKey],
  ["ECDSA P-384", AUTH_METHOD.ecdsa384, raw("sha384", p384.privateKey), p384.publicKey],
  ["ECDSA P-521", AUTH_METHOD.ecdsa521, raw("sha512", p521.privateKey), p521.publicKey],
  [
    "named RSA SHA-1",
    AUTH_METHOD.signature,
    named(IDENTIFIER.sha1Rsa, sign("sha1", octets, rsa.privateKey)),
    rsa.publicKey,
  ],
  [
    "named RSA SHA-256",
    AUTH_METHOD.signature,
    named(IDENTIFIER.sha256Rsa, sign("sha256", octets, rsa.privateKey)),
    rsa.publicKey,
  ],
  [
    "named RSA SHA-384",
    AUTH_METHOD.signature,
    named(IDENTIFIER.sha384Rsa, sign("sha384", octets, rsa.privateKey)),
    rsa.publicKey,
  ],
  [
    "named RSA SHA-512",
    AUTH_METHOD.signature,
    named(IDENTIFIER.sha512Rsa, sign("sha512", octets, rsa.privateKey)),
    rsa.publicKey,
  ],
  [
    "named RSA-PSS",
    AUTH_METHOD.signature,
    named(IDENTIFIER.pssSha256, sign("sha256", octets, { key: rsa.privateKey, ...pss })),
    rsa.publicKey,
  ],
  [
    "named ECDSA SHA-256",
    AUTH_METHOD.signature,
    named(IDENTIFIER.ecdsaSha256, sign("sha256", octets, p256.privateKey)),
    p256.publicKey,
  ],
  [
    "named ECDSA SHA-384",
    AUTH_METHOD.signature,
    named(IDENTIFIER.ecdsaSha384, sign("sha384", octets, p384.privateKey)),
    p384.publicKey,
  ],
  [
    "named ECDSA SHA-512",
    AUTH_METHOD.signature,
    named(IDENTIFIER.ecdsaSha512, sign("sha512", octets, p521.privateKey)),
    p521.publicKey,
  ],
  [
    "named Ed25519",
    AUTH_METHOD.signature,
    named(IDENTIFIER.ed25519, sign(null, octets, ed25519.privateKey)),
    ed25519.publicKey,
  ],
];

function raw(hash: string, key: KeyObject): Buffer {
  return sign(hash, octets, { key, dsaEncoding: "ieee-p1363" });
}

const ALL = new Set([1, 2, 3, 4, 5]);
const taking = (hashes: ReadonlySet<number> | null, announced: readonly string[] | null = null): TakenSignatures => ({
  hashes,
  announced,
});
const identifierOf = (data: Buffer): string => data.toString("hex", 1, 1 + data.readUInt8(0));
const pssOf = (options: Record<string, unknown> = {}) =>
  generateKeyPairSync("rsa-pss", { modulusLength: 2_048, ...options });

const free = pssOf();

describe("our own signature", () => {
  it.each([
    ["RSA", rsa, AUTH_METHOD.rsa, IDENTIFIER.sha256Rsa],
    ["P-256", p256, AUTH_METHOD.ecdsa256, IDENTIFIER.ecdsaSha256],
    ["P-384", p384, AUTH_METHOD.ecdsa384, IDENTIFIER.ecdsaSha384],
    ["P-521", p521, AUTH_METHOD.ecdsa521, IDENTIFIER.ecdsaSha512],
    ["Ed25519", ed25519, null, IDENTIFIER.ed25519],
  ] as const)(
    "by %s is by name where the gateway takes that, else in the older way",
    (_name, pair, method, identifier) => {
      expect(maySign(pair.privateKey)).toBe(true);
      const modern = signatureAuth(pair.privateKey, octets, taking(ALL), "pkcs1") ?? expect.fail("no signature");
      expect(modern.method).toBe(AUTH_METHOD.signature);
      expect(identifierOf(modern.data)).toBe(identifier);
      expect(isSignature(modern, octets, pair.publicKey)).toBe(true);
      for (const hashes of [null, new Set([1])]) {
        const older = signatureAuth(pair.privateKey, octets, taking(hashes), "pkcs1");
        expect(older?.method ?? null).toBe(method);
        if (older !== undefined) expect(isSignature(older, octets, pair.publicKey)).toBe(true);
      }
    },
  );

  it.each([
    [[4], IDENTIFIER.ecdsaSha512],
    [[3, 4], IDENTIFIER.ecdsaSha384],
    [[3, 2], IDENTIFIER.ecdsaSha256],
  ])("takes a hash of %j", (hashes, identifier) => {
    const auth = signatureAuth(p256.privateKey, octets, taking(new Set(hashes)), "pss") ?? expect.fail("no signature");
    expect(identifierOf(auth.data)).toBe(identifier);
    expect(isSignature(auth, octets, p256.publicKey)).toBe(true);
  });

  const pssSha512 = IDENTIFIER.pssSha256.replaceAll("608648016503040201", "608648016503040203").replace(/20$/, "40");
  it.each([
    ["of the padding that was chosen", "pss", [4, 3, 2], null, IDENTIFIER.pssSha256],
    ["of the other one where only that is announced", "pkcs1", [2, 3, 4], [pssSha512], pssSha512],
    [
      "of the chosen one where both are announced",
      "pkcs1",
      [2],
      [IDENTIFIER.pssSha256, IDENTIFIER.sha256Rsa],
      IDENTIFIER.sha256Rsa,
    ],
    [
      "of the chosen one where nothing of RSA is announced",
      "pkcs1",
      [2],
      [IDENTIFIER.ecdsaSha256],
      IDENTIFIER.sha256Rsa,
    ],
    ["in the older way where no hash is named", "pss", [], null, null],
  ] as const)("by RSA is %s", (_name, padding, hashes, announced, identifier) => {
    const auth =
      signatureAuth(rsa.privateKey, octets, taking(new Set(hashes), announced), padding) ?? expect.fail("none");
    expect(auth.method === AUTH_METHOD.signature ? identifierOf(auth.data) : null).toBe(identifier);
    expect(isSignature(auth, octets, rsa.publicKey)).toBe(true);
  });

  it("by a key for PSS alone is of its hash, and of no other padding", () => {
    const auth = signatureAuth(free.privateKey, octets, taking(ALL), "pkcs1") ?? expect.fail("no signature");
    expect(maySign(free.privateKey)).toBe(true);
    expect(identifierOf(auth.data)).toBe(IDENTIFIER.pssSha256);
    expect(isSignature(auth, octets, free.publicKey)).toBe(true);
    const bound = pssOf({ hashAlgorithm: "sha512", mgf1HashAlgorithm: "sha512", saltLength: 64 });
    const own = signatureAuth(bound.privateKey, octets, taking(ALL), "pkcs1") ?? expect.fail("no signature");
    expect(identifierOf(own.data)).toBe(pssSha512);
    expect(isSignature(own, octets, bound.publicKey)).toBe(true);
    expect(signatureAuth(bound.privateKey, octets, taking(new Set([2, 3])), "pkcs1")).toBeUndefined();
    expect(signatureAuth(free.privateKey, octets, taking(null), "pkcs1")).toBeUndefined();
  });

  it("may be of the other padding only where the gateway leaves that open", () => {
    expect(hasOtherPadding(rsa.privateKey, taking(ALL))).toBe(true);
    expect(hasOtherPadding(rsa.privateKey, taking(null))).toBe(false);
    expect(hasOtherPadding(rsa.privateKey, taking(ALL, [IDENTIFIER.sha256Rsa]))).toBe(false);
    expect(hasOtherPadding(p256.privateKey, taking(ALL))).toBe(false);
    expect(hasOtherPadding(free.privateKey, taking(ALL))).toBe(false);
  });

  it("is made by no key of another kind", () => {
    const others = [generateKeyPairSync("ec", { namedCurve: "secp256k1" }), generateKeyPairSync("x25519")];
    expect(others.map(({ privateKey }) => maySign(privateKey))).toEqual([false, false]);
    expect(maySign(rsa.publicKey)).toBe(false);
  });
});

describe("a signature", () => {
  it.each(CASES)("by %s is taken, and no other in its place", (_name, method, data, key) => {
    expect(isSignature({ method, data }, octets, key)).toBe(true);
    expect(isSignature({ method, data }, Buffer.from("something else"), key)).toBe(false);
    for (const [, otherMethod, , otherKey] of CASES) {
      if (otherKey !== key) expect(isSignature({ method, data }, octets, otherKey)).toBe(false);
      if (otherMethod !== method) expect(isSignature({ method: otherMethod, data }, octets, key)).toBe(false);
    }
  });

  it("that is cut, empty or of an unknown kind is none", () => {
    for (const [, method, data, key] of CASES) {
      for (const cut of [0, 1, 2, 10, data.length - 1]) {
        expect(isSignature({ method, data: data.subarray(0, cut) }, octets, key)).toBe(false);
      }
    }
    const md5 = named("300d06092a864886f70d0101040500", createHash("md5").digest());
    expect(isSignature({ method: AUTH_METHOD.signature, data: md5 }, octets, rsa.publicKey)).toBe(false);
    expect(isSignature({ method: AUTH_METHOD.sharedKey, data: md5 }, octets, rsa.publicKey)).toBe(false);
  });
});
