/** Algorithms by their IKEv2 numbers: the registry "IKEv2 Transform IDs", RFC 8247, and what node:crypto calls them. Pure. */

/** Transform types, RFC 7296 section 3.3.2. */
export const TRANSFORM = { encryption: 1, prf: 2, integrity: 3, group: 4, sequence: 5 } as const;

export interface Encryption {
  readonly id: number;
  /** The key length attribute; null where the number alone says it. */
  readonly keyBits: number | null;
  readonly keyBytes: number;
  /** Implicit part of the nonce, taken from the key material (RFC 5282 section 7.1, RFC 4106 section 8.1, RFC 7634 section 2). */
  readonly saltBytes: number;
  readonly ivBytes: number;
  /** Of AEAD; 0: integrity is another algorithm's. */
  readonly tagBytes: number;
  readonly blockBytes: number;
  readonly cipher: "aes-128-gcm" | "aes-256-gcm" | "chacha20-poly1305" | "aes-128-cbc" | "aes-256-cbc";
}

export interface Integrity {
  readonly id: number;
  readonly hash: Hash;
  readonly keyBytes: number;
  /** The digest is cut to this. */
  readonly icvBytes: number;
}

export interface Prf {
  readonly id: number;
  readonly hash: Hash;
  readonly sizeBytes: number;
}

export type Hash = "sha1" | "sha256" | "sha384" | "sha512";

const AES_CBC = 12;
const AES_GCM_16 = 20;
const CHACHA20_POLY1305 = 28;

const aead = { saltBytes: 4, ivBytes: 8, tagBytes: 16, blockBytes: 4 } as const;
const cbc = { saltBytes: 0, ivBytes: 16, tagBytes: 0, blockBytes: 16 } as const;

export const AES_256_GCM: Encryption = { id: AES_GCM_16, keyBits: 256, keyBytes: 32, cipher: "aes-256-gcm", ...aead };
export const AES_128_GCM: Encryption = { id: AES_GCM_16, keyBits: 128, keyBytes: 16, cipher: "aes-128-gcm", ...aead };
export const CHACHA: Encryption = {
  id: CHACHA20_POLY1305,
  keyBits: null,
  keyBytes: 32,
  cipher: "chacha20-poly1305",
  ...aead,
};
export const AES_256_CBC: Encryption = { id: AES_CBC, keyBits: 256, keyBytes: 32, cipher: "aes-256-cbc", ...cbc };
export const AES_128_CBC: Encryption = { id: AES_CBC, keyBits: 128, keyBytes: 16, cipher: "aes-128-cbc", ...cbc };

/** RFC 2404, RFC 4868 section 2.3. */
export const HMAC_SHA1_96: Integrity = { id: 2, hash: "sha1", keyBytes: 20, icvBytes: 12 };
export const HMAC_SHA256_128: Integrity = { id: 12, hash: "sha256", keyBytes: 32, icvBytes: 16 };
export const HMAC_SHA384_192: Integrity = { id: 13, hash: "sha384", keyBytes: 48, icvBytes: 24 };
export const HMAC_SHA512_256: Integrity = { id: 14, hash: "sha512", keyBytes: 64, icvBytes: 32 };

export const PRF_SHA1: Prf = { id: 2, hash: "sha1", sizeBytes: 20 };
export const PRF_SHA256: Prf = { id: 5, hash: "sha256", sizeBytes: 32 };
export const PRF_SHA384: Prf = { id: 6, hash: "sha384", sizeBytes: 48 };
export const PRF_SHA512: Prf = { id: 7, hash: "sha512", sizeBytes: 64 };

/** Diffie-Hellman groups, "Key Exchange Method Transform IDs". */
export const GROUP = {
  modp1024: 2,
  modp2048: 14,
  modp3072: 15,
  modp4096: 16,
  p256: 19,
  p384: 20,
  p521: 21,
  x25519: 31,
} as const;

export const NO_ESN = 0;
