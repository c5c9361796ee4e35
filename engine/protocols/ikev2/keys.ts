/** Key derivation: prf+, keys of the IKE SA and of its first Child SA (RFC 7296 sections 2.13, 2.14, 2.17). Pure. */
import { createHmac } from "node:crypto";
import type { Prf } from "./algorithms.ts";
import type { IkeSuite, Protection } from "./proposals.ts";

/** Keys of one direction of an SA. */
export interface DirectionKeys extends Protection {
  readonly key: Buffer;
  /** Empty without AEAD. */
  readonly salt: Buffer;
  /** Empty with AEAD. */
  readonly integrityKey: Buffer;
}

export interface IkeKeys {
  /** Child SAs are derived from it. */
  readonly derive: Buffer;
  readonly fromInitiator: DirectionKeys;
  readonly fromResponder: DirectionKeys;
  /** For the AUTH payloads. */
  readonly initiatorProof: Buffer;
  readonly responderProof: Buffer;
}

export interface Exchanged {
  readonly sharedSecret: Buffer;
  readonly initiatorNonce: Buffer;
  readonly responderNonce: Buffer;
  readonly initiatorSpi: Buffer;
  readonly responderSpi: Buffer;
}

export function prf({ hash }: Prf, key: Uint8Array, ...data: readonly Uint8Array[]): Buffer {
  const hmac = createHmac(hash, key);
  for (const part of data) hmac.update(part);
  return hmac.digest();
}

/** T1 | T2 | … with Tn = prf(K, Tn-1 | S | n). */
function prfPlus(algorithm: Prf, key: Buffer, seed: Buffer, sizeBytes: number): Buffer {
  const blocks: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  for (let round = 1; (round - 1) * algorithm.sizeBytes < sizeBytes; round++) {
    last = prf(algorithm, key, last, seed, Buffer.from([round]));
    blocks.push(last);
  }
  return Buffer.concat(blocks).subarray(0, sizeBytes);
}

export function deriveIkeKeys(suite: IkeSuite, exchanged: Exchanged): IkeKeys {
  const { initiatorNonce, responderNonce, initiatorSpi, responderSpi, sharedSecret } = exchanged;
  const nonces = Buffer.concat([initiatorNonce, responderNonce]);
  const seed = prf(suite.prf, nonces, sharedSecret);
  const { encryption, integrity } = suite;
  const proofBytes = suite.prf.sizeBytes;
  const integrityBytes = integrity?.keyBytes ?? 0;
  const cipherBytes = encryption.keyBytes + encryption.saltBytes;
  const take = slicer(
    prfPlus(
      suite.prf,
      seed,
      Buffer.concat([nonces, initiatorSpi, responderSpi]),
      3 * proofBytes + 2 * integrityBytes + 2 * cipherBytes,
    ),
  );
  const derive = take(proofBytes);
  const integrityKeys = [take(integrityBytes), take(integrityBytes)] as const;
  const ciphers = [take(cipherBytes), take(cipherBytes)] as const;
  return {
    derive,
    fromInitiator: directionOf(suite, ciphers[0], integrityKeys[0]),
    fromResponder: directionOf(suite, ciphers[1], integrityKeys[1]),
    initiatorProof: take(proofBytes),
    responderProof: take(proofBytes),
  };
}

/** @returns ours first: what the initiator sends with */
export function deriveChildKeys(
  algorithm: Prf,
  derive: Buffer,
  nonces: Buffer,
  protection: Protection,
): readonly [DirectionKeys, DirectionKeys] {
  const { encryption, integrity } = protection;
  const cipherBytes = encryption.keyBytes + encryption.saltBytes;
  const integrityBytes = integrity?.keyBytes ?? 0;
  const take = slicer(prfPlus(algorithm, derive, nonces, 2 * (cipherBytes + integrityBytes)));
  const direction = (): DirectionKeys => directionOf(protection, take(cipherBytes), take(integrityBytes));
  return [direction(), direction()];
}

function directionOf({ encryption, integrity }: Protection, cipher: Buffer, integrityKey: Buffer): DirectionKeys {
  return {
    encryption,
    integrity,
    key: cipher.subarray(0, encryption.keyBytes),
    salt: cipher.subarray(encryption.keyBytes),
    integrityKey,
  };
}

function slicer(material: Buffer): (sizeBytes: number) => Buffer {
  let offset = 0;
  return (sizeBytes) => {
    offset += sizeBytes;
    return material.subarray(offset - sizeBytes, offset);
  };
}
