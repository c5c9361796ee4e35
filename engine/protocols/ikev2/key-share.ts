/** Diffie-Hellman by IKEv2 group number: RFC 7296 appendix B, RFC 3526, RFC 5903, RFC 8031. */
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
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

/** @param privateValue for published vectors only; a fresh one otherwise */
export function createKeyShare(group: number, privateValue?: Buffer): KeyShare {
  if (group === GROUP.x25519) return x25519Share(privateValue);
  if (group === GROUP.modp1024) return modp1024Share();
  const curve = CURVES.get(group);
  if (curve !== undefined) return curveShare(group, curve.name, curve.fieldBytes, privateValue);
  const modp = MODP.get(group);
  if (modp === undefined) throw new IkeFormatError(`no such group as ${group}`);
  return modpShare(group, modp.name, modp.sizeBytes);
}

function x25519Share(privateValue: Buffer | undefined): KeyShare {
  const key = privateValue === undefined ? generateKeyPairSync("x25519").privateKey : x25519Private(privateValue);
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

function curveShare(group: number, name: string, fieldBytes: number, privateValue: Buffer | undefined): KeyShare {
  const ecdh = createECDH(name);
  if (privateValue === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(privateValue);
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

/** Node's types leave this kind out. */
const generateDhPair = generateKeyPairSync as unknown as (
  type: "dh",
  options: { readonly group: string },
) => { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/**
 * The group of old Windows servers. OpenSSL does not know it by name, so getDiffieHellman() proves its prime each time, 70 ms; key objects
 * are made in 1 ms, and can only be had as DER.
 */
function modp1024Share(): KeyShare {
  const { privateKey, publicKey } = generateDhPair("dh", { group: "modp2" });
  const [algorithm, bits] = membersOf(publicKey.export({ type: "spki", format: "der" }), DER.sequence) ?? [];
  const [value] = readDer(bits?.content.subarray(1) ?? Buffer.alloc(0)) ?? [];
  if (algorithm === undefined || value === undefined) throw new Error("a key in a form that OpenSSL did not have");
  return {
    group: GROUP.modp1024,
    publicValue: padded(withoutZeros(value.content), MODP_1024_BYTES),
    agree: (peerValue) =>
      guarded(peerValue, MODP_1024_BYTES, () => {
        const integer = encodeDer(DER.integer, positive(withoutZeros(peerValue)));
        const key = encodeDer(DER.bits, Buffer.concat([Buffer.alloc(1), integer]));
        const spki = encodeDer(DER.sequence, Buffer.concat([algorithm.whole, key]));
        const peer = createPublicKey({ key: spki, format: "der", type: "spki" });
        return padded(diffieHellman({ privateKey, publicKey: peer }), MODP_1024_BYTES);
      }),
  };
}

function withoutZeros(value: Buffer): Buffer {
  const first = value.findIndex((byte) => byte !== 0);
  return value.subarray(first < 0 ? value.length : first);
}

/** DER's integers are signed. */
function positive(value: Buffer): Buffer {
  return (value[0] ?? 0x80) >= 0x80 ? Buffer.concat([Buffer.alloc(1), value]) : value;
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
