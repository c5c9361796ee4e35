/** Diffie-Hellman by IKEv2 group number: RFC 7296 appendix B, RFC 3526, RFC 5903, RFC 8031. */
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  getDiffieHellman,
  type KeyObject,
} from "node:crypto";
import { GROUP } from "./algorithms.ts";
import { DER, encodeDer, membersOf, readDer } from "./der.ts";
import { IkeFormatError } from "./message.ts";

export interface KeyShare {
  readonly group: number;
  readonly publicValue: Buffer;
  /** The shared secret as the key derivation takes it. @throws IkeFormatError for a value that is not of the group */
  agree(peerValue: Buffer): Buffer;
}

const MODP: ReadonlyMap<number, { readonly name: string; readonly sizeBytes: number }> = new Map([
  [GROUP.modp2048, { name: "modp14", sizeBytes: 256 }],
  [GROUP.modp3072, { name: "modp15", sizeBytes: 384 }],
  [GROUP.modp4096, { name: "modp16", sizeBytes: 512 }],
]);

const CURVES: ReadonlyMap<number, { readonly name: string; readonly fieldBytes: number }> = new Map([
  [GROUP.p256, { name: "prime256v1", fieldBytes: 32 }],
  [GROUP.p384, { name: "secp384r1", fieldBytes: 48 }],
  [GROUP.p521, { name: "secp521r1", fieldBytes: 66 }],
]);

/** SEC 1 section 2.3.3: the mark of an uncompressed point, which IKEv2 leaves out. */
const UNCOMPRESSED = 0x04;
const X25519_BYTES = 32;
const MODP_1024_BYTES = 128;
/** Twice the strength of the group is more than enough (RFC 3526 section 8). */
const MODP_1024_EXPONENT_BYTES = 32;

type Random = (sizeBytes: number) => Uint8Array;

/** @throws IkeFormatError for a group that we do not have */
export function createKeyShare(group: number, random: Random): KeyShare {
  if (group === GROUP.x25519) return x25519Share(random);
  if (group === GROUP.modp1024) return modp1024Share(random);
  const curve = CURVES.get(group);
  if (curve !== undefined) return curveShare(group, curve.name, curve.fieldBytes, random);
  const modp = MODP.get(group);
  if (modp === undefined) throw new IkeFormatError(`no such group as ${group}`);
  return modpShare(group, modp.name, modp.sizeBytes);
}

function x25519Share(random: Random): KeyShare {
  const key = x25519Private(Buffer.from(random(X25519_BYTES)));
  const publicValue = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");
  return {
    group: GROUP.x25519,
    publicValue,
    agree: (peerValue) =>
      guarded(peerValue, X25519_BYTES, () =>
        diffieHellman({
          privateKey: key,
          publicKey: createPublicKey({
            key: { kty: "OKP", crv: "X25519", x: peerValue.toString("base64url") },
            format: "jwk",
          }),
        }),
      ),
  };
}

/** As JWK, which Node reads ten times faster than DER. It wants a public member and then derives its own. */
function x25519Private(value: Buffer): KeyObject {
  const x = Buffer.alloc(X25519_BYTES).toString("base64url");
  return createPrivateKey({ key: { kty: "OKP", crv: "X25519", d: value.toString("base64url"), x }, format: "jwk" });
}

function curveShare(group: number, name: string, fieldBytes: number, random: Random): KeyShare {
  const ecdh = createECDH(name);
  const scalar = Buffer.from(random(fieldBytes));
  // 521 bits are a byte with one bit, and 65 more.
  if (group === GROUP.p521) scalar.writeUInt8(scalar.readUInt8(0) & 1, 0);
  // One in 2^32 of P-256 is above its order, of the others fewer still.
  try {
    ecdh.setPrivateKey(scalar);
  } catch {
    ecdh.generateKeys();
  }
  return {
    group,
    publicValue: ecdh.getPublicKey().subarray(1),
    // Node checks that the point is on the curve; the secret is its x (RFC 5903 section 7).
    agree: (peerValue) =>
      guarded(peerValue, 2 * fieldBytes, () =>
        padded(ecdh.computeSecret(Buffer.concat([Buffer.from([UNCOMPRESSED]), peerValue])), fieldBytes),
      ),
  };
}

function modpShare(group: number, name: string, sizeBytes: number): KeyShare {
  const exchange = getDiffieHellman(name);
  exchange.generateKeys();
  const prime = exchange.getPrime();
  return {
    group,
    publicValue: padded(exchange.getPublicKey(), sizeBytes),
    // Node refuses 0, 1 and p-1 (RFC 6989 section 2.1), but takes some values above p.
    agree: (peerValue) =>
      guarded(peerValue, sizeBytes, () => {
        if (peerValue.compare(prime) >= 0) throw new IkeFormatError("a value above the prime");
        return padded(exchange.computeSecret(peerValue), sizeBytes);
      }),
  };
}

/**
 * The group of old Windows servers. OpenSSL does not know it by name, so getDiffieHellman() proves its prime each time, 70 ms; as a key
 * object of PKCS #3, which can only be had from DER, it takes 1 ms.
 */
function modp1024Share(random: Random): KeyShare {
  const exponent = encodeInteger(Buffer.from(random(MODP_1024_EXPONENT_BYTES)));
  const pkcs8 = [encodeInteger(Buffer.alloc(0)), MODP_1024_ALGORITHM, encodeDer(DER.octets, exponent)];
  const key = encodeDer(DER.sequence, Buffer.concat(pkcs8));
  const privateKey = createPrivateKey({ key, format: "der", type: "pkcs8" });
  const [, bits] = membersOf(createPublicKey(privateKey).export({ type: "spki", format: "der" }), DER.sequence) ?? [];
  const [value] = readDer(bits?.content.subarray(1) ?? Buffer.alloc(0)) ?? [];
  return {
    group: GROUP.modp1024,
    publicValue: padded(withoutZeros(value?.content ?? Buffer.alloc(0)), MODP_1024_BYTES),
    agree: (peerValue) =>
      guarded(peerValue, MODP_1024_BYTES, () => {
        const content = Buffer.concat([Buffer.alloc(1), encodeInteger(peerValue)]);
        const spki = encodeDer(DER.sequence, Buffer.concat([MODP_1024_ALGORITHM, encodeDer(DER.bits, content)]));
        const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
        return padded(diffieHellman({ privateKey, publicKey }), MODP_1024_BYTES);
      }),
  };
}

function withoutZeros(value: Buffer): Buffer {
  const first = value.findIndex((byte) => byte !== 0);
  return value.subarray(first < 0 ? value.length : first);
}

/** DER's integers are signed, and have no zeros in front but one that says so. */
function encodeInteger(value: Buffer): Buffer {
  const digits = withoutZeros(value);
  const isPositive = (digits[0] ?? 0x80) < 0x80;
  return encodeDer(DER.integer, isPositive ? digits : Buffer.concat([Buffer.alloc(1), digits]));
}

function guarded(peerValue: Buffer, sizeBytes: number, agree: () => Buffer): Buffer {
  if (peerValue.length !== sizeBytes) throw new IkeFormatError("a key exchange value of another length");
  try {
    return agree();
  } catch {
    throw new IkeFormatError("a key exchange value outside of its group");
  }
}

/** RFC 7296 section 2.14: with zeros in front, to the group's length. */
function padded(value: Buffer, sizeBytes: number): Buffer {
  return value.length >= sizeBytes ? value : Buffer.concat([Buffer.alloc(sizeBytes - value.length), value]);
}

/** RFC 2409 section 6.2, generator 2; dhKeyAgreement of PKCS #3. */
const MODP_1024_PRIME = Buffer.from(
  "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404dd" +
    "ef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed" +
    "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff",
  "hex",
);
const MODP_1024_ALGORITHM = encodeDer(
  DER.sequence,
  Buffer.concat([
    Buffer.from("06092a864886f70d010301", "hex"),
    encodeDer(DER.sequence, Buffer.concat([encodeInteger(MODP_1024_PRIME), encodeInteger(Buffer.from([2]))])),
  ]),
);
