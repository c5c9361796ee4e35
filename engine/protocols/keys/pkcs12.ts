/**
 * PKCS #12 (RFC 7292): a key and certificates under a password. Opened here and not by OpenSSL, because what a file costs is only known as
 * far as it has been opened: within what is encrypted there may be more that is. The rounds of all derivations count together, and each is
 * refused before it is computed. What is known: PBES2 with PBKDF2 or scrypt and AES or 3DES (RFC 8018, RFC 7914), the older scheme with
 * 3DES (RFC 7292 appendix C), MACs by the derivation of its appendix B and PBMAC1 (RFC 9579). Pure.
 */
import { createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { DER, type DerValue, membersOf, oidText, readDer } from "../ikev2/der.ts";
import { toDer } from "./ber.ts";
import { KeyBoundError } from "./key-bounds.ts";
import {
  derived,
  type Hash,
  type KeyCost,
  pbkdf2Of,
  type ScryptCost,
  scryptOf,
  takeRounds,
  takeScrypt,
} from "./key-derivation.ts";

export interface OpenedPkcs12 {
  /** PrivateKeyInfo in DER, each; not checked yet (key-bounds.ts). */
  readonly keys: readonly Buffer[];
  /** DER, each, in the order of the file; not checked yet. */
  readonly certificates: readonly Buffer[];
}

const PKCS12_LIMITS = {
  /** A key and a chain are 10 kB. */
  bytes: 262_144,
  /** SafeBags in all. */
  bags: 64,
  /** SafeContents within SafeContents. */
  depth: 4,
} as const;

const OID = {
  data: "1.2.840.113549.1.7.1",
  encryptedData: "1.2.840.113549.1.7.6",
  keyBag: "1.2.840.113549.1.12.10.1.1",
  shroudedKeyBag: "1.2.840.113549.1.12.10.1.2",
  certBag: "1.2.840.113549.1.12.10.1.3",
  safeContentsBag: "1.2.840.113549.1.12.10.1.6",
  x509Certificate: "1.2.840.113549.1.9.22.1",
  pbes2: "1.2.840.113549.1.5.13",
  pbmac1: "1.2.840.113549.1.5.14",
  pbkdf2: "1.2.840.113549.1.5.12",
  scrypt: "1.3.6.1.4.1.11591.4.11",
  sha1And3des: "1.2.840.113549.1.12.1.3",
  sha1And2Key3des: "1.2.840.113549.1.12.1.4",
} as const;
/** [0]: of something else, or of an OCTET STRING in its place, in one piece. */
const EXPLICIT_0 = 0xa0;
const IMPLICIT_0 = 0x80;

const DIGESTS: ReadonlyMap<string, Hash> = new Map<string, Hash>([
  ["1.3.14.3.2.26", "sha1"],
  ["2.16.840.1.101.3.4.2.4", "sha224"],
  ["2.16.840.1.101.3.4.2.1", "sha256"],
  ["2.16.840.1.101.3.4.2.2", "sha384"],
  ["2.16.840.1.101.3.4.2.3", "sha512"],
]);
const HMACS: ReadonlyMap<string, Hash> = new Map<string, Hash>([
  ["1.2.840.113549.2.7", "sha1"],
  ["1.2.840.113549.2.8", "sha224"],
  ["1.2.840.113549.2.9", "sha256"],
  ["1.2.840.113549.2.10", "sha384"],
  ["1.2.840.113549.2.11", "sha512"],
]);
const CIPHERS: ReadonlyMap<string, { readonly name: string; readonly keyBytes: number }> = new Map([
  ["2.16.840.1.101.3.4.1.2", { name: "aes-128-cbc", keyBytes: 16 }],
  ["2.16.840.1.101.3.4.1.22", { name: "aes-192-cbc", keyBytes: 24 }],
  ["2.16.840.1.101.3.4.1.42", { name: "aes-256-cbc", keyBytes: 32 }],
  ["1.2.840.113549.3.7", { name: "des-ede3-cbc", keyBytes: 24 }],
]);
/** Purposes of the derivation (RFC 7292 appendix B.3). */
const FOR_KEY = 1;
const FOR_IV = 2;
const FOR_MAC = 3;
const NOTHING = Buffer.alloc(0);
/** A file with another password cannot be typed in here. */
const EMPTY = "";

/**
 * Opens a file under an empty password, or under none.
 * @param bytes BER, as some writers have it. @throws KeyBoundError: what it would cost, or what cannot be read, and never anything of it
 */
export function openPkcs12(bytes: Buffer): OpenedPkcs12 {
  // What can be seen of it is added up before the first round.
  boundPkcs12(bytes);
  return new Opening().open(bytes);
}

/** Whether the rounds that can be seen without opening it are within the bounds. @throws KeyBoundError when they are not, or it is no PKCS #12 */
export function boundPkcs12(bytes: Buffer): void {
  const { safes, mac } = outerOf(bytes);
  const cost: KeyCost = { rounds: 0, scryptBytes: 0 };
  if (mac !== undefined) takeRounds(cost, macOf(mac).rounds);
  for (const safe of safes) {
    const { name, content } = contentOf(safe);
    if (name === OID.encryptedData) takeAlgorithm(cost, encryptedOf(content).algorithm);
    // Keys within what is not encrypted are, each by itself.
    else if (name === OID.data) boundBags(octetsOf(content), cost, 0);
  }
}

class Opening {
  readonly #cost: KeyCost = { rounds: 0, scryptBytes: 0 };
  readonly #keys: Buffer[] = [];
  readonly #certificates: Buffer[] = [];
  /** Its MAC is under no password at all, which the older derivation distinguishes from an empty one. */
  #isWithoutPassword = false;
  #seen = 0;

  open(bytes: Buffer): OpenedPkcs12 {
    const { safes, mac, authenticated } = outerOf(bytes);
    if (mac !== undefined && !this.#isAuthentic(mac, authenticated)) {
      throw new KeyBoundError("a PKCS #12 file with a password, which cannot be typed in here");
    }
    for (const safe of safes) {
      const { name, content } = contentOf(safe);
      if (name === OID.data) this.#readBags(octetsOf(content), 0);
      else if (name === OID.encryptedData) {
        const { algorithm, encrypted } = encryptedOf(content);
        this.#readBags(this.#decrypt(algorithm, encrypted), 0);
      } else throw new KeyBoundError("a part of PKCS #12 that is not under a password");
    }
    return { keys: this.#keys, certificates: this.#certificates };
  }

  #isAuthentic(mac: DerValue, authenticated: Buffer): boolean {
    const { hash, rounds, salt, digest, pbmac } = macOf(mac);
    takeRounds(this.#cost, rounds);
    if (pbmac !== undefined) {
      const key = pbkdf2Of({ ...pbmac, password: EMPTY });
      return isSame(createHmac(pbmac.hmac, key).update(authenticated).digest(), digest);
    }
    // No password is written as none at all by some, and as an empty text by others.
    return [null, EMPTY].some((password) => {
      const key = derived({ hash, password, salt, rounds, purpose: FOR_MAC, sizeBytes: digest.length });
      if (!isSame(createHmac(hash, key).update(authenticated).digest(), digest)) return false;
      this.#isWithoutPassword = password === null;
      return true;
    });
  }

  #readBags(contents: Buffer, depth: number): void {
    if (depth > PKCS12_LIMITS.depth) throw new KeyBoundError("a PKCS #12 file nested too deep");
    for (const bag of bagsOf(contents)) {
      this.#seen += 1;
      if (this.#seen > PKCS12_LIMITS.bags) {
        throw new KeyBoundError(`a PKCS #12 file of more than ${PKCS12_LIMITS.bags} parts`);
      }
      this.#readBag(bag, depth);
    }
  }

  #readBag(bag: Bag, depth: number): void {
    const { name, value } = bag;
    if (name === OID.keyBag) this.#keys.push(value.whole);
    else if (name === OID.shroudedKeyBag) {
      const { algorithm, encrypted } = shroudedOf(value);
      this.#keys.push(this.#decrypt(algorithm, encrypted));
    } else if (name === OID.certBag) {
      const [kind, held] = membersOf(value.whole, DER.sequence) ?? [];
      const isX509 = kind?.tag === DER.oid && oidText(kind.content) === OID.x509Certificate;
      if (isX509 && held !== undefined) this.#certificates.push(octetsOf(held));
    } else if (name === OID.safeContentsBag) this.#readBags(value.whole, depth + 1);
  }

  #decrypt(algorithm: DerValue, encrypted: Buffer): Buffer {
    takeAlgorithm(this.#cost, algorithm);
    const { name, key, iv } = this.#keyOf(algorithm);
    try {
      const decipher = createDecipheriv(name, key, iv);
      return Buffer.concat([decipher.update(encrypted), decipher.final()]);
    } catch {
      throw new KeyBoundError("a PKCS #12 file with a password, which cannot be typed in here");
    }
  }

  #keyOf(algorithm: DerValue): { readonly name: string; readonly key: Buffer; readonly iv: Buffer } {
    const { name, parameters } = namedOf(algorithm);
    if (name === OID.pbes2) return pbes2Key(parameters);
    if (name !== OID.sha1And3des && name !== OID.sha1And2Key3des) throw unknownCipher(name);
    const { salt, rounds } = saltAndRounds(parameters);
    const password = this.#isWithoutPassword ? null : EMPTY;
    const common = { hash: "sha1" as const, password, salt, rounds };
    const keyBytes = name === OID.sha1And3des ? 24 : 16;
    const key = derived({ ...common, purpose: FOR_KEY, sizeBytes: keyBytes });
    const iv = derived({ ...common, purpose: FOR_IV, sizeBytes: 8 });
    // With two keys the first is used again.
    return { name: "des-ede3-cbc", key: Buffer.concat([key, key]).subarray(0, 24), iv };
  }
}

interface Bag {
  readonly name: string;
  readonly value: DerValue;
}

/** SafeContents: of each bag what it is and what it holds. */
function bagsOf(contents: Buffer): readonly Bag[] {
  const bags = membersOf(toDer(contents), DER.sequence);
  if (bags === undefined) throw unreadable();
  if (bags.length > PKCS12_LIMITS.bags) {
    throw new KeyBoundError(`a PKCS #12 file of more than ${PKCS12_LIMITS.bags} parts`);
  }
  return bags.map(({ content }) => {
    const [oid, wrapped] = readDer(content) ?? [];
    const [value] = wrapped?.tag === EXPLICIT_0 ? (readDer(wrapped.content) ?? []) : [];
    if (oid?.tag !== DER.oid || value === undefined) throw unreadable();
    return { name: oidText(oid.content), value };
  });
}

/** EncryptedPrivateKeyInfo. */
function shroudedOf(value: DerValue): { readonly algorithm: DerValue; readonly encrypted: Buffer } {
  const [algorithm, encrypted] = membersOf(value.whole, DER.sequence) ?? [];
  if (algorithm === undefined || encrypted?.tag !== DER.octets) throw unreadable();
  return { algorithm, encrypted: encrypted.content };
}

function boundBags(contents: Buffer, cost: KeyCost, depth: number): void {
  if (depth > PKCS12_LIMITS.depth) throw new KeyBoundError("a PKCS #12 file nested too deep");
  for (const { name, value } of bagsOf(contents)) {
    if (name === OID.shroudedKeyBag) takeAlgorithm(cost, shroudedOf(value).algorithm);
    else if (name === OID.safeContentsBag) boundBags(value.whole, cost, depth + 1);
  }
}

/** PFX: version, authenticated content, MAC. */
function outerOf(bytes: Buffer): {
  readonly safes: readonly DerValue[];
  readonly authenticated: Buffer;
  readonly mac: DerValue | undefined;
} {
  if (bytes.length > PKCS12_LIMITS.bytes) {
    throw new KeyBoundError(`a PKCS #12 file of ${bytes.length} bytes; at most ${PKCS12_LIMITS.bytes} are accepted`);
  }
  const [version, authSafe, mac] = membersOf(toDer(bytes), DER.sequence) ?? [];
  if (version?.tag !== DER.integer || authSafe === undefined) throw unreadable();
  const { name, content } = contentOf(authSafe);
  if (name !== OID.data) throw new KeyBoundError("a PKCS #12 file that is signed instead of under a password");
  const authenticated = octetsOf(content);
  const safes = membersOf(toDer(authenticated), DER.sequence);
  if (safes === undefined) throw unreadable();
  if (safes.length > PKCS12_LIMITS.bags) {
    throw new KeyBoundError(`a PKCS #12 file of more than ${PKCS12_LIMITS.bags} parts`);
  }
  return { safes, authenticated, mac };
}

/** ContentInfo. */
function contentOf(value: DerValue): { readonly name: string; readonly content: DerValue } {
  const [oid, content] = value.tag === DER.sequence ? (readDer(value.content) ?? []) : [];
  if (oid?.tag !== DER.oid || content?.tag !== EXPLICIT_0) throw unreadable();
  return { name: oidText(oid.content), content };
}

/** EncryptedData: version, EncryptedContentInfo. */
function encryptedOf(content: DerValue): { readonly algorithm: DerValue; readonly encrypted: Buffer } {
  const [, info] = membersOf(content.content, DER.sequence) ?? [];
  const [, algorithm, encrypted] = info?.tag === DER.sequence ? (readDer(info.content) ?? []) : [];
  if (algorithm === undefined || encrypted === undefined) throw unreadable();
  if (encrypted.tag === IMPLICIT_0) return { algorithm, encrypted: encrypted.content };
  const pieces = encrypted.tag === EXPLICIT_0 ? readDer(encrypted.content) : undefined;
  if (pieces === undefined || pieces.some(({ tag }) => tag !== DER.octets)) throw unreadable();
  return { algorithm, encrypted: Buffer.concat(pieces.map((piece) => piece.content)) };
}

interface Mac {
  readonly hash: Hash;
  readonly salt: Buffer;
  readonly rounds: number;
  readonly digest: Buffer;
  readonly pbmac: { salt: Buffer; rounds: number; hash: Hash; hmac: Hash; keyBytes: number } | undefined;
}

/** MacData: DigestInfo, salt, rounds (1 when left out). */
function macOf(mac: DerValue): Mac {
  const [info, salt, rounds] = mac.tag === DER.sequence ? (readDer(mac.content) ?? []) : [];
  const [algorithm, digest] = info?.tag === DER.sequence ? (readDer(info.content) ?? []) : [];
  if (algorithm === undefined || digest?.tag !== DER.octets || salt?.tag !== DER.octets) throw unreadable();
  const { name, parameters } = namedOf(algorithm);
  const common = { salt: salt.content, digest: digest.content };
  if (name === OID.pbmac1) {
    const [derivation, scheme] = parameters === undefined ? [] : (readDer(parameters.content) ?? []);
    const pbkdf2 = pbkdf2Parameters(derivation);
    const hmac = HMACS.get(scheme === undefined ? "" : namedOf(scheme).name);
    if (hmac === undefined) throw new KeyBoundError("a MAC that is not known");
    const pbmac = { ...pbkdf2, hmac, keyBytes: pbkdf2.keyBytes ?? 32 };
    return { ...common, hash: pbkdf2.hash, rounds: pbkdf2.rounds, pbmac };
  }
  const hash = DIGESTS.get(name);
  if (hash === undefined) throw new KeyBoundError(`a digest that is not known (${name})`);
  return { ...common, hash, rounds: rounds === undefined ? 1 : numberOf(rounds), pbmac: undefined };
}

/** What an encryption scheme will cost, without computing anything. */
function takeAlgorithm(cost: KeyCost, algorithm: DerValue): void {
  const { name, parameters } = namedOf(algorithm);
  if (name !== OID.pbes2) {
    if (name !== OID.sha1And3des && name !== OID.sha1And2Key3des) throw unknownCipher(name);
    takeRounds(cost, saltAndRounds(parameters).rounds);
    return;
  }
  const [derivation] = parameters === undefined ? [] : (readDer(parameters.content) ?? []);
  if (derivation === undefined) throw unreadable();
  if (namedOf(derivation).name === OID.scrypt) takeScrypt(cost, scryptParameters(derivation));
  else takeRounds(cost, pbkdf2Parameters(derivation).rounds);
}

function pbes2Key(parameters: DerValue | undefined) {
  const [derivation, scheme] = parameters === undefined ? [] : (readDer(parameters.content) ?? []);
  if (derivation === undefined || scheme === undefined) throw unreadable();
  const { name, parameters: iv } = namedOf(scheme);
  const cipher = CIPHERS.get(name);
  if (cipher === undefined || iv?.tag !== DER.octets) throw unknownCipher(name);
  const common = { password: EMPTY, keyBytes: cipher.keyBytes };
  const key =
    namedOf(derivation).name === OID.scrypt
      ? scryptOf({ ...scryptParameters(derivation), ...common })
      : pbkdf2Of({ ...pbkdf2Parameters(derivation), ...common });
  return { name: cipher.name, key, iv: iv.content };
}

/** RFC 8018 appendix A.2: salt, rounds, length, pseudorandom function. */
function pbkdf2Parameters(derivation: DerValue | undefined) {
  if (derivation === undefined || namedOf(derivation).name !== OID.pbkdf2) throw unknownDerivation();
  const [salt, rounds, ...others] = readDer(namedOf(derivation).parameters?.content ?? NOTHING) ?? [];
  if (salt?.tag !== DER.octets || rounds === undefined) throw unreadable();
  const prf = others.find(({ tag }) => tag === DER.sequence);
  const hash = prf === undefined ? "sha1" : HMACS.get(namedOf(prf).name);
  if (hash === undefined) throw unknownDerivation();
  const length = others.find(({ tag }) => tag === DER.integer);
  const keyBytes = length === undefined ? undefined : numberOf(length);
  if (keyBytes !== undefined && keyBytes > 64) throw new KeyBoundError("a derived key of more than 64 bytes");
  return { salt: salt.content, rounds: numberOf(rounds), hash, keyBytes };
}

/** RFC 7914 section 7: salt, cost, block size, parallelization. */
function scryptParameters(derivation: DerValue): ScryptCost {
  const [salt, ...numbers] = readDer(namedOf(derivation).parameters?.content ?? NOTHING) ?? [];
  const [N, r, p] = numbers.map(numberOf);
  if (salt?.tag !== DER.octets || N === undefined || r === undefined || p === undefined) throw unreadable();
  return { salt: salt.content, N, r, p };
}

function saltAndRounds(parameters: DerValue | undefined): { readonly salt: Buffer; readonly rounds: number } {
  const [salt, rounds] = parameters?.tag === DER.sequence ? (readDer(parameters.content) ?? []) : [];
  if (salt?.tag !== DER.octets || rounds === undefined) throw unreadable();
  return { salt: salt.content, rounds: numberOf(rounds) };
}

/** Of an INTEGER; what does not fit is more than any bound. */
function numberOf({ tag, content }: DerValue): number {
  if (tag !== DER.integer || content.length === 0) throw unreadable();
  if ((content[0] ?? 0) >= 0x80) throw unreadable();
  return content.length > 6 ? Number.POSITIVE_INFINITY : content.readUIntBE(0, content.length);
}

function namedOf(value: DerValue): { readonly name: string; readonly parameters: DerValue | undefined } {
  const [oid, parameters] = value.tag === DER.sequence ? (readDer(value.content) ?? []) : [];
  if (oid?.tag !== DER.oid) throw unreadable();
  return { name: oidText(oid.content), parameters };
}

/** Content of the OCTET STRING within. */
function octetsOf(wrapper: DerValue): Buffer {
  const [octets] = readDer(wrapper.content) ?? [];
  if (octets?.tag !== DER.octets) throw unreadable();
  return octets.content;
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function unknownCipher(name: string): KeyBoundError {
  return new KeyBoundError(`a PKCS #12 file under a cipher that is not known (${name}); write it anew with AES`);
}

function unknownDerivation(): KeyBoundError {
  return new KeyBoundError("a PKCS #12 file whose key derivation is not known");
}

function unreadable(): KeyBoundError {
  return new KeyBoundError("a PKCS #12 file that cannot be read", true);
}
