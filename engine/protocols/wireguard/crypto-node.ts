/**
 * The fast backend where there is no native way: node:crypto for everything but what it lacks (keyed BLAKE2s, XChaCha20). Keys go in and out as JWK, which costs a
 * tenth of DER on Node 20.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from "node:crypto";
import { blake2s } from "@noble/hashes/blake2.js";
import {
  deriveWith,
  MAC_BYTES,
  nonceOf,
  type PrivateKey,
  type PublicKey,
  TAG_BYTES,
  type WireguardCrypto,
} from "./crypto.ts";
import { openXchacha } from "./xchacha.ts";

const AEAD = "chacha20-poly1305";
const AEAD_OPTIONS = { authTagLength: TAG_BYTES };
/** A private JWK must have its public half, whose value Node ignores: it derives its own. */
const ANY_PUBLIC = Buffer.alloc(32).toString("base64url");

class NodePublicKey implements PublicKey {
  readonly bytes: Uint8Array;
  readonly key: KeyObject;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    const x = Buffer.from(bytes).toString("base64url");
    this.key = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
  }
}

class NodePrivateKey implements PrivateKey {
  readonly #key: KeyObject;

  constructor(seed: Uint8Array) {
    const d = Buffer.from(seed).toString("base64url");
    this.#key = createPrivateKey({ key: { kty: "OKP", crv: "X25519", x: ANY_PUBLIC, d }, format: "jwk" });
  }

  get publicBytes(): Uint8Array {
    return Buffer.from(this.#key.export({ format: "jwk" }).x ?? "", "base64url");
  }

  agree(peer: PublicKey): Uint8Array | null {
    const publicKey = peer instanceof NodePublicKey ? peer.key : new NodePublicKey(peer.bytes).key;
    try {
      return diffieHellman({ privateKey: this.#key, publicKey });
    } catch {
      // OpenSSL refuses a shared secret of zeros.
      return null;
    }
  }
}

function hmac(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  return createHmac("blake2s256", key).update(bytes).digest();
}

export const nodeCrypto: WireguardCrypto = {
  privateKey: (seed) => new NodePrivateKey(seed),
  publicKey: (bytes) => new NodePublicKey(bytes),
  hash(bytes, more) {
    const hash = createHash("blake2s256").update(bytes);
    return (more === undefined ? hash : hash.update(more)).digest();
  },
  derive: (chainingKey, input, count) => deriveWith(hmac, chainingKey, input, count),
  mac: (key, bytes) => blake2s(bytes, { key, dkLen: MAC_BYTES }),

  seal(key, counter, plain, associated) {
    const cipher = createCipheriv(AEAD, key, nonceOf(counter), AEAD_OPTIONS);
    cipher.setAAD(associated, { plaintextLength: plain.length });
    const body = cipher.update(plain);
    cipher.final();
    const sealed = new Uint8Array(plain.length + TAG_BYTES);
    sealed.set(body);
    sealed.set(cipher.getAuthTag(), body.length);
    return sealed;
  },

  open(key, counter, sealed, associated) {
    const bodyBytes = sealed.length - TAG_BYTES;
    if (bodyBytes < 0) return null;
    const decipher = createDecipheriv(AEAD, key, nonceOf(counter), AEAD_OPTIONS);
    decipher.setAAD(associated, { plaintextLength: bodyBytes });
    decipher.setAuthTag(sealed.subarray(bodyBytes));
    const plain = decipher.update(sealed.subarray(0, bodyBytes));
    try {
      decipher.final();
    } catch {
      return null;
    }
    return plain;
  },

  openCookie: openXchacha,
};
