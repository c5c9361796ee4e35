/**
 * The initiator's side of Noise IKpsk2 as WireGuard uses it (paper section 5.4), with the MACs and cookies around it. Pure: keys, time
 * stamp, index and ephemeral come in as arguments.
 */
import {
  areEqual,
  deriveKeys,
  KEY_BYTES,
  MAC_BYTES,
  type PrivateKey,
  type PublicKey,
  TAG_BYTES,
  type WireguardCrypto,
} from "./crypto.ts";
import { COOKIE_REPLY, INITIATION, RESPONSE, setUint32, uint32At } from "./message.ts";

const CONSTRUCTION = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const IDENTIFIER = "WireGuard v1 zx2c4 Jason@zx2c4.com";
const NOTHING = new Uint8Array(0);
const MAC1_LABEL = Buffer.from("mac1----");
const COOKIE_LABEL = Buffer.from("cookie--");

/** Number of each key in the memory of PeerKeys. */
const PEER_PARTS = {
  private: 0,
  ownPublic: 1,
  server: 2,
  preshared: 3,
  staticShared: 4,
  startHash: 5,
  mac1: 6,
  ownMac1: 7,
} as const;

/**
 * One peer's keys and what follows from them alone, made once for many handshakes. Thousands of them wait between two handshakes, so
 * they are bytes in one piece of memory: a typed array for each would take three times as much, and a key that OpenSSL has made ready more yet.
 */
export class PeerKeys {
  readonly crypto: WireguardCrypto;
  readonly #memory = new Uint8Array(Object.keys(PEER_PARTS).length * KEY_BYTES);

  /** @param staticShared the agreement of both static keys */
  constructor(crypto: WireguardCrypto, keys: KeyMaterial, ownPublic: Uint8Array, staticShared: Uint8Array) {
    this.crypto = crypto;
    this.#put("private", keys.privateKey);
    this.#put("ownPublic", ownPublic);
    this.#put("server", keys.serverKey);
    // 32 zero bytes when there is none.
    if (keys.presharedKey !== null) this.#put("preshared", keys.presharedKey);
    this.#put("staticShared", staticShared);
    this.#put("startHash", crypto.hash(startOf(crypto).hash, keys.serverKey));
    this.#put("mac1", crypto.hash(MAC1_LABEL, keys.serverKey));
    this.#put("ownMac1", crypto.hash(MAC1_LABEL, ownPublic));
  }

  get privateKey(): PrivateKey {
    return this.crypto.privateKey(this.part("private"));
  }

  get server(): PublicKey {
    return this.crypto.publicKey(this.part("server"));
  }

  /** A hash of the protocol's name: where every handshake begins. */
  get startChainingKey(): Uint8Array {
    return startOf(this.crypto).chainingKey;
  }

  /** Key of the mac1 of what we are sent; that of what we send is the part `mac1`. */
  get ownMac1Key(): Uint8Array {
    return this.part("ownMac1");
  }

  /** 32 bytes, not a copy. */
  part(name: keyof typeof PEER_PARTS): Uint8Array {
    const at = PEER_PARTS[name] * KEY_BYTES;
    return this.#memory.subarray(at, at + KEY_BYTES);
  }

  #put(name: keyof typeof PEER_PARTS, bytes: Uint8Array): void {
    this.#memory.set(bytes, PEER_PARTS[name] * KEY_BYTES);
  }
}

export interface KeyMaterial {
  readonly privateKey: Uint8Array;
  readonly serverKey: Uint8Array;
  readonly presharedKey: Uint8Array | null;
}

/** Initial values of every handshake: BLAKE2s of CONSTRUCTION, and of that with IDENTIFIER. Computed once per backend. */
const starts = new WeakMap<WireguardCrypto, { readonly chainingKey: Uint8Array; readonly hash: Uint8Array }>();

function startOf(crypto: WireguardCrypto) {
  const known = starts.get(crypto);
  if (known !== undefined) return known;
  const chainingKey = crypto.hash(Buffer.from(CONSTRUCTION));
  const start = { chainingKey, hash: crypto.hash(chainingKey, Buffer.from(IDENTIFIER)) };
  starts.set(crypto, start);
  return start;
}

/** @returns null for a server key that no server can have (of low order) */
export function createPeerKeys(crypto: WireguardCrypto, keys: KeyMaterial): PeerKeys | null {
  const own = crypto.privateKey(keys.privateKey);
  const staticShared = own.agree(crypto.publicKey(keys.serverKey));
  return staticShared === null ? null : new PeerKeys(crypto, keys, own.publicBytes, staticShared);
}

export interface InitiationParts {
  /** 32 random bytes. */
  readonly ephemeralSeed: Uint8Array;
  /** 32 random bits by which the answer names this attempt. */
  readonly index: number;
  /** TAI64N, 12 bytes. */
  readonly timestamp: Uint8Array;
  /** The type field, 32 bits. */
  readonly header: number;
  /** From a cookie reply not older than 120 s. */
  readonly cookie: Uint8Array | null;
}

/** What the answer to an initiation is read with: one piece of memory without the message, because thousands of these wait for servers that say nothing. */
export class Asked {
  readonly index: number;
  /** The ephemeral key, the hash, the chaining key, the mac1. */
  readonly #memory = new Uint8Array(3 * KEY_BYTES + MAC_BYTES);

  constructor(index: number, ephemeralSeed: Uint8Array, hash: Uint8Array, chainingKey: Uint8Array, mac1: Uint8Array) {
    this.index = index;
    this.#memory.set(ephemeralSeed);
    this.#memory.set(hash, KEY_BYTES);
    this.#memory.set(chainingKey, 2 * KEY_BYTES);
    this.#memory.set(mac1, 3 * KEY_BYTES);
  }

  get ephemeralSeed(): Uint8Array {
    return this.#memory.subarray(0, KEY_BYTES);
  }

  get hash(): Uint8Array {
    return this.#memory.subarray(KEY_BYTES, 2 * KEY_BYTES);
  }

  get chainingKey(): Uint8Array {
    return this.#memory.subarray(2 * KEY_BYTES, 3 * KEY_BYTES);
  }

  get mac1(): Uint8Array {
    return this.#memory.subarray(3 * KEY_BYTES);
  }
}

export interface Initiation {
  readonly message: Uint8Array;
  readonly asked: Asked;
}

/** @returns null when the ephemeral key cannot be agreed upon, which no random one meets */
export function createInitiation(peer: PeerKeys, parts: InitiationParts): Initiation | null {
  const { crypto } = peer;
  const ephemeral = crypto.privateKey(parts.ephemeralSeed);
  const ephemeralShared = ephemeral.agree(peer.server);
  if (ephemeralShared === null) return null;
  const { publicBytes } = ephemeral;
  let hash = crypto.hash(peer.part("startHash"), publicBytes);
  const [afterEphemeral] = deriveKeys(crypto, peer.startChainingKey, publicBytes, 1);
  const [afterAgreement, staticKey] = deriveKeys(crypto, afterEphemeral, ephemeralShared, 2);
  const sealedStatic = crypto.seal(staticKey, 0, peer.part("ownPublic"), hash);
  hash = crypto.hash(hash, sealedStatic);
  const [chainingKey, timestampKey] = deriveKeys(crypto, afterAgreement, peer.part("staticShared"), 2);
  const sealedTimestamp = crypto.seal(timestampKey, 0, parts.timestamp, hash);
  hash = crypto.hash(hash, sealedTimestamp);

  const message = new Uint8Array(INITIATION.bytes);
  setUint32(message, 0, parts.header);
  setUint32(message, INITIATION.sender, parts.index);
  message.set(publicBytes, INITIATION.ephemeral);
  message.set(sealedStatic, INITIATION.staticKey);
  message.set(sealedTimestamp, INITIATION.timestamp);
  const mac1 = crypto.mac(peer.part("mac1"), message.subarray(0, INITIATION.mac1));
  message.set(mac1, INITIATION.mac1);
  if (parts.cookie !== null) {
    message.set(crypto.mac(parts.cookie, message.subarray(0, INITIATION.mac2)), INITIATION.mac2);
  }
  return { message, asked: new Asked(parts.index, parts.ephemeralSeed, hash, chainingKey, mac1) };
}

/** Keys of the data that follows, each for one direction. */
export interface DataKeys {
  readonly send: Uint8Array;
  readonly receive: Uint8Array;
  /** Names the session in what we send. */
  readonly peerIndex: number;
}

export type ReadResponse =
  | { readonly kind: "accepted"; readonly keys: DataKeys }
  /** The server knows us, and its preshared key is another. */
  | { readonly kind: "preshared-key-differs" }
  /** Made by who holds our public key, of a key that agrees on nothing. */
  | { readonly kind: "void" }
  /** Not made by who holds our public key, or broken: says nothing about the server. */
  | { readonly kind: "not-authentic" };

/** Whether it was made by who holds our public key: the mac1 covers all before it, whatever number stands in the place of the type. */
export function isResponse({ crypto, ownMac1Key }: PeerKeys, message: Uint8Array): boolean {
  if (message.length !== RESPONSE.bytes) return false;
  const mac1 = crypto.mac(ownMac1Key, message.subarray(0, RESPONSE.mac1));
  return areEqual(mac1, message.subarray(RESPONSE.mac1, RESPONSE.mac2));
}

/** @param message a response's bytes, whose receiver index is the initiation's */
export function readResponse(peer: PeerKeys, initiation: Asked, message: Uint8Array): ReadResponse {
  const { crypto } = peer;
  if (!isResponse(peer, message)) return { kind: "not-authentic" };

  const ephemeralBytes = Uint8Array.from(message.subarray(RESPONSE.ephemeral, RESPONSE.nothing));
  const ephemeral = crypto.publicKey(ephemeralBytes);
  const ephemeralShared = crypto.privateKey(initiation.ephemeralSeed).agree(ephemeral);
  const staticShared = peer.privateKey.agree(ephemeral);
  if (ephemeralShared === null || staticShared === null) return { kind: "void" };
  const hashWithEphemeral = crypto.hash(initiation.hash, ephemeralBytes);
  const [first] = deriveKeys(crypto, initiation.chainingKey, ephemeralBytes, 1);
  const [second] = deriveKeys(crypto, first, ephemeralShared, 1);
  const [third] = deriveKeys(crypto, second, staticShared, 1);
  const [chainingKey, mixed, key] = deriveKeys(crypto, third, peer.part("preshared"), 3);
  const hash = crypto.hash(hashWithEphemeral, mixed);
  const opened = crypto.open(key, 0, message.subarray(RESPONSE.nothing, RESPONSE.nothing + TAG_BYTES), hash);
  if (opened === null) return { kind: "preshared-key-differs" };
  const [send, receive] = deriveKeys(crypto, chainingKey, NOTHING, 2);
  return { kind: "accepted", keys: { send, receive, peerIndex: uint32At(message, RESPONSE.sender) } };
}

/** The cookie of a reply to one of our initiations; null when this server did not make it, or not for that initiation. */
export function readCookie(peer: PeerKeys, initiation: Asked, message: Uint8Array): Uint8Array | null {
  if (message.length !== COOKIE_REPLY.bytes) return null;
  return peer.crypto.openCookie(
    peer.crypto.hash(COOKIE_LABEL, peer.part("server")),
    message.subarray(COOKIE_REPLY.nonce, COOKIE_REPLY.cookie),
    message.subarray(COOKIE_REPLY.cookie),
    initiation.mac1,
  );
}
