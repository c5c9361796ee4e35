/** Keys, certificates and PKCS #12 files of any sizes and numbers, well formed and not, as no real tool writes them. */
import {
  createCipheriv,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  pbkdf2Sync,
  randomBytes,
  sign,
} from "node:crypto";
import { DER, encodeDer } from "../ikev2/der.ts";
import { derived } from "./key-derivation.ts";
import { writePem } from "./pem.ts";

export function sequence(...parts: readonly Buffer[]): Buffer {
  return encodeDer(DER.sequence, Buffer.concat(parts));
}
export function integer(value: Buffer | number): Buffer {
  const bytes = typeof value === "number" ? numberBytes(value) : value;
  return encodeDer(DER.integer, (bytes[0] ?? 0x80) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);
}
export function octets(bytes: Buffer): Buffer {
  return encodeDer(DER.octets, bytes);
}
function bitString(bytes: Buffer): Buffer {
  return encodeDer(DER.bits, Buffer.concat([Buffer.alloc(1), bytes]));
}
function explicit(number: number, ...parts: readonly Buffer[]): Buffer {
  return encodeDer(0xa0 + number, Buffer.concat(parts));
}
/** @param text dotted */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...arcs] = text.split(".").map(Number);
  return encodeDer(DER.oid, Buffer.from([40 * first + second, ...arcs].flatMap(base128)));
}
const NULL = Buffer.from([5, 0]);

function base128(arc: number): number[] {
  const digits = [arc & 0x7f];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(0x80 | (rest & 0x7f));
  return digits;
}

function numberBytes(value: number): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}

/** Odd, with its highest bit set. */
export function oddNumber(bits: number): Buffer {
  const bytes = randomBytes(bits / 8);
  bytes.writeUInt8(0x80 | bytes.readUInt8(0), 0);
  bytes.writeUInt8(1 | bytes.readUInt8(bytes.length - 1), bytes.length - 1);
  return bytes;
}

const RSA = sequence(oid("1.2.840.113549.1.1.1"), NULL);
const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const RSA_WITH_SHA256 = sequence(oid("1.2.840.113549.1.1.11"), NULL);
const DSA_WITH_SHA256 = sequence(oid("2.16.840.1.101.3.4.3.2"));

export function rsaPublic(modulusBits: number, exponent: Buffer | number = 65_537): Buffer {
  return sequence(RSA, bitString(sequence(integer(oddNumber(modulusBits)), integer(exponent))));
}

/** Numbers of these sizes that have nothing to do with each other. */
export function rsaPrivate(modulusBits: number, lengths: { exponentBits?: number; partBits?: number } = {}): Buffer {
  const { exponentBits = modulusBits, partBits = modulusBits / 2 } = lengths;
  const parts = Array.from({ length: 5 }, () => integer(oddNumber(partBits)));
  return sequence(
    integer(0),
    integer(oddNumber(modulusBits)),
    integer(65_537),
    integer(oddNumber(exponentBits)),
    ...parts,
  );
}

export function dsaPublic(modulusBits: number, subgroupBits = 256): Buffer {
  const parameters = sequence(integer(oddNumber(modulusBits)), integer(oddNumber(subgroupBits)), integer(2));
  return sequence(sequence(oid("1.2.840.10040.4.1"), parameters), bitString(integer(oddNumber(modulusBits - 8))));
}

export function dhPublic(modulusBits: number): Buffer {
  const parameters = sequence(integer(oddNumber(modulusBits)), integer(2));
  return sequence(sequence(oid("1.2.840.113549.1.3.1"), parameters), bitString(integer(3)));
}

export function ecPublic(curve: "P-256" | "P-521", form: "named" | "explicit"): Buffer {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: curve, paramEncoding: form });
  return publicKey.export({ type: "spki", format: "der" });
}

/** On a curve that is named and is not one of ours. */
export function ecPublicOn(curve: string): Buffer {
  return sequence(sequence(oid("1.2.840.10045.2.1"), oid(curve)), bitString(Buffer.alloc(65, 4)));
}

export interface HostileCertificate {
  readonly spki: Buffer;
  readonly subject?: string;
  readonly issuer?: string;
  /** The subject's parts, DER, instead. */
  readonly subjectParts?: readonly Buffer[];
  readonly isAuthority?: boolean;
  /** The issuer's key; without one the signature is random bytes of the form in `looksLike`. */
  readonly signer?: KeyObject;
  readonly looksLike?: "rsa" | "dsa";
  /** Size of the signature when there is no signer. */
  readonly signatureBits?: number;
  readonly more?: readonly Buffer[];
}

export function certificateOf(overrides: HostileCertificate): Buffer {
  const { spki, subject = "hostile.rig", issuer = subject, isAuthority = true, signer, more = [] } = overrides;
  const { looksLike = "rsa", signatureBits = 2_048 } = overrides;
  const algorithm =
    signer?.asymmetricKeyType === "ec" ? ECDSA_WITH_SHA256 : looksLike === "dsa" ? DSA_WITH_SHA256 : RSA_WITH_SHA256;
  const constraints = sequence(...(isAuthority ? [Buffer.from([1, 1, 0xff])] : []));
  const tbs = sequence(
    explicit(0, integer(2)),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name(issuer),
    sequence(time(Date.now() - 86_400_000), time(Date.now() + 86_400_000)),
    overrides.subjectParts === undefined ? name(subject) : sequence(...overrides.subjectParts),
    spki,
    explicit(3, sequence(sequence(oid("2.5.29.19"), Buffer.from([1, 1, 0xff]), octets(constraints)), ...more)),
  );
  const noise = (bits: number): Buffer => Buffer.concat([Buffer.from([0x7f]), oddNumber(bits).subarray(1)]);
  const unsigned = (): Buffer =>
    looksLike === "dsa" ? sequence(integer(noise(256)), integer(noise(256))) : noise(signatureBits);
  const signature = signer === undefined ? unsigned() : sign("sha256", tbs, signer);
  return sequence(tbs, algorithm, bitString(signature));
}

/** @param commonName empty: a name of no parts */
function name(commonName: string): Buffer {
  if (commonName === "") return sequence();
  return sequence(encodeDer(0x31, sequence(oid("2.5.4.3"), encodeDer(0x0c, Buffer.from(commonName)))));
}

function time(atMs: number): Buffer {
  return encodeDer(0x18, Buffer.from(`${new Date(atMs).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
}

/** Sequences within sequences. */
export function nested(depth: number): Buffer {
  let value: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) value = sequence(value);
  return value;
}

export const certificatePem = (overrides: HostileCertificate): string =>
  writePem("CERTIFICATE", certificateOf(overrides));

/** How a part of a PKCS #12 file is encrypted. */
export type Scheme =
  | { readonly kind: "pbkdf2"; readonly rounds: number; readonly keyBytes?: number }
  | { readonly kind: "3des"; readonly rounds: number }
  | { readonly kind: "scrypt"; readonly N: number; readonly r: number; readonly p: number }
  | { readonly kind: "rc2"; readonly rounds: number };

export interface Pkcs12 {
  /** PrivateKeyInfo and certificates, DER. */
  readonly key: Buffer;
  readonly certificates: readonly Buffer[];
  readonly keyScheme?: Scheme | null;
  readonly certificateScheme?: Scheme | null;
  readonly macRounds?: number | null;
  readonly mac?: "pkcs12" | "pbmac1";
  /** Null: none at all. */
  readonly password?: string | null;
  /** Certificates in so many SafeContents within each other. */
  readonly depth?: number;
}

/** What is written is computed with up to so many rounds; files that name more are never opened. */
const COMPUTED_ROUNDS = 10_000;
const SALT = Buffer.from("salt of the test");
const BAG = "1.2.840.113549.1.12.10.1.";

export function pkcs12Of(overrides: Pkcs12): Buffer {
  const { key, certificates, password = "", depth = 0 } = overrides;
  const { keyScheme = { kind: "pbkdf2", rounds: 2_048 }, certificateScheme = { kind: "pbkdf2", rounds: 2_048 } } =
    overrides;
  const { macRounds = 2_048, mac = "pkcs12" } = overrides;
  const keyBag =
    keyScheme === null
      ? sequence(oid(`${BAG}1`), explicit(0, key))
      : sequence(oid(`${BAG}2`), explicit(0, sequence(...encrypted(key, keyScheme, password))));
  const certificateBags = certificates.map((der) =>
    sequence(oid(`${BAG}3`), explicit(0, sequence(oid("1.2.840.113549.1.9.22.1"), explicit(0, octets(der))))),
  );
  let contents = sequence(...certificateBags);
  for (let level = 0; level < depth; level++) contents = sequence(sequence(oid(`${BAG}6`), explicit(0, contents)));
  const safes = sequence(
    data(sequence(keyBag)),
    certificateScheme === null ? data(contents) : sealed(contents, certificateScheme, password),
  );
  const macData = macRounds === null ? [] : [macOf(safes, macRounds, password, mac)];
  return sequence(integer(3), data(safes), ...macData);
}

function data(content: Buffer): Buffer {
  return sequence(oid("1.2.840.113549.1.7.1"), explicit(0, octets(content)));
}

function sealed(content: Buffer, scheme: Scheme, password: string | null): Buffer {
  const [algorithm = NULL, cipherText = NULL] = encrypted(content, scheme, password);
  const implicit = Buffer.from(cipherText);
  implicit.writeUInt8(0x80, 0);
  const info = sequence(oid("1.2.840.113549.1.7.1"), algorithm, implicit);
  return sequence(oid("1.2.840.113549.1.7.6"), explicit(0, sequence(integer(0), info)));
}

/** @returns AlgorithmIdentifier and OCTET STRING */
function encrypted(content: Buffer, scheme: Scheme, password: string | null): readonly Buffer[] {
  if (scheme.kind === "rc2") {
    return [sequence(oid("1.2.840.113549.1.12.1.6"), sequence(octets(SALT), integer(scheme.rounds))), octets(content)];
  }
  if (scheme.kind === "3des") {
    const rounds = Math.min(COMPUTED_ROUNDS, scheme.rounds);
    const of = (purpose: number, sizeBytes: number) =>
      derived({ hash: "sha1", password, salt: SALT, rounds, purpose, sizeBytes });
    const cipher = createCipheriv("des-ede3-cbc", of(1, 24), of(2, 8));
    const algorithm = sequence(oid("1.2.840.113549.1.12.1.3"), sequence(octets(SALT), integer(scheme.rounds)));
    return [algorithm, octets(Buffer.concat([cipher.update(content), cipher.final()]))];
  }
  const iv = Buffer.alloc(16, 7);
  const aes = sequence(oid("2.16.840.1.101.3.4.1.42"), octets(iv));
  const derivation =
    scheme.kind === "scrypt"
      ? sequence(
          oid("1.3.6.1.4.1.11591.4.11"),
          sequence(octets(SALT), integer(scheme.N), integer(scheme.r), integer(scheme.p)),
        )
      : pbkdf2(scheme.rounds, scheme.keyBytes);
  const rounds = scheme.kind === "scrypt" ? 1 : Math.max(1, Math.min(COMPUTED_ROUNDS, scheme.rounds));
  const cipher = createCipheriv("aes-256-cbc", pbkdf2Sync(password ?? "", SALT, rounds, 32, "sha256"), iv);
  const algorithm = sequence(oid("1.2.840.113549.1.5.13"), sequence(derivation, aes));
  return [algorithm, octets(Buffer.concat([cipher.update(content), cipher.final()]))];
}

function pbkdf2(rounds: number, keyBytes?: number): Buffer {
  const prf = sequence(oid("1.2.840.113549.2.9"), NULL);
  const length = keyBytes === undefined ? [] : [integer(keyBytes)];
  return sequence(oid("1.2.840.113549.1.5.12"), sequence(octets(SALT), integer(rounds), ...length, prf));
}

function macOf(content: Buffer, rounds: number, password: string | null, kind: "pkcs12" | "pbmac1"): Buffer {
  const computed = Math.min(COMPUTED_ROUNDS, rounds);
  if (kind === "pbmac1") {
    const key = pbkdf2Sync(password ?? "", SALT, computed, 32, "sha256");
    const scheme = sequence(oid("1.2.840.113549.2.9"), NULL);
    const algorithm = sequence(oid("1.2.840.113549.1.5.14"), sequence(pbkdf2(rounds, 32), scheme));
    const digest = createHmac("sha256", key).update(content).digest();
    return sequence(sequence(algorithm, octets(digest)), octets(Buffer.from("unused")), integer(1));
  }
  const key = derived({ hash: "sha256", password, salt: SALT, rounds: computed, purpose: 3, sizeBytes: 32 });
  const digest = createHmac("sha256", key).update(content).digest();
  return sequence(
    sequence(sequence(oid("2.16.840.1.101.3.4.2.1"), NULL), octets(digest)),
    octets(SALT),
    integer(rounds),
  );
}

/** A valid key of 4,224 bits, stored because it would take seconds to make; it is not used anywhere else. */
export const LARGE_KEY = writePem(
  "RSA PRIVATE KEY",
  Buffer.from(
    [
      "MIIJcAIBAAKCAhEAnX8wG1QVM0vgmNfFO1yUCxFewaR+zRMbz8zfgS+EcDmFPzGI9rbixcSXqYLQ4fDn+uxh4wb0D5eqfJNsPigN",
      "lpvwJ83sXsBlH7waTm9ZZDgzMfQX3rkUNYSiGJRtgYnjkATuRAgYgbCJ2Sos0Pe0GgmfiAMIlDhnZl6niQJQx4C+Bhr0CS45CXsg",
      "6eBEgl/R+fdyfHxWi/yczF6MuYkuqWblKR3kOz3a5cZzghxTmDC/QTsxVOFYFj6FYD3VuMcCmu8he2qvC8jZm/QrugCl+IDRw5wk",
      "+t+5N11AXV0rgBFnWM+POttQuhpaiKrYN4wzYKbwLIA4HU2M3m7xO4DwYqZ6C5JDXnniChNGlaztV9jgTYKI9wfr7IbsfbgilnOs",
      "53INiR1DhJ01AzUm0SRU/EUpxmfy3URZ+fq82uNacQOa1c5QcvVTN+kHESs5lke3kwZpzXQ5K7Krdb5hSN/YyK9iLAv65BxeVcmo",
      "UJ/K6VNZe2pzan34GBUYlICMRDjxtZpHuvpx8AffDfZ3qdwPQzNNU5iTrxcHUOau8OAjjNX/uZw5SDXidZmlW4otoO92uEgpoUlh",
      "fiE0ymTjhvbSxkssG2LwPzhtYQbMWOyjB9Qpf5KvxvRHkcabSfy1kCLYNzUTwh6z/NikQWxDi3boh9Qka0ubLvNeTfMjN7VNtp8c",
      "J84wFJDD55DDPn+Ig3sDAgMBAAECggIQAv9ni55gakHdOR9TYS3RM7nerFzFTCAi1wui4coPylmzQZqEMDtH8TXjgwCWXIsgSqUR",
      "Pi4Pjtw6GNEBIeTHE+iie+A6aDgKGURLIu8juBguICEiVIIAQcFGv8mvP4LwgaPDVoomz+zrp1P5vq5fIbZnv6NoqqGMlSHjmlg5",
      "FLbSpAlMV+G5GsQXndpwk2CWqEz97grTzh4BkT6esdW5mNQdD3FVBAek1xhglrtWn/uN7CjsBflTFMpyzN2Ghnhvy1pHEd3cGgTL",
      "vBgdgVO2TuYFKlu4zTpdKzZ0ix6SDJQdjkKohNAG9lJQ2cUq3+QquWmaGkii2xJmwCL6oRzIiMy3/au5iEAw7/zDPwI2JTU35nW2",
      "nLxAH60MleKHGQKgUEWs6p+8ySojJ1Un96wEjImQwBtq9GWl6VIWoDre4/vC9JxuyMlgTvCrFfT0TYc9LxPyICUhL8zlkf42VCpN",
      "oe1yxFMWshZInUJZkeLAXzitZ6pE5nIJpseZHbLbQQYTCvPkgZgauZb72mmzE2CcafqlAe03CpFq/Lt3K/wpO9pn6qHazIo2CaMT",
      "NOYWrRyszt51/j1eHzZWNzaYhA9xGjsugNch/SwLQVJdHaxWiob6OCjrDVpn6eVtozlGEd0mbV2V7ZJmBQKL5sg/2tecjk9UfEm9",
      "Fdac/Qw0tdOV0Nf1abLBVaRd/LrbGO+G11WxAoIBCQDM8PadjDbXDNU2pwu4an9EICJq2pELPExrAsVvEO8FarIlseiPHXqRHO+J",
      "5suqn+6UjWA6UNVh1wWXgZ++1XGX0UP3pedRz4Nhw1eP/MceExPBDf5EDqf6fywRBdhOot7tinrxzMpEd2ybtjUvnHAju9QDbeQp",
      "ufpnzIQ3u7l5of/2+8RwvYV+lgshvUwmGGHvwv8DAQE9EpqbVvQ+kGSV+y8+FLwNkE/Jud4kuazyGDoiEA6NxpimFvjiO/FH+X/L",
      "yN1t32MNh+yZ1OW7JWvQf3yxszZJ2HOm2usdR+Uh2IgBsNWkTksrMHpHkHPOefq8f7UzvqjCBKnb/bCR8q7gRE+9nWRddGsCggEJ",
      "AMS8Pt/lGJ/eVeDsDxmxIspEoOAF/h4KsATWMzHeArVYTlFibsk/PwERn1haGQ4u3e5ETCc89oXUU7pTTbLZtlhJYiRUw+8rGLHq",
      "IrVRQOZ8S48MrJvxI/mkMx9iC29dXUHHRSD0aXGjodOBivJmD3kcUP7Y5iWKUXZ2W9wNfOGqe9VZP/w/9I1dt9wpXINb+Gh7zyii",
      "ymRcNile4kA3TS1eRqnYCpFTUuLScyNKWevrkB5FEzWI4eAnJjEHEGCKpf/7KcrETOfRg3Lmz7Ah8PzweKeejvsLF8o78wHoTB5J",
      "o9QpID0h6rDqHrrfBZJHprz6eM7Oj6QNhyJGTZtOa+YpaW5r4HX5yQKCAQkAxSk4iH8hLyh4Yti4DNXf0+F6WwQksAN1nSmQWXaY",
      "DMUF1//dNPnuNXb599gireao9x8/qTqk3jind4dL8KKVYrH/SlvAO9OAmOf98FcGFKfTxFG7ASx8bCA2e7X80EIeZ7Zm6wLSwKWH",
      "xhG3/zLoK2iC4j2xWHdEMOHvfVLLb/nrL2gtJy0dJZgh43aisK+aYLhe7zvjPicMuE8iMKJnMmbxny8Bb6cbK331+azrdgjavHRo",
      "G/soVfkZvURfrpeYW6vFYvOa7qSKeb/4t1+b5n0PsEEyBD8JnEdWE9hb1oDi74V5M1XjOQytRvXwg36UOw49fCd7YRRteWgJm482",
      "sCjn8gpeSQ47AoIBCHtI8CnEWisM3EpIA6p4+7E/UoUwnC9dSTKuvIQ6eP4FaYbMpVpN3QChd3aZd2wQ6JiAiixoop/5D8MKov06",
      "O2+WBP95cxN0sVQEwl1XntERARSSv7Q1Z/Lv9+1ptnrCSkeHRYXCRDWnciil3FnMpVOi8ArUB11tEWGoCCac+S49dL6c4GEF/w17",
      "tlUsQkI7Jy7qr0XqxeQgePxx7lyJiz6r/qI+tViem6lych6iYDlcdALUDJaWwd2DCwbcQ2IMYLxKO8VKQFthSvt9MpdQncEUPLfl",
      "v/oH2I+uA7mlRdYRFa5FW2OT1oupGzrFuasSZaW1XHFUtmT66T0MS2PQwAMK3nwI9C9aKQKCAQhJ9IiZsUF5RpudNbK2jLdjRMWc",
      "G/bMWi6JfbblHArCvIeHw3NPD+KaBnKc/lZ/etsicSPXLa2/lIgBY9KD0+U0+eKVPPE159NSNRAtR9dfg9MgvaeNniEvQbFKYt8V",
      "KBgyVF8khxM+KwtQWKqxhc/7k2v9UX090uh0VC6Hb1QVQl5X94ufrGlKBUa19iIc5Fqdx4a7QHWMLhlsxI9ANr22YygrghzQwN6m",
      "iS9KqAfoBaLqTJYmgUqjWbEQESfIIY6073Psl36RI3kK1ceBHj1/YyUSZwJDmVuX1jr1/XeYNm7OGGW7TR/ogXizbXhEG1aBOUjG",
      "XgNsU2EqfkEhaXFp5U/9n+iLhHw=",
    ].join(""),
    "base64",
  ),
);
