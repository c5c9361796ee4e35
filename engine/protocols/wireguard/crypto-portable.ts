/** The portable backend: JavaScript alone, tweetnacl for X25519. Twenty times slower; the tests compare the fast one with it. */
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { blake2s } from "@noble/hashes/blake2.js";
import { hmac } from "@noble/hashes/hmac.js";
import nacl from "tweetnacl";
import { areEqual, deriveWith, joined, KEY_BYTES, MAC_BYTES, nonceOf, type WireguardCrypto } from "./crypto.ts";
import { openXchacha } from "./xchacha.ts";

const ZEROS = new Uint8Array(KEY_BYTES);

export const portableCrypto: WireguardCrypto = {
  privateKey: (seed) => ({
    get publicBytes() {
      return nacl.scalarMult.base(seed);
    },
    agree(peer) {
      const shared = nacl.scalarMult(seed, peer.bytes);
      return areEqual(shared, ZEROS) ? null : shared;
    },
  }),
  publicKey: (bytes) => ({ bytes }),
  hash: (bytes, more) => blake2s(more === undefined ? bytes : joined(bytes, more)),
  derive: (chainingKey, input, count) =>
    deriveWith((key, bytes) => hmac(blake2s, key, bytes), chainingKey, input, count),
  mac: (key, bytes) => blake2s(bytes, { key, dkLen: MAC_BYTES }),
  seal: (key, counter, plain, associated) => chacha20poly1305(key, nonceOf(counter), associated).encrypt(plain),

  open(key, counter, sealed, associated) {
    try {
      return chacha20poly1305(key, nonceOf(counter), associated).decrypt(sealed);
    } catch {
      return null;
    }
  },

  openCookie: openXchacha,
};
