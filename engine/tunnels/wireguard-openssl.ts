/** The fastest backend: Node's OpenSSL without node:crypto between. */
import { loadOpenssl } from "../../native/openssl.ts";
import { nonceOf, type WireguardCrypto } from "../protocols/wireguard/crypto.ts";
import { openXchacha } from "../protocols/wireguard/xchacha.ts";

/** Null where there is no native way. */
export function opensslCrypto(): WireguardCrypto | null {
  const openssl = loadOpenssl();
  if (openssl === null) return null;
  return {
    privateKey: (seed) => openssl.x25519Private(seed),
    publicKey: (bytes) => openssl.x25519Public(bytes),
    hash: (bytes, more) => openssl.blake2s(bytes, more),
    hmac: (key, bytes) => openssl.hmacBlake2s(key, bytes),
    mac: (key, bytes) => openssl.macBlake2s(key, bytes),
    seal: (key, counter, plain, associated) => openssl.sealChacha(key, nonceOf(counter), plain, associated),
    open: (key, counter, sealed, associated) => openssl.openChacha(key, nonceOf(counter), sealed, associated),
    openCookie: openXchacha,
  };
}
