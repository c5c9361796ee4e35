/** AUTH payloads: what is signed, pre-shared keys, signatures of certificates (RFC 7296 section 2.15, RFC 7427, RFC 4754). Pure. */
import { constants, type KeyObject, sign, timingSafeEqual, verify } from "node:crypto";
import type { Hash, Prf } from "./algorithms.ts";
import type { Auth } from "./bodies.ts";
import { DER, type DerValue, encodeDer, membersOf, oidText, readDer } from "./der.ts";
import { prf } from "./keys.ts";

export const AUTH_METHOD = {
  rsa: 1,
  sharedKey: 2,
  ecdsa256: 9,
  ecdsa384: 10,
  ecdsa521: 11,
  signature: 14,
} as const;

/** What signature algorithms we understand, for SIGNATURE_HASH_ALGORITHMS: SHA2-256, -384, -512 and Identity, which is Ed25519's. */
export const SIGNATURE_HASHES = Buffer.from([0, 2, 0, 3, 0, 4, 0, 5]);

const KEY_PAD = Buffer.from("Key Pad for IKEv2");

const ECDSA: ReadonlyMap<number, Hash> = new Map([
  [AUTH_METHOD.ecdsa256, "sha256"],
  [AUTH_METHOD.ecdsa384, "sha384"],
  [AUTH_METHOD.ecdsa521, "sha512"],
]);

interface Scheme {
  readonly hash: Hash | null;
  readonly keyType: "rsa" | "ec" | "ed25519" | "ed448";
}

/** RFC 7427 appendix A, RFC 8420. */
const SCHEMES: ReadonlyMap<string, Scheme> = new Map<string, Scheme>([
  ["1.2.840.113549.1.1.5", { hash: "sha1", keyType: "rsa" }],
  ["1.2.840.113549.1.1.11", { hash: "sha256", keyType: "rsa" }],
  ["1.2.840.113549.1.1.12", { hash: "sha384", keyType: "rsa" }],
  ["1.2.840.113549.1.1.13", { hash: "sha512", keyType: "rsa" }],
  ["1.2.840.10045.4.1", { hash: "sha1", keyType: "ec" }],
  ["1.2.840.10045.4.3.2", { hash: "sha256", keyType: "ec" }],
  ["1.2.840.10045.4.3.3", { hash: "sha384", keyType: "ec" }],
  ["1.2.840.10045.4.3.4", { hash: "sha512", keyType: "ec" }],
  ["1.3.101.112", { hash: null, keyType: "ed25519" }],
  ["1.3.101.113", { hash: null, keyType: "ed448" }],
]);
const RSA_PSS = "1.2.840.113549.1.1.10";
const PSS_HASHES: ReadonlyMap<string, Hash> = new Map([
  ["1.3.14.3.2.26", "sha1"],
  ["2.16.840.1.101.3.4.2.1", "sha256"],
  ["2.16.840.1.101.3.4.2.2", "sha384"],
  ["2.16.840.1.101.3.4.2.3", "sha512"],
]);

/** What signatures of RSA are filled up by: older gateways know the first alone, RFC 8247 section 3.2 wants the second. */
export type RsaPadding = "pkcs1" | "pss";

/** Hash algorithms of RFC 7427 section 4, in the order of our choice; and AlgorithmIdentifiers with them (appendix A). */
const HASHES = [
  hashOf(2, "sha256", 32, "1", "300d06092a864886f70d01010b0500", "300a06082a8648ce3d040302"),
  hashOf(3, "sha384", 48, "2", "300d06092a864886f70d01010c0500", "300a06082a8648ce3d040303"),
  hashOf(4, "sha512", 64, "3", "300d06092a864886f70d01010d0500", "300a06082a8648ce3d040304"),
] as const;
type NamedHash = (typeof HASHES)[number];
/** Of Ed25519, which hashes by itself (RFC 8420). */
const IDENTITY_HASH = 5;
const ED25519_IDENTIFIER = "300506032b6570";

function hashOf(id: number, hash: Exclude<Hash, "sha1">, sizeBytes: number, arc: string, pkcs1: string, ec: string) {
  return { id, hash, sizeBytes, pkcs1, ec, pss: pssIdentifier(arc, sizeBytes) } as const;
}

/** RFC 8017 appendix A.2.3: the mask is made with the same hash, the salt is as long as it. @param arc last digit of 2.16.840.1.101.3.4.2.x */
function pssIdentifier(arc: string, saltBytes: number): string {
  const sequence = (...parts: readonly Buffer[]): Buffer => encodeDer(DER.sequence, Buffer.concat(parts));
  const oid = (hex: string): Buffer => encodeDer(DER.oid, Buffer.from(hex, "hex"));
  const hash = sequence(oid(`60864801650304020${arc}`), Buffer.from([5, 0]));
  const mask = sequence(oid("2a864886f70d010108"), hash);
  const salt = encodeDer(DER.integer, Buffer.from([saltBytes]));
  const parameters = sequence(encodeDer(0xa0, hash), encodeDer(0xa1, mask), encodeDer(0xa2, salt));
  return sequence(oid("2a864886f70d01010a"), parameters).toString("hex");
}

/** What a gateway says of the signatures that it takes. */
export interface TakenSignatures {
  /** Hash algorithms (RFC 7427 section 4); null: it named none, and knows the methods of RFC 7296 and RFC 4754 only. */
  readonly hashes: ReadonlySet<number> | null;
  /** AlgorithmIdentifiers as hexadecimal text (RFC 9593); null: it announced none. */
  readonly announced: readonly string[] | null;
}

/** RFC 4754 section 3: a curve and the one hash that goes with it where the gateway names none. */
const CURVES = new Map([
  ["prime256v1", { method: AUTH_METHOD.ecdsa256, hash: "sha256" }],
  ["secp384r1", { method: AUTH_METHOD.ecdsa384, hash: "sha384" }],
  ["secp521r1", { method: AUTH_METHOD.ecdsa521, hash: "sha512" }],
] as const);

/** Whether a proof can be signed with it: RSA, also where its certificate allows PSS alone, ECDSA over NIST's curves, Ed25519. */
export function maySign({ type, asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (type !== "private") return false;
  if (asymmetricKeyType === "ec") return CURVES.has(asymmetricKeyDetails?.namedCurve as "prime256v1");
  return asymmetricKeyType === "rsa" || asymmetricKeyType === "rsa-pss" || asymmetricKeyType === "ed25519";
}

/** Whether a gateway that refuses a signature of one padding may take the other: it has not said which it takes. */
export function hasOtherPadding({ asymmetricKeyType }: KeyObject, { hashes, announced }: TakenSignatures): boolean {
  return asymmetricKeyType === "rsa" && announced === null && HASHES.some(({ id }) => hashes?.has(id) === true);
}

/**
 * @param padding of RSA, where the gateway does not say which it takes
 * @returns undefined when the gateway does not know signatures of this kind
 */
export function signatureAuth(
  key: KeyObject,
  octets: Buffer,
  taken: TakenSignatures,
  padding: RsaPadding,
): Auth | undefined {
  const { hashes } = taken;
  const known = HASHES.filter(({ id }) => hashes?.has(id) === true);
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return hashes?.has(IDENTITY_HASH) === true ? named(ED25519_IDENTIFIER, sign(null, octets, key)) : undefined;
    case "rsa":
      return (
        rsaAuth(key, octets, known, paddingsOf(padding), taken) ?? {
          method: AUTH_METHOD.rsa,
          data: sign("sha1", octets, key),
        }
      );
    case "rsa-pss":
      return rsaAuth(
        key,
        octets,
        known.filter((each) => isAllowed(each, key)),
        ["pss"],
        taken,
      );
    default:
      return curveAuth(key, octets, known);
  }
}

function paddingsOf(preferred: RsaPadding): readonly RsaPadding[] {
  return preferred === "pss" ? ["pss", "pkcs1"] : ["pkcs1", "pss"];
}

/** The first that is announced; without an announcement the first. @returns undefined where none can be named */
function rsaAuth(
  key: KeyObject,
  octets: Buffer,
  hashes: readonly NamedHash[],
  paddings: readonly RsaPadding[],
  { announced }: TakenSignatures,
): Auth | undefined {
  const possible = paddings.flatMap((padding) => hashes.map((hash) => ({ ...hash, padding, name: hash[padding] })));
  const chosen = possible.find(({ name }) => announced?.includes(name) === true) ?? possible[0];
  if (chosen === undefined) return undefined;
  const { name, hash, sizeBytes } = chosen;
  if (chosen.padding === "pkcs1") return named(name, sign(hash, octets, key));
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: sizeBytes };
  return named(name, sign(hash, octets, pss));
}

/** A key of PSS alone may say which hash it goes with, and how long the salt must be at least (RFC 4055 section 3.1). */
function isAllowed({ hash, sizeBytes }: NamedHash, { asymmetricKeyDetails: rules }: KeyObject): boolean {
  const isHash = rules?.hashAlgorithm === undefined || rules.hashAlgorithm === hash;
  const isMask = rules?.mgf1HashAlgorithm === undefined || rules.mgf1HashAlgorithm === hash;
  return isHash && isMask && (rules?.saltLength ?? 0) <= sizeBytes;
}

function curveAuth(key: KeyObject, octets: Buffer, hashes: readonly NamedHash[]): Auth | undefined {
  const curve = CURVES.get(key.asymmetricKeyDetails?.namedCurve as "prime256v1");
  if (curve === undefined) return undefined;
  const chosen = hashes.find(({ hash }) => hash === curve.hash) ?? hashes[0];
  return chosen === undefined
    ? { method: curve.method, data: sign(curve.hash, octets, { key, dsaEncoding: "ieee-p1363" }) }
    : named(chosen.ec, sign(chosen.hash, octets, key));
}

/** RFC 7427 section 3: length, AlgorithmIdentifier, signature. */
function named(identifier: string, signature: Buffer): Auth {
  const bytes = Buffer.from(identifier, "hex");
  return { method: AUTH_METHOD.signature, data: Buffer.concat([Buffer.from([bytes.length]), bytes, signature]) };
}

/**
 * @param message the IKE_SA_INIT message of the side that proves itself, as it was sent last
 * @param nonce the other side's
 * @param identity body of its ID payload
 */
export function signedOctets(
  message: Buffer,
  nonce: Buffer,
  algorithm: Prf,
  proofKey: Buffer,
  identity: Buffer,
): Buffer {
  return Buffer.concat([message, nonce, prf(algorithm, proofKey, identity)]);
}

export function sharedKeyAuth(algorithm: Prf, secret: Uint8Array, octets: Buffer): Buffer {
  return prf(algorithm, prf(algorithm, secret, KEY_PAD), octets);
}

export function isSharedKeyAuth(algorithm: Prf, secret: Uint8Array, octets: Buffer, { data }: Auth): boolean {
  const expected = sharedKeyAuth(algorithm, secret, octets);
  return data.length === expected.length && timingSafeEqual(expected, data);
}

/** @returns false also for methods that we do not know */
export function isSignature({ method, data }: Auth, octets: Buffer, key: KeyObject): boolean {
  try {
    if (method === AUTH_METHOD.rsa) return key.asymmetricKeyType === "rsa" && verify("sha1", octets, key, data);
    const hash = ECDSA.get(method);
    // Raw r and s, one behind the other (RFC 4754 section 7).
    if (hash !== undefined) {
      return key.asymmetricKeyType === "ec" && verify(hash, octets, { key, dsaEncoding: "ieee-p1363" }, data);
    }
    return method === AUTH_METHOD.signature && isNamedSignature(data, octets, key);
  } catch {
    // A key or a signature that OpenSSL cannot take.
    return false;
  }
}

/** RFC 7427 section 3: length, AlgorithmIdentifier, signature. */
function isNamedSignature(data: Buffer, octets: Buffer, key: KeyObject): boolean {
  const identifierBytes = data[0] ?? 0;
  if (data.length <= 1 + identifierBytes) return false;
  const [oid, parameters] = membersOf(data.subarray(1, 1 + identifierBytes), DER.sequence) ?? [];
  if (oid?.tag !== DER.oid) return false;
  const signature = data.subarray(1 + identifierBytes);
  const name = oidText(oid.content);
  if (name === RSA_PSS) return isPss(parameters, octets, key, signature);
  const scheme = SCHEMES.get(name);
  return (
    scheme !== undefined && key.asymmetricKeyType === scheme.keyType && verify(scheme.hash, octets, key, signature)
  );
}

/** RFC 8017 appendix A.2.3: [0] hash, [1] mask generation, which follows the hash, [2] salt length. */
function isPss(parameters: DerValue | undefined, octets: Buffer, key: KeyObject, signature: Buffer): boolean {
  if (key.asymmetricKeyType !== "rsa" && key.asymmetricKeyType !== "rsa-pss") return false;
  const members = readDer(parameters?.content ?? Buffer.alloc(0)) ?? [];
  const hashOid = membersOf(members.find(({ tag }) => tag === 0xa0)?.content ?? Buffer.alloc(0), DER.sequence)?.[0];
  const hash = hashOid === undefined ? "sha1" : PSS_HASHES.get(oidText(hashOid.content));
  const salt = readDer(members.find(({ tag }) => tag === 0xa2)?.content ?? Buffer.alloc(0))?.[0]?.content;
  if (hash === undefined) return false;
  const saltLength = salt === undefined ? 20 : salt.readUIntBE(0, Math.min(salt.length, 2));
  return verify(hash, octets, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, signature);
}
