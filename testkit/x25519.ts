/** Keys of X25519 as their bytes, as WireGuard's files and programs want them. */
import { generateKeyPairSync } from "node:crypto";

/** Of each key; in DER they come last (RFC 8410, sections 4 and 7). */
const KEY_BYTES = 32;

export interface KeyBytes {
  readonly privateKey: Buffer;
  readonly publicKey: Buffer;
}

/**
 * As DER, not as JWK: with Node 20 the export of a generated key as JWK can wait for ever. It holds the key's lock while it makes objects, and a garbage
 * collection that then frees the generator seems to want the same lock (20,000 such exports never ended in 8 of 8 tries).
 */
export function generateX25519(): KeyBytes {
  const { privateKey, publicKey } = generateKeyPairSync("x25519", {
    privateKeyEncoding: { type: "pkcs8", format: "der" },
    publicKeyEncoding: { type: "spki", format: "der" },
  });
  return { privateKey: privateKey.subarray(-KEY_BYTES), publicKey: publicKey.subarray(-KEY_BYTES) };
}
