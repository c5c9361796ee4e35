/**
 * What the handshake needs of cryptography, behind one small interface: engine/tunnels/wireguard-openssl.ts is the fastest, crypto-node.ts the fast one
 * where there is no native way, crypto-portable.ts the one that needs nothing of OpenSSL and that the fast ones are compared with.
 */

export const KEY_BYTES = 32;
/** Poly1305, RFC 8439 section 2.5. */
export const TAG_BYTES = 16;
/** mac1, mac2 and cookies. */
export const MAC_BYTES = 16;

/** A private key for the agreements of one handshake. Who keeps keys keeps their bytes: this may be larger by far. */
export interface PrivateKey {
  /** Made anew each time. */
  readonly publicBytes: Uint8Array;
  /** @returns null for a peer key of low order, because its shared secret is public knowledge */
  agree(peer: PublicKey): Uint8Array | null;
}

/** Made and used by the same backend. */
export interface PublicKey {
  readonly bytes: Uint8Array;
}

export interface WireguardCrypto {
  /** @param seed 32 bytes; clamped by X25519 itself (RFC 7748 section 5) */
  privateKey(seed: Uint8Array): PrivateKey;
  publicKey(bytes: Uint8Array): PublicKey;
  /** BLAKE2s-256, of the second behind the first where there are two. */
  hash(bytes: Uint8Array, more?: Uint8Array): Uint8Array;
  /** KDFn of the paper: HKDF with HMAC-BLAKE2s, `count` outputs of 32 bytes. */
  derive(chainingKey: Uint8Array, input: Uint8Array, count: number): Uint8Array[];
  /** Keyed BLAKE2s-128: mac1 and mac2. */
  mac(key: Uint8Array, bytes: Uint8Array): Uint8Array;
  /** ChaCha20-Poly1305 under a counter; the tag is at the end. */
  seal(key: Uint8Array, counter: number, plain: Uint8Array, associated: Uint8Array): Uint8Array;
  /** @returns null when it was not sealed under this key */
  open(key: Uint8Array, counter: number, sealed: Uint8Array, associated: Uint8Array): Uint8Array | null;
  /** XChaCha20-Poly1305 of cookie replies. @returns null when it was not sealed under this key */
  openCookie(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | null;
}

/** Four zero bytes and the counter in 64 bits, little-endian (WireGuard paper section 5.4); counters of ours stay below 2^53. */
export function nonceOf(counter: number): Uint8Array {
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  view.setUint32(4, counter % 0x1_0000_0000, true);
  view.setUint32(8, Math.floor(counter / 0x1_0000_0000), true);
  return nonce;
}

const FIRST = Uint8Array.of(1);

/** WireguardCrypto.derive() of a backend's HMAC-BLAKE2s-256. */
export function deriveWith(
  hmac: (key: Uint8Array, bytes: Uint8Array) => Uint8Array,
  chainingKey: Uint8Array,
  input: Uint8Array,
  count: number,
): Uint8Array[] {
  const extracted = hmac(chainingKey, input);
  const outputs = [hmac(extracted, FIRST)];
  // Each further output is made of the one before it and its own number.
  const block = new Uint8Array(KEY_BYTES + 1);
  for (let index = 2; index <= count; index++) {
    block.set(outputs[index - 2] ?? FIRST);
    block[KEY_BYTES] = index;
    outputs.push(hmac(extracted, block));
  }
  return outputs;
}

interface Derived {
  1: [Uint8Array];
  2: [Uint8Array, Uint8Array];
  3: [Uint8Array, Uint8Array, Uint8Array];
}

export function deriveKeys<Count extends keyof Derived>(
  crypto: WireguardCrypto,
  chainingKey: Uint8Array,
  input: Uint8Array,
  count: Count,
): Derived[Count] {
  return crypto.derive(chainingKey, input, count) as Derived[Count];
}

/** Reads that its whole length is the same whatever is in it. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  return difference === 0;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
