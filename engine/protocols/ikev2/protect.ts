/**
 * Encryption with integrity as SK, SKF and ESP share it (RFC 7296 section 3.14, RFC 5282, RFC 4303, RFC 4106, RFC 7634): a prefix that is
 * authenticated only, IV, ciphertext, check value. Pure: the IV comes in as an argument.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import type { DirectionKeys } from "./keys.ts";

/** Bytes that IV, and check value add to a plaintext. */
export function overheadBytes({ encryption, integrity }: DirectionKeys): number {
  return encryption.ivBytes + (integrity?.icvBytes ?? encryption.tagBytes);
}

/**
 * @param prefix authenticated, not encrypted; part of the result
 * @param plaintext a multiple of the cipher's block
 * @param iv unpredictable with CBC, never twice with AEAD
 */
export function protect(keys: DirectionKeys, prefix: Buffer, plaintext: Buffer, iv: Buffer): Buffer {
  const { encryption, integrity } = keys;
  if (encryption.tagBytes > 0) {
    const cipher = createCipheriv(aeadName(keys), keys.key, nonceOf(keys, iv), { authTagLength: encryption.tagBytes });
    cipher.setAAD(prefix, { plaintextLength: plaintext.length });
    return Buffer.concat([prefix, iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }
  const cipher = createCipheriv(encryption.cipher, keys.key, iv).setAutoPadding(false);
  const covered = Buffer.concat([prefix, iv, cipher.update(plaintext), cipher.final()]);
  if (integrity === null) return covered;
  const icv = createHmac(integrity.hash, keys.integrityKey).update(covered).digest();
  return Buffer.concat([covered, icv.subarray(0, integrity.icvBytes)]);
}

/** @returns the plaintext with its padding; undefined for bytes that are not from who has the key */
export function unprotect(keys: DirectionKeys, bytes: Buffer, prefixBytes: number): Buffer | undefined {
  const { encryption, integrity } = keys;
  const checkBytes = integrity?.icvBytes ?? encryption.tagBytes;
  const startAt = prefixBytes + encryption.ivBytes;
  const endAt = bytes.length - checkBytes;
  if (endAt < startAt || (endAt - startAt) % (encryption.tagBytes > 0 ? 1 : encryption.blockBytes) !== 0)
    return undefined;
  const iv = bytes.subarray(prefixBytes, startAt);
  const ciphertext = bytes.subarray(startAt, endAt);
  const check = bytes.subarray(endAt);
  if (encryption.tagBytes > 0) {
    try {
      const options = { authTagLength: encryption.tagBytes };
      const decipher = createDecipheriv(aeadName(keys), keys.key, nonceOf(keys, iv), options);
      decipher.setAAD(bytes.subarray(0, prefixBytes), { plaintextLength: ciphertext.length });
      decipher.setAuthTag(check);
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
    } catch {
      return undefined;
    }
  }
  if (integrity === null) return undefined;
  const expected = createHmac(integrity.hash, keys.integrityKey).update(bytes.subarray(0, endAt)).digest();
  if (!timingSafeEqual(expected.subarray(0, checkBytes), check)) return undefined;
  const decipher = createDecipheriv(encryption.cipher, keys.key, iv).setAutoPadding(false);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}

/** Node's types know the methods of AEAD by name; ChaCha20-Poly1305 has the same as GCM. */
function aeadName({ encryption }: DirectionKeys): "aes-256-gcm" {
  return encryption.cipher as "aes-256-gcm";
}

function nonceOf({ salt }: DirectionKeys, iv: Buffer): Buffer {
  return Buffer.concat([salt, iv]);
}

/** An IV that no other message under this key has: a counter (RFC 5282 section 3.1). */
export function counterIv(counter: number): Buffer {
  const iv = Buffer.alloc(8);
  iv.writeBigUInt64BE(BigInt(counter));
  return iv;
}
