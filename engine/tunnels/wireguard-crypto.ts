/** The fastest backend that works here: OpenSSL may be built without BLAKE2s or ChaCha20 (FIPS), and then the portable one stands in. */
import type { WireguardCrypto } from "../protocols/wireguard/crypto.ts";
import { nodeCrypto } from "../protocols/wireguard/crypto-node.ts";
import { portableCrypto } from "../protocols/wireguard/crypto-portable.ts";
import { opensslCrypto } from "./wireguard-openssl.ts";

let chosen: WireguardCrypto | undefined;

export function wireguardCrypto(): WireguardCrypto {
  if (chosen === undefined) {
    const native = opensslCrypto();
    chosen = chooseCrypto(native === null ? [nodeCrypto, portableCrypto] : [native, nodeCrypto, portableCrypto]);
  }
  return chosen;
}

/** @returns the first that does everything; the last when none does, so that its own error is seen */
export function chooseCrypto(backends: readonly [WireguardCrypto, ...WireguardCrypto[]]): WireguardCrypto {
  return backends.find(works) ?? backends.at(-1) ?? backends[0];
}

function works(crypto: WireguardCrypto): boolean {
  const key = new Uint8Array(32).fill(1);
  try {
    const shared = crypto.privateKey(key).agree(crypto.publicKey(crypto.privateKey(key).publicBytes));
    const sealed = crypto.seal(crypto.hash(key), 0, crypto.derive(key, key, 1)[0] ?? key, crypto.mac(key, key));
    return shared !== null && crypto.open(crypto.hash(key), 0, sealed, crypto.mac(key, key)) !== null;
  } catch {
    return false;
  }
}
