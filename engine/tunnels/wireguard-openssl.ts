/** The fastest backend: Node's OpenSSL without node:crypto between. */
import { loadOpenssl } from "../../native/openssl.ts";
import type { WireguardCrypto } from "../protocols/wireguard/crypto.ts";
import { openXchacha } from "../protocols/wireguard/xchacha.ts";

/** Null where there is no native way. */
export function opensslCrypto(): WireguardCrypto | null {
  const openssl = loadOpenssl();
  if (openssl === null) return null;
  return {
    privateKey: (seed) => ({
      get publicBytes() {
        return openssl.x25519Public(seed);
      },
      agree: (peer) => openssl.x25519(seed, peer.bytes),
    }),
    publicKey: (bytes) => ({ bytes }),
    hash: (bytes, more) => openssl.blake2s(bytes, more),
    derive: (chainingKey, input, count) => openssl.hkdfBlake2s(chainingKey, input, count),
    mac: (key, bytes) => openssl.macBlake2s(key, bytes),
    seal: (key, counter, plain, associated) => openssl.sealChacha(key, counter, plain, associated),
    open: (key, counter, sealed, associated) => openssl.openChacha(key, counter, sealed, associated),
    openCookie: openXchacha,
  };
}
