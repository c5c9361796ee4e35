/**
 * What a foreign key, certificate or revocation list may cost, read from its DER before OpenSSL sees it: a computation of OpenSSL cannot be
 * ended, and stands in the way of everything else in its thread. Sizes by which the cost grows (with the cube of a modulus, with the length of
 * an exponent) are bounded, and so is whatever a reader has to go through. Pure: bytes in, a KeyBoundError out.
 */
import { DER, type DerValue, headerAt, membersOf, oidText, readDer } from "../ikev2/der.ts";

export const KEY_LIMITS = {
  /** Of RSA, DSA and DH: a signature of RSA takes 33 ms at this size, 0.18 s at twice the size. */
  modulusBits: 8_192,
  /** Of RSA's public exponent, as OpenSSL has it for moduli above 3,072 bits (rsa.h, OPENSSL_RSA_MAX_PUBEXP_BITS); 65537 has 17. */
  exponentBits: 64,
  /** Of DSA's q: FIPS 186-4 section 4.2 has at most 256. */
  subgroupBits: 512,
  /** An RSA key above it is tried out in another process before it is used: one whose parts do not fit takes five times as long to sign. */
  untriedModulusBits: 4_096,
  certificateBytes: 65_536,
  /** A list of some 25,000 certificates. */
  crlBytes: 1_048_576,
  keyBytes: 16_384,
  /** Values within values: certificates have 10. */
  depth: 32,
  /** Values in all of a certificate or key, and in a list of revoked certificates. */
  values: 10_000,
  crlValues: 200_000,
} as const;

/** Longer than the private scalar of any known curve, and of RFC 8032 and RFC 7748, bytes. */
const SCALAR_BYTES = 96;

/** Refused before anything is computed. The message completes "<field> has …" and holds nothing of the key. */
export class KeyBoundError extends Error {
  override readonly name = "KeyBoundError";
  /** The input is no key or file of this type at all; the caller writes the message for that. */
  readonly isUnreadable: boolean;

  constructor(message: string, isUnreadable = false) {
    const before = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = before;
    this.isUnreadable = isUnreadable;
  }
}

export interface KeyFacts {
  readonly kind: "rsa" | "dsa" | "dh" | "ec" | "other";
  /** Of the modulus; 0 where there is none. */
  readonly modulusBits: number;
}

export type KeyForm = "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" | "DSA PRIVATE KEY";

const RSA = new Set(["1.2.840.113549.1.1.1", "1.2.840.113549.1.1.7", "1.2.840.113549.1.1.10", "2.5.8.1.1"]);
/** With the older names that OpenSSL still takes (obj_mac.h: dsa, dsa_2, dsaWithSHA, dsaWithSHA1, dsaWithSHA1_2). */
const DSA = new Set(["1.2.840.10040.4.1", "1.3.14.3.2.12", "1.3.14.3.2.13", "1.2.840.10040.4.3", "1.3.14.3.2.27"]);
const DH = new Set(["1.2.840.113549.1.3.1", "1.2.840.10046.2.1"]);
const EC = new Set(["1.2.840.10045.2.1"]);
/** X25519, X448, Ed25519, Ed448: of one size. */
const EDWARDS = /^1\.3\.101\.11[0-3]$/;
/** GOST's, and NIST's of the years after 2020: of fixed sizes where they are known at all. */
const FIXED = /^(?:1\.2\.643\.|2\.16\.840\.1\.101\.3\.4\.3\.)/;
/** Over prime fields, by name: NIST's, secp256k1, Brainpool's (RFC 5639) and SM2. */
const CURVES =
  /^(?:1\.2\.840\.10045\.3\.1\.[17]|1\.3\.132\.0\.(?:10|33|34|35)|1\.3\.36\.3\.3\.2\.8\.1\.1\.(?:[1-9]|1[0-4])|1\.2\.156\.10197\.1\.301)$/;

/** [0] of TBSCertificate, and of ECPrivateKey. */
const CONTEXT_0 = 0xa0;

/** @throws KeyBoundError */
export function boundCertificate(der: Buffer): KeyFacts {
  boundSize(der.length, KEY_LIMITS.certificateBytes, "a certificate");
  const value = onlyValue(der, "a certificate");
  boundValues(value.whole, KEY_LIMITS.values, "a certificate");
  const [tbs] = membersOf(value.whole, DER.sequence) ?? [];
  const fields = tbs?.tag === DER.sequence ? (readDer(tbs.content) ?? []) : [];
  const [, , , , , key] = fields[0]?.tag === CONTEXT_0 ? fields.slice(1) : fields;
  if (key?.tag !== DER.sequence) throw unreadable("a certificate");
  return boundPublicKey(key.whole);
}

/** @param der of a CertificateList. @throws KeyBoundError */
export function boundCrl(der: Buffer): void {
  boundSize(der.length, KEY_LIMITS.crlBytes, "a revocation list");
  boundValues(onlyValue(der, "a revocation list").whole, KEY_LIMITS.crlValues, "a revocation list");
}

/** @param spki SubjectPublicKeyInfo (RFC 5280 section 4.1). @throws KeyBoundError */
export function boundPublicKey(spki: Buffer): KeyFacts {
  const [algorithm, bits] = membersOf(spki, DER.sequence) ?? [];
  const { name, parameters } = algorithmOf(algorithm);
  if (bits?.tag !== DER.bits) throw unreadable("a public key");
  const content = bits.content.subarray(1);
  if (RSA.has(name)) {
    const [modulus, exponent] = membersOf(content, DER.sequence) ?? [];
    return boundRsaPublic(modulus, exponent);
  }
  if (DSA.has(name)) return boundDsa(parameters, readDer(content)?.[0]);
  if (DH.has(name)) return boundDh(parameters, readDer(content)?.[0]);
  if (EC.has(name)) return boundCurve(parameters);
  return boundOther(name, content);
}

/** @param der of the form that the PEM label names (RFC 5958, RFC 8017 appendix A.1.2, RFC 5915). @throws KeyBoundError */
export function boundPrivateKey(der: Buffer, form: KeyForm): KeyFacts {
  boundSize(der.length, KEY_LIMITS.keyBytes, "a private key");
  const value = onlyValue(der, "a private key");
  boundValues(value.whole, KEY_LIMITS.values, "a private key");
  if (form === "RSA PRIVATE KEY") return boundRsaPrivate(value.whole);
  if (form === "EC PRIVATE KEY") return boundEcPrivate(value.whole, undefined);
  if (form === "DSA PRIVATE KEY") return boundDsaPrivate(value.whole);
  const [, algorithm, octets] = membersOf(value.whole, DER.sequence) ?? [];
  const { name, parameters } = algorithmOf(algorithm);
  if (octets?.tag !== DER.octets) throw unreadable("a private key");
  if (RSA.has(name)) return boundRsaPrivate(octets.content);
  if (EC.has(name)) return boundEcPrivate(octets.content, parameters);
  if (DSA.has(name)) return boundDsa(parameters, readDer(octets.content)?.[0]);
  if (DH.has(name)) throw new KeyBoundError("a private key of Diffie-Hellman, which signs nothing");
  return boundOther(name, octets.content);
}

/** Of an INTEGER's content, sign and zeros in front not counted. */
export function bitsOf(content: Buffer): number {
  const first = content.findIndex((byte) => byte !== 0);
  if (first < 0) return 0;
  return 8 * (content.length - first) - Math.clz32(content[first] ?? 0) + 24;
}

function boundRsaPublic(modulus: DerValue | undefined, exponent: DerValue | undefined): KeyFacts {
  const modulusBits = integerBits(modulus, "an RSA key");
  boundBits(modulusBits, KEY_LIMITS.modulusBits, "an RSA modulus");
  boundBits(integerBits(exponent, "an RSA key"), KEY_LIMITS.exponentBits, "an RSA public exponent");
  return { kind: "rsa", modulusBits };
}

/** Every part is an exponent or a modulus of a computation: none may be larger than what it belongs to. */
function boundRsaPrivate(der: Buffer): KeyFacts {
  const [version, modulus, exponent, ...parts] = membersOf(der, DER.sequence) ?? [];
  if (bitsOf(version?.content ?? Buffer.from([1])) !== 0 || parts.length !== 6) {
    throw parts.length > 6 ? new KeyBoundError("an RSA key of more than two primes") : unreadable("an RSA key");
  }
  const facts = boundRsaPublic(modulus, exponent);
  const [d = 0, ...others] = parts.map((part) => integerBits(part, "an RSA key"));
  boundBits(d, facts.modulusBits, "an RSA private exponent");
  // Primes of different sizes are allowed, as long as they are about half of it.
  for (const bits of others) boundBits(bits, Math.ceil(facts.modulusBits / 2) + 64, "a part of an RSA key");
  return facts;
}

function boundEcPrivate(der: Buffer, outside: DerValue | undefined): KeyFacts {
  const [, scalar, ...rest] = membersOf(der, DER.sequence) ?? [];
  if (scalar?.tag !== DER.octets) throw unreadable("an EC key");
  boundSize(scalar.content.length, SCALAR_BYTES, "the number of an EC key");
  const inside = rest.find(({ tag }) => tag === CONTEXT_0);
  if (inside !== undefined) boundCurve(readDer(inside.content)?.[0]);
  if (inside === undefined || outside !== undefined) boundCurve(outside);
  return { kind: "ec", modulusBits: 0 };
}

function boundCurve(parameters: DerValue | undefined): KeyFacts {
  if (parameters?.tag !== DER.oid) throw new KeyBoundError("an elliptic curve by its own numbers instead of its name");
  const name = oidText(parameters.content);
  if (!CURVES.test(name)) throw new KeyBoundError(`an elliptic curve that is not known (${name})`);
  return { kind: "ec", modulusBits: 0 };
}

/** Without parameters they are the issuer's (RFC 3279 section 2.3.2), which were checked as well. */
function boundDsa(parameters: DerValue | undefined, key: DerValue | undefined): KeyFacts {
  const [p, q, g] = parameters?.tag === DER.sequence ? (readDer(parameters.content) ?? []) : [];
  if (p === undefined) {
    boundBits(integerBits(key, "a DSA key"), KEY_LIMITS.modulusBits, "a DSA key");
    return { kind: "dsa", modulusBits: 0 };
  }
  return boundDsaParts(p, q, [g, key]);
}

function boundDsaPrivate(der: Buffer): KeyFacts {
  const [, p, q, ...others] = membersOf(der, DER.sequence) ?? [];
  return boundDsaParts(p, q, others);
}

function boundDsaParts(
  p: DerValue | undefined,
  q: DerValue | undefined,
  others: readonly (DerValue | undefined)[],
): KeyFacts {
  const modulusBits = integerBits(p, "a DSA key");
  boundBits(modulusBits, KEY_LIMITS.modulusBits, "a DSA modulus");
  boundBits(integerBits(q, "a DSA key"), KEY_LIMITS.subgroupBits, "the q of a DSA key");
  for (const part of others) boundBits(integerBits(part, "a DSA key"), modulusBits, "a part of a DSA key");
  return { kind: "dsa", modulusBits };
}

function boundDh(parameters: DerValue | undefined, key: DerValue | undefined): KeyFacts {
  const [p, ...others] = parameters?.tag === DER.sequence ? (readDer(parameters.content) ?? []) : [];
  const modulusBits = integerBits(p, "a DH key");
  boundBits(modulusBits, KEY_LIMITS.modulusBits, "a DH modulus");
  for (const part of [...others, key]) {
    if (part?.tag === DER.integer) boundBits(bitsOf(part.content), modulusBits, "a part of a DH key");
  }
  return { kind: "dh", modulusBits };
}

function boundOther(name: string, content: Buffer): KeyFacts {
  if (EDWARDS.test(name)) boundSize(content.length, SCALAR_BYTES, "a key of RFC 8032");
  else if (!FIXED.test(name)) throw new KeyBoundError(`a key of a kind that is not known (${name})`);
  return { kind: "other", modulusBits: 0 };
}

function algorithmOf(value: DerValue | undefined): { readonly name: string; readonly parameters?: DerValue } {
  const [oid, parameters] = value?.tag === DER.sequence ? (readDer(value.content) ?? []) : [];
  if (oid?.tag !== DER.oid) throw unreadable("a key");
  return { name: oidText(oid.content), ...(parameters !== undefined && { parameters }) };
}

/** The one value that the bytes begin with: `TRUSTED CERTIFICATE` has more behind it, which is left out. */
function onlyValue(der: Buffer, what: string): DerValue {
  const header = der.length === 0 ? undefined : headerAt(der, 0);
  if (header === undefined || der[0] !== DER.sequence) throw unreadable(what);
  const endAt = header.headerBytes + header.contentBytes;
  const content = der.subarray(header.headerBytes, endAt);
  return { tag: DER.sequence, content, whole: der.subarray(0, endAt) };
}

/** Goes through all values, with a list of ends instead of calling itself. */
function boundValues(der: Buffer, most: number, what: string): void {
  const ends: number[] = [];
  let values = 0;
  for (let at = 0; at < der.length; ) {
    while (ends.length > 0 && (ends.at(-1) ?? 0) <= at) ends.pop();
    const header = headerAt(der, at);
    if (header === undefined) throw unreadable(what);
    values += 1;
    if (values > most) throw new KeyBoundError(`${what} of more than ${most} values`);
    const contentAt = at + header.headerBytes;
    const endAt = contentAt + header.contentBytes;
    if (endAt > (ends.at(-1) ?? der.length)) throw unreadable(what);
    const isConstructed = ((der[at] ?? 0) & 0x20) !== 0;
    if (isConstructed) ends.push(endAt);
    if (ends.length > KEY_LIMITS.depth)
      throw new KeyBoundError(`${what} nested deeper than ${KEY_LIMITS.depth} levels`);
    at = isConstructed ? contentAt : endAt;
  }
}

function integerBits(value: DerValue | undefined, what: string): number {
  if (value?.tag !== DER.integer) throw unreadable(what);
  return bitsOf(value.content);
}

function boundBits(bits: number, most: number, what: string): void {
  if (bits > most) throw new KeyBoundError(`${what} of ${bits} bits; at most ${most} are accepted`);
}

function boundSize(bytes: number, most: number, what: string): void {
  if (bytes > most) throw new KeyBoundError(`${what} of ${bytes} bytes; at most ${most} are accepted`);
}

function unreadable(what: string): KeyBoundError {
  return new KeyBoundError(`${what} that cannot be read`, true);
}
