/**
 * The initiator's side of Noise IKpsk2 as WireGuard uses it (paper section 5.4), with the MACs and cookies around it. Pure: keys, time
 * stamp, index and ephemeral come in as arguments.
 */
import {
  areEqual,
  deriveKeys,
  KEY_BYTES,
  type PrivateKey,
  type PublicKey,
  TAG_BYTES,
  type WireguardCrypto,
} from "./crypto.ts";
import { COOKIE_REPLY, INITIATION, RESPONSE, setUint32, uint32At } from "./message.ts";

const CONSTRUCTION = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const IDENTIFIER = "WireGuard v1 zx2c4 Jason@zx2c4.com";
const NOTHING = new Uint8Array(0);
const NO_PRESHARED_KEY = new Uint8Array(KEY_BYTES);

/** One peer's keys and all that follows from them alone, made once for many handshakes. */
export interface PeerKeys {
  readonly crypto: WireguardCrypto;
  readonly privateKey: PrivateKey;
  readonly server: PublicKey;
  /** 32 zero bytes when there is none. */
  readonly presharedKey: Uint8Array;
  /** The agreement of both static keys. */
  readonly staticShared: Uint8Array;
  /** The hash of protocol, identifier and server key: where every handshake begins. */
  readonly startHash: Uint8Array;
  readonly startChainingKey: Uint8Array;
  /** Key of the mac1 of what we send, of what we are sent, and of cookies. */
  readonly mac1Key: Uint8Array;
  readonly ownMac1Key: Uint8Array;
  readonly cookieKey: Uint8Array;
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
  const server = crypto.publicKey(keys.serverKey);
  const staticShared = own.agree(server);
  if (staticShared === null) return null;
  const start = startOf(crypto);
  return {
    crypto,
    privateKey: own,
    server,
    presharedKey: keys.presharedKey ?? NO_PRESHARED_KEY,
    staticShared,
    startHash: crypto.hash(start.hash, keys.serverKey),
    startChainingKey: start.chainingKey,
    mac1Key: crypto.hash(Buffer.from("mac1----"), keys.serverKey),
    ownMac1Key: crypto.hash(Buffer.from("mac1----"), own.publicBytes),
    cookieKey: crypto.hash(Buffer.from("cookie--"), keys.serverKey),
  };
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

/** What the answer to an initiation is read with. */
export interface Asked {
  readonly index: number;
  readonly ephemeral: PrivateKey;
  readonly hash: Uint8Array;
  readonly chainingKey: Uint8Array;
  readonly mac1: Uint8Array;
}

export interface Initiation {
  readonly message: Uint8Array;
  /** Without the message: thousands of these wait for servers that say nothing. */
  readonly asked: Asked;
}

/** @returns null when the ephemeral key cannot be agreed upon, which no random one meets */
export function createInitiation(peer: PeerKeys, parts: InitiationParts): Initiation | null {
  const { crypto } = peer;
  const ephemeral = crypto.privateKey(parts.ephemeralSeed);
  const ephemeralShared = ephemeral.agree(peer.server);
  if (ephemeralShared === null) return null;
  let hash = crypto.hash(peer.startHash, ephemeral.publicBytes);
  const [afterEphemeral] = deriveKeys(crypto, peer.startChainingKey, ephemeral.publicBytes, 1);
  const [afterAgreement, staticKey] = deriveKeys(crypto, afterEphemeral, ephemeralShared, 2);
  const sealedStatic = crypto.seal(staticKey, 0, peer.privateKey.publicBytes, hash);
  hash = crypto.hash(hash, sealedStatic);
  const [chainingKey, timestampKey] = deriveKeys(crypto, afterAgreement, peer.staticShared, 2);
  const sealedTimestamp = crypto.seal(timestampKey, 0, parts.timestamp, hash);
  hash = crypto.hash(hash, sealedTimestamp);

  const message = new Uint8Array(INITIATION.bytes);
  setUint32(message, 0, parts.header);
  setUint32(message, INITIATION.sender, parts.index);
  message.set(ephemeral.publicBytes, INITIATION.ephemeral);
  message.set(sealedStatic, INITIATION.staticKey);
  message.set(sealedTimestamp, INITIATION.timestamp);
  const mac1 = crypto.mac(peer.mac1Key, message.subarray(0, INITIATION.mac1));
  message.set(mac1, INITIATION.mac1);
  if (parts.cookie !== null) {
    message.set(crypto.mac(parts.cookie, message.subarray(0, INITIATION.mac2)), INITIATION.mac2);
  }
  return { message, asked: { index: parts.index, ephemeral, hash, chainingKey, mac1 } };
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
  /** Not made by who holds our public key, or broken: says nothing about the server. */
  | { readonly kind: "not-authentic" };

/** @param message a response's bytes, whose receiver index is the initiation's */
export function readResponse(peer: PeerKeys, initiation: Asked, message: Uint8Array): ReadResponse {
  const { crypto } = peer;
  if (message.length !== RESPONSE.bytes) return { kind: "not-authentic" };
  const mac1 = crypto.mac(peer.ownMac1Key, message.subarray(0, RESPONSE.mac1));
  if (!areEqual(mac1, message.subarray(RESPONSE.mac1, RESPONSE.mac2))) return { kind: "not-authentic" };

  const ephemeralBytes = Uint8Array.from(message.subarray(RESPONSE.ephemeral, RESPONSE.nothing));
  const ephemeral = crypto.publicKey(ephemeralBytes);
  const ephemeralShared = initiation.ephemeral.agree(ephemeral);
  const staticShared = peer.privateKey.agree(ephemeral);
  if (ephemeralShared === null || staticShared === null) return { kind: "not-authentic" };
  const hashWithEphemeral = crypto.hash(initiation.hash, ephemeralBytes);
  const [first] = deriveKeys(crypto, initiation.chainingKey, ephemeralBytes, 1);
  const [second] = deriveKeys(crypto, first, ephemeralShared, 1);
  const [third] = deriveKeys(crypto, second, staticShared, 1);
  const [chainingKey, mixed, key] = deriveKeys(crypto, third, peer.presharedKey, 3);
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
    peer.cookieKey,
    message.subarray(COOKIE_REPLY.nonce, COOKIE_REPLY.cookie),
    message.subarray(COOKIE_REPLY.cookie),
    initiation.mac1,
  );
}
