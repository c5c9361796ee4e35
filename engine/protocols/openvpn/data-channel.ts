/**
 * Packets of the data channel: AEAD (classic and with epochs), CBC with HMAC, marks of compression and fragments, and what is said in band
 * (openvpn crypto.c, crypto_epoch.c, comp.c, fragment.c; wire protocol draft). Pure.
 */
import { type CipherGCMTypes, createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { ReplayWindow } from "../wireguard/data.ts";
import type { Compression } from "./control-text.ts";
import { OPCODE, uint32 } from "./packet.ts";
import type { KeyBlock, KeyHalf } from "./static-key.ts";

const TAG_BYTES = 16;
const PACKET_ID_BYTES = 4;
const IMPLICIT_IV_BYTES = 8;
const CBC_IV_BYTES = 16;
const EPOCH_ID_BYTES = 8;
const EPOCH_IV_BYTES = 12;
const EPOCH_SECRET_BYTES = 32;
/** Epochs that a peer may be ahead (crypto_epoch.c keeps 16 future keys). */
const EPOCHS_AHEAD = 16;

/** ping.c and occ.c. */
const PING = Buffer.from("2a187bf3641eb4cb07ed2d0a981fc748", "hex");
const OCC_EXIT = Buffer.from("287f346bd4ef7a812d56b8d3afc5459c06", "hex");
const OCC_MAGIC = OCC_EXIT.subarray(0, 16);

interface Aead {
  readonly kind: "aead";
  readonly name: CipherGCMTypes | "chacha20-poly1305";
  readonly keyBytes: number;
}
interface Cbc {
  readonly kind: "cbc";
  readonly name: string;
  readonly keyBytes: number;
}
export type DataCipher = Aead | Cbc;

/** By OpenVPN's names, uppercase. */
const CIPHERS: ReadonlyMap<string, DataCipher> = new Map<string, DataCipher>([
  ["AES-256-GCM", { kind: "aead", name: "aes-256-gcm", keyBytes: 32 }],
  ["AES-192-GCM", { kind: "aead", name: "aes-192-gcm", keyBytes: 24 }],
  ["AES-128-GCM", { kind: "aead", name: "aes-128-gcm", keyBytes: 16 }],
  ["CHACHA20-POLY1305", { kind: "aead", name: "chacha20-poly1305", keyBytes: 32 }],
  ["AES-256-CBC", { kind: "cbc", name: "aes-256-cbc", keyBytes: 32 }],
  ["AES-192-CBC", { kind: "cbc", name: "aes-192-cbc", keyBytes: 24 }],
  ["AES-128-CBC", { kind: "cbc", name: "aes-128-cbc", keyBytes: 16 }],
]);

export function dataCipherOf(name: string): DataCipher | undefined {
  return CIPHERS.get(name.toUpperCase());
}

export interface DigestName {
  readonly name: string;
  readonly sizeBytes: number;
}

/** By OpenVPN's names, uppercase. */
const DIGESTS: ReadonlyMap<string, DigestName> = new Map<string, DigestName>([
  ["MD5", { name: "md5", sizeBytes: 16 }],
  ["SHA1", { name: "sha1", sizeBytes: 20 }],
  ["SHA224", { name: "sha224", sizeBytes: 28 }],
  ["SHA256", { name: "sha256", sizeBytes: 32 }],
  ["SHA384", { name: "sha384", sizeBytes: 48 }],
  ["SHA512", { name: "sha512", sizeBytes: 64 }],
]);

/** `SHA256`, `SHA-256` and `RSA-SHA256` are one. */
export function digestOf(name: string): DigestName | undefined {
  return DIGESTS.get(name.toUpperCase().replace(/^RSA-/, "").replace("-", ""));
}

export interface DataChannelOptions {
  /** Client's view: the first half sends, the second receives. */
  readonly keys: KeyBlock;
  readonly cipher: DataCipher;
  readonly isEpoch: boolean;
  /** Of CBC. */
  readonly digest: DigestName;
  readonly peerId: number | null;
  readonly compression: Compression;
  readonly hasFragments: boolean;
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
}

export type DataOpened =
  | { readonly kind: "packet"; readonly packet: Buffer }
  /** Pings and other words between the two ends. */
  | { readonly kind: "in-band" }
  | { readonly kind: "replayed" }
  /** Not under our keys. */
  | { readonly kind: "not-authentic" }
  /** Under our keys, and yet no packet: compressed, or framed as the profile does not say. */
  | { readonly kind: "odd" };

/** Opens a packet's ciphertext; undefined when it is not authentic. */
interface Direction {
  seal(header: Buffer, payload: Buffer): Buffer;
  open(header: Buffer, sealed: Buffer): { readonly id: number; readonly payload: Buffer } | undefined;
}

export class DataChannel {
  readonly #options: DataChannelOptions;
  readonly #direction: Direction;
  readonly #received = new ReplayWindow();

  constructor(options: DataChannelOptions) {
    this.#options = options;
    this.#direction = directionOf(options);
  }

  seal(ipPacket: Uint8Array): Buffer {
    return this.#sealPayload(this.#framed(Buffer.from(ipPacket)));
  }

  /** Notifies the server over UDP that this client is gone; UDP itself has no close. */
  sealExit(): Buffer {
    return this.#sealPayload(this.#framed(OCC_EXIT));
  }

  open(packet: Buffer): DataOpened {
    const headerBytes = packet[0] === undefined ? 0 : packet[0] >>> 3 === OPCODE.dataV2 ? 4 : 1;
    if (headerBytes === 0 || packet.length <= headerBytes) return { kind: "not-authentic" };
    const opened = this.#direction.open(packet.subarray(0, headerBytes), packet.subarray(headerBytes));
    if (opened === undefined) return { kind: "not-authentic" };
    if (!this.#received.accept(opened.id)) return { kind: "replayed" };
    const payload = this.#unframed(opened.payload);
    if (payload === undefined) return { kind: "odd" };
    const isInBand = payload.length === 0 || payload.equals(PING) || payload.subarray(0, 16).equals(OCC_MAGIC);
    if (isInBand) return { kind: "in-band" };
    const version = (payload[0] ?? 0) >>> 4;
    return version === 4 || version === 6 ? { kind: "packet", packet: payload } : { kind: "odd" };
  }

  #sealPayload(payload: Buffer): Buffer {
    const { peerId } = this.#options;
    const header = peerId === null ? Buffer.of(OPCODE.dataV1 << 3) : uint32(((OPCODE.dataV2 << 3) << 24) + peerId);
    return Buffer.concat([header, this.#direction.seal(header, payload)]);
  }

  #framed(payload: Buffer): Buffer {
    const marked = mark(payload, this.#options.compression);
    return this.#options.hasFragments ? Buffer.concat([Buffer.alloc(4), marked]) : marked;
  }

  #unframed(payload: Buffer): Buffer | undefined {
    if (!this.#options.hasFragments) return unmark(payload, this.#options.compression);
    // The two lowest bits say what it is a part of; 0: it is whole.
    if (payload.length < 4 || (payload.readUInt32BE(0) & 3) !== 0) return undefined;
    return unmark(payload.subarray(4), this.#options.compression);
  }
}

/** comp.h: NO_COMPRESS_BYTE, NO_COMPRESS_BYTE_SWAP, COMP_ALGV2_INDICATOR_BYTE. */
const PLAIN_BYTE = 0xfa;
const SWAP_BYTE = 0xfb;
const V2_BYTE = 0x50;

function mark(payload: Buffer, compression: Compression): Buffer {
  switch (compression) {
    case "none":
      return payload;
    case "lzo":
      return Buffer.concat([Buffer.of(PLAIN_BYTE), payload]);
    case "swap":
      return Buffer.concat([Buffer.of(SWAP_BYTE), payload.subarray(1), payload.subarray(0, 1)]);
    case "v2":
      return payload[0] === V2_BYTE ? Buffer.concat([Buffer.of(V2_BYTE, 0), payload]) : payload;
  }
}

/** @returns undefined for what is compressed, or not marked in this way */
function unmark(payload: Buffer, compression: Compression): Buffer | undefined {
  if (compression === "none" || payload.length === 0) return payload;
  const [first] = payload;
  if (compression === "lzo") return first === PLAIN_BYTE ? payload.subarray(1) : undefined;
  if (compression === "swap") {
    if (first !== SWAP_BYTE || payload.length < 2) return undefined;
    return Buffer.concat([payload.subarray(-1), payload.subarray(1, -1)]);
  }
  if (first !== V2_BYTE) return payload;
  return payload[1] === 0 ? payload.subarray(2) : undefined;
}

function directionOf(options: DataChannelOptions): Direction {
  const { cipher, isEpoch } = options;
  if (cipher.kind === "cbc") return cbc(cipher, options);
  return isEpoch ? epochAead(cipher, options) : classicAead(cipher, options);
}

/** chacha20-poly1305 has the same interface as GCM; Node's types name it apart. */
function aeadSeal({ name }: Aead, key: Buffer, nonce: Buffer, open: Buffer, payload: Buffer) {
  const cipher = createCipheriv(name as CipherGCMTypes, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(open);
  const sealed = Buffer.concat([cipher.update(payload), cipher.final()]);
  return { sealed, tag: cipher.getAuthTag() };
}

function aeadOpen(
  { name }: Aead,
  key: Buffer,
  nonce: Buffer,
  open: Buffer,
  { sealed, tag }: { readonly sealed: Buffer; readonly tag: Buffer },
): Buffer | undefined {
  const decipher = createDecipheriv(name as CipherGCMTypes, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(open);
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Packet id, tag, ciphertext; the header of V1 is not authenticated. */
function classicAead(cipher: Aead, { keys: [send, receive] }: DataChannelOptions): Direction {
  const nonceOf = ({ hmac }: KeyHalf, id: Buffer): Buffer => Buffer.concat([id, hmac.subarray(0, IMPLICIT_IV_BYTES)]);
  const openPart = (header: Buffer, id: Buffer): Buffer => (header.length > 1 ? Buffer.concat([header, id]) : id);
  const sendKey = send.cipher.subarray(0, cipher.keyBytes);
  const receiveKey = receive.cipher.subarray(0, cipher.keyBytes);
  let lastId = 0;
  return {
    seal(header, payload) {
      const id = uint32(++lastId);
      const { sealed, tag } = aeadSeal(cipher, sendKey, nonceOf(send, id), openPart(header, id), payload);
      return Buffer.concat([id, tag, sealed]);
    },
    open(header, packet) {
      const tagEnd = PACKET_ID_BYTES + TAG_BYTES;
      if (packet.length < tagEnd) return undefined;
      const id = packet.subarray(0, PACKET_ID_BYTES);
      const parts = { sealed: packet.subarray(tagEnd), tag: packet.subarray(PACKET_ID_BYTES, tagEnd) };
      const payload = aeadOpen(cipher, receiveKey, nonceOf(receive, id), openPart(header, id), parts);
      return payload === undefined ? undefined : { id: id.readUInt32BE(0), payload };
    },
  };
}

interface EpochKey {
  readonly epoch: number;
  readonly secret: Buffer;
  readonly key: Buffer;
  readonly iv: Buffer;
}

/** Epoch and counter, ciphertext, tag; keys of later epochs follow from the ones before. */
function epochAead(cipher: Aead, { keys: [send, receive] }: DataChannelOptions): Direction {
  const keyOf = (epoch: number, secret: Buffer): EpochKey => ({
    epoch,
    secret,
    key: expandLabel(secret, "data_key", cipher.keyBytes),
    iv: expandLabel(secret, "data_iv", EPOCH_IV_BYTES),
  });
  const nonceOf = ({ iv }: EpochKey, id: Buffer): Buffer =>
    Buffer.from(iv.map((byte, index) => byte ^ (id[index] ?? 0)));
  const sending = keyOf(1, send.cipher.subarray(0, EPOCH_SECRET_BYTES));
  let receiving = keyOf(1, receive.cipher.subarray(0, EPOCH_SECRET_BYTES));
  const receivingIn = (epoch: number): EpochKey | undefined => {
    if (epoch < receiving.epoch || epoch > receiving.epoch + EPOCHS_AHEAD) return undefined;
    let key = receiving;
    while (key.epoch < epoch) key = keyOf(key.epoch + 1, expandLabel(key.secret, "datakey upd", EPOCH_SECRET_BYTES));
    return key;
  };
  let counter = 0;
  return {
    seal(header, payload) {
      const id = Buffer.alloc(EPOCH_ID_BYTES);
      id.writeUInt16BE(sending.epoch, 0);
      id.writeUIntBE(++counter, 2, 6);
      const open = Buffer.concat([header, id]);
      const { sealed, tag } = aeadSeal(cipher, sending.key, nonceOf(sending, id), open, payload);
      return Buffer.concat([id, sealed, tag]);
    },
    open(header, packet) {
      if (packet.length < EPOCH_ID_BYTES + TAG_BYTES) return undefined;
      const id = packet.subarray(0, EPOCH_ID_BYTES);
      const key = receivingIn(id.readUInt16BE(0));
      if (key === undefined) return undefined;
      const parts = { sealed: packet.subarray(EPOCH_ID_BYTES, -TAG_BYTES), tag: packet.subarray(-TAG_BYTES) };
      const payload = aeadOpen(cipher, key.key, nonceOf(key, id), Buffer.concat([header, id]), parts);
      if (payload === undefined) return undefined;
      receiving = key;
      // Counters go on from epoch to epoch only in the order of both.
      return { id: id.readUInt16BE(0) * 2 ** 32 + (id.readUIntBE(2, 6) % 2 ** 32), payload };
    },
  };
}

/** HKDF-Expand-Label of TLS 1.3 (RFC 8446 section 7.1) with OpenVPN's prefix, for up to 32 bytes: one round. */
function expandLabel(secret: Buffer, label: string, sizeBytes: number): Buffer {
  const name = Buffer.from(`ovpn ${label}`);
  const info = Buffer.concat([Buffer.of(sizeBytes >>> 8, sizeBytes & 255, name.length), name, Buffer.of(0)]);
  return createHmac("sha256", secret).update(info).update(Buffer.of(1)).digest().subarray(0, sizeBytes);
}

/** HMAC, IV, ciphertext of packet id and payload; the header is not authenticated. */
function cbc(cipher: Cbc, { keys: [send, receive], digest, randomBytes }: DataChannelOptions): Direction {
  const sign = ({ hmac }: KeyHalf, ...parts: readonly Buffer[]): Buffer =>
    createHmac(digest.name, hmac.subarray(0, digest.sizeBytes)).update(Buffer.concat(parts)).digest();
  let lastId = 0;
  return {
    seal(_header, payload) {
      const iv = Buffer.from(randomBytes(CBC_IV_BYTES));
      const encryption = createCipheriv(cipher.name, send.cipher.subarray(0, cipher.keyBytes), iv);
      const sealed = Buffer.concat([
        encryption.update(uint32(++lastId)),
        encryption.update(payload),
        encryption.final(),
      ]);
      return Buffer.concat([sign(send, iv, sealed), iv, sealed]);
    },
    open(_header, packet) {
      const ivAt = digest.sizeBytes;
      const sealedAt = ivAt + CBC_IV_BYTES;
      if (packet.length <= sealedAt) return undefined;
      const iv = packet.subarray(ivAt, sealedAt);
      const sealed = packet.subarray(sealedAt);
      if (!timingSafeEqual(sign(receive, iv, sealed), packet.subarray(0, ivAt))) return undefined;
      const decryption = createDecipheriv(cipher.name, receive.cipher.subarray(0, cipher.keyBytes), iv);
      try {
        const plain = Buffer.concat([decryption.update(sealed), decryption.final()]);
        return plain.length < PACKET_ID_BYTES
          ? undefined
          : { id: plain.readUInt32BE(0), payload: plain.subarray(PACKET_ID_BYTES) };
      } catch {
        return undefined;
      }
    },
  };
}
