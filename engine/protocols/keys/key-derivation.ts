/** Keys from passwords: RFC 7292 appendix B, PBKDF2 (RFC 8018), scrypt (RFC 7914), each refused when it would cost too much. Pure. */
import { hash as hashOf, pbkdf2Sync, scryptSync } from "node:crypto";
import { KeyBoundError } from "./key-bounds.ts";

export type Hash = "sha1" | "sha224" | "sha256" | "sha384" | "sha512";

const DERIVATION_LIMITS = {
  /** Of all derivations of one file together: writers of today use 2,048 to 600,000. */
  rounds: 1_000_000,
  /** scrypt's memory, 128 · N · r, and its work, 128 · N · r · p: 64 MiB and four times that, which takes a second. */
  scryptBytes: 67_108_864,
  scryptWorkBytes: 268_435_456,
  saltBytes: 1_024,
} as const;

/** What was asked for so far, by its own numbers; what a round of them is worth differs by no more than three. */
export interface KeyCost {
  rounds: number;
  scryptBytes: number;
}

/** Hash's block and output, bytes (FIPS 180-4). */
const SIZES: Readonly<Record<Hash, readonly [block: number, output: number]>> = {
  sha1: [64, 20],
  sha224: [64, 28],
  sha256: [64, 32],
  sha384: [128, 48],
  sha512: [128, 64],
};

/** @throws KeyBoundError when all together are too many, or these are none */
export function takeRounds(cost: KeyCost, rounds: number): void {
  if (!(rounds >= 1)) throw new KeyBoundError("a key derivation of no rounds");
  cost.rounds += rounds;
  if (cost.rounds <= DERIVATION_LIMITS.rounds) return;
  const found = Number.isFinite(cost.rounds) ? String(cost.rounds) : "more than 2^47";
  throw new KeyBoundError(
    `a key derivation of ${found} rounds; at most ${DERIVATION_LIMITS.rounds} are accepted in all`,
  );
}

interface Pbkdf2 {
  readonly hash: Hash;
  readonly password: string;
  readonly salt: Buffer;
  readonly rounds: number;
  readonly keyBytes: number;
}

/** Of rounds that were taken. */
export function pbkdf2Of({ hash, password, salt, rounds, keyBytes }: Pbkdf2): Buffer {
  boundSalt(salt);
  return pbkdf2Sync(password, salt, rounds, keyBytes, hash);
}

export interface ScryptCost {
  readonly salt: Buffer;
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** @throws KeyBoundError for more memory or time than is accepted */
export function takeScrypt(cost: KeyCost, { N, r, p }: ScryptCost): void {
  const bytes = 128 * N * r;
  cost.scryptBytes += bytes * p;
  if (!(bytes <= DERIVATION_LIMITS.scryptBytes && cost.scryptBytes <= DERIVATION_LIMITS.scryptWorkBytes)) {
    throw new KeyBoundError(
      `scrypt with N ${N}, r ${r}, p ${p}; at most 64 MiB of memory (128·N·r) and four times that of work are accepted`,
    );
  }
  if (!(N > 1 && (N & (N - 1)) === 0 && r >= 1 && p >= 1)) throw new KeyBoundError("scrypt with costs that it has not");
}

/** Of costs that were taken. */
export function scryptOf({
  password,
  keyBytes,
  salt,
  N,
  r,
  p,
}: ScryptCost & { readonly password: string; readonly keyBytes: number }): Buffer {
  boundSalt(salt);
  return scryptSync(password, salt, keyBytes, { N, r, p, maxmem: 2 * DERIVATION_LIMITS.scryptBytes });
}

interface Derivation {
  readonly hash: Hash;
  /** null: none at all, which is not the same as an empty text. */
  readonly password: string | null;
  readonly salt: Buffer;
  readonly rounds: number;
  readonly purpose: number;
  readonly sizeBytes: number;
}

/** RFC 7292 appendix B.2, of rounds that were taken. */
export function derived({ hash, password, salt, rounds, purpose, sizeBytes }: Derivation): Buffer {
  boundSalt(salt);
  const [blockBytes, outputBytes] = SIZES[hash];
  const diversifier = Buffer.alloc(blockBytes, purpose);
  const input = Buffer.concat([filled(salt, blockBytes), filled(bmpText(password), blockBytes)]);
  const parts: Buffer[] = [];
  for (let bytes = 0; bytes < sizeBytes; bytes += outputBytes) {
    let digest = hashOf(hash, Buffer.concat([diversifier, input]), "buffer");
    for (let round = 1; round < rounds; round++) digest = hashOf(hash, digest, "buffer");
    parts.push(digest);
    addToBlocks(input, filled(digest, blockBytes).subarray(0, blockBytes));
  }
  return Buffer.concat(parts).subarray(0, sizeBytes);
}

/** Big-endian UTF-16 with its zero at the end. */
function bmpText(password: string | null): Buffer {
  return password === null ? Buffer.alloc(0) : Buffer.from(`${password}\0`, "utf16le").swap16();
}

/** Repeated to whole blocks; nothing stays nothing. */
function filled(bytes: Buffer, blockBytes: number): Buffer {
  return Buffer.alloc(blockBytes * Math.ceil(bytes.length / blockBytes), bytes);
}

/** To each block the addend and one more, modulo its size. */
function addToBlocks(blocks: Buffer, addend: Buffer): void {
  for (let at = 0; at < blocks.length; at += addend.length) {
    let carry = 1;
    for (let index = addend.length - 1; index >= 0; index--) {
      const sum = (blocks[at + index] ?? 0) + (addend[index] ?? 0) + carry;
      blocks[at + index] = sum & 0xff;
      carry = sum >> 8;
    }
  }
}

function boundSalt(salt: Buffer): void {
  if (salt.length > DERIVATION_LIMITS.saltBytes) throw new KeyBoundError("a key derivation with too long a salt");
}
