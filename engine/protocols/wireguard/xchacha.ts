/** XChaCha20-Poly1305 of cookie replies, for both backends: OpenSSL lacks it, and only servers under load make it run. */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";

export function openXchacha(
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
  associated: Uint8Array,
): Uint8Array | null {
  try {
    return xchacha20poly1305(key, nonce, associated).decrypt(sealed);
  } catch {
    return null;
  }
}
