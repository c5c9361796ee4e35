/** Encrypted messages and their fragments (RFC 7296 section 3.14, RFC 7383). Pure; random bytes come in as an argument. */
import type { DirectionKeys } from "./keys.ts";
import {
  bufferOf,
  decodeChain,
  decodeHeader,
  encodeChain,
  encodeHeader,
  HEADER_BYTES,
  type Header,
  IkeFormatError,
  type NewPayload,
  PAYLOAD,
  PAYLOAD_HEADER_BYTES,
  type Payload,
} from "./message.ts";
import { counterIv, overheadBytes, protect, unprotect } from "./protect.ts";

/** Fragment number and number of fragments, RFC 7383 section 2.5. */
const FRAGMENT_HEADER_BYTES = 4;
/** Ours: 64 fragments of the smallest size hold every chain of certificates there is. */
const FRAGMENT_LIMIT = 64;
/** A message that came whole in fragments. */
const MESSAGE_LIMIT_BYTES = 65_535;
/** RFC 7383 section 2.5.1: what every path carries, less IP, UDP and the marker of port 4500. */
const DATAGRAM_BYTES = 1_200;

export type SealedHeader = Omit<Header, "majorVersion" | "firstPayload">;

/** Encrypts with one direction's keys; an IV is never used twice. */
export class Sealer {
  readonly #keys: DirectionKeys;
  readonly #random: (sizeBytes: number) => Uint8Array;
  #messages = 0;

  constructor(keys: DirectionKeys, random: (sizeBytes: number) => Uint8Array) {
    this.#keys = keys;
    this.#random = random;
  }

  /** @returns one datagram, or several when the peer takes fragments and one would be too long */
  seal(header: SealedHeader, payloads: readonly NewPayload[], mayFragment: boolean): readonly Buffer[] {
    const chain = encodeChain(payloads);
    const firstPayload = payloads[0]?.type ?? PAYLOAD.none;
    const outsideBytes =
      HEADER_BYTES + PAYLOAD_HEADER_BYTES + overheadBytes(this.#keys) + this.#keys.encryption.blockBytes;
    if (!mayFragment || chain.length + outsideBytes <= DATAGRAM_BYTES) {
      return [this.#one(header, PAYLOAD.sealed, firstPayload, Buffer.alloc(0), chain)];
    }
    const pieceBytes = DATAGRAM_BYTES - outsideBytes - FRAGMENT_HEADER_BYTES;
    const total = Math.ceil(chain.length / pieceBytes);
    return Array.from({ length: total }, (_, index) => {
      const place = Buffer.alloc(FRAGMENT_HEADER_BYTES);
      place.writeUInt16BE(index + 1, 0);
      place.writeUInt16BE(total, 2);
      const piece = chain.subarray(index * pieceBytes, (index + 1) * pieceBytes);
      return this.#one(header, PAYLOAD.fragment, index === 0 ? firstPayload : PAYLOAD.none, place, piece);
    });
  }

  #one(header: SealedHeader, type: number, next: number, place: Buffer, content: Buffer): Buffer {
    const { encryption } = this.#keys;
    const padBytes = (encryption.blockBytes - ((content.length + 1) % encryption.blockBytes)) % encryption.blockBytes;
    const plaintext = Buffer.concat([content, Buffer.alloc(padBytes), Buffer.from([padBytes])]);
    const sizeBytes = PAYLOAD_HEADER_BYTES + place.length + plaintext.length + overheadBytes(this.#keys);
    const generic = Buffer.from([next, 0, sizeBytes >> 8, sizeBytes & 0xff]);
    const prefix = Buffer.concat([encodeHeader({ ...header, firstPayload: type }, sizeBytes), generic, place]);
    const iv = encryption.tagBytes > 0 ? counterIv(this.#messages++) : Buffer.from(this.#random(encryption.ivBytes));
    return protect(this.#keys, prefix, plaintext, iv);
  }
}

export interface Opened {
  readonly header: Header;
  readonly payloads: readonly Payload[];
}

interface Gathering {
  readonly key: string;
  readonly total: number;
  firstPayload: number;
  sizeBytes: number;
  readonly pieces: Map<number, Buffer>;
}

/** Decrypts, and gathers fragments of one message at a time. */
export class Opener {
  readonly #keys: DirectionKeys;
  #gathering: Gathering | undefined;

  constructor(keys: DirectionKeys) {
    this.#keys = keys;
  }

  /**
   * @returns undefined for what is not from the peer, and for a fragment of a message that is not complete yet
   * @throws IkeFormatError for what is from the peer and cannot be read
   */
  open(datagram: Uint8Array): Opened | undefined {
    const bytes = bufferOf(datagram);
    const outer = outerOf(bytes);
    if (outer === undefined) return undefined;
    const { header, last, isFragment } = outer;
    const content = this.#decrypt(bytes, isFragment ? FRAGMENT_HEADER_BYTES : 0, last);
    if (content === undefined) return undefined;
    if (!isFragment) return { header, payloads: decodeChain(last.next, content) };
    const whole = this.#gather(header, last, content);
    return whole === undefined ? undefined : { header, payloads: decodeChain(whole.firstPayload, whole.chain) };
  }

  #decrypt(bytes: Buffer, placeBytes: number, last: Payload): Buffer | undefined {
    const prefixBytes = bytes.length - last.body.length + placeBytes;
    if (prefixBytes > bytes.length) return undefined;
    const plaintext = unprotect(this.#keys, bytes, prefixBytes);
    if (plaintext === undefined) return undefined;
    const padBytes = plaintext.at(-1);
    if (padBytes === undefined || padBytes + 1 > plaintext.length) throw new IkeFormatError("the padding is wrong");
    return plaintext.subarray(0, plaintext.length - padBytes - 1);
  }

  #gather(header: Header, last: Payload, piece: Buffer): { firstPayload: number; chain: Buffer } | undefined {
    const number = last.body.readUInt16BE(0);
    const total = last.body.readUInt16BE(2);
    if (number < 1 || number > total || total > FRAGMENT_LIMIT)
      throw new IkeFormatError("a fragment's number is wrong");
    const gathering = this.#gatheringOf(`${header.exchange} ${header.isResponse} ${header.messageId}`, total);
    if (gathering === undefined || gathering.pieces.has(number)) return undefined;
    gathering.sizeBytes += piece.length;
    if (gathering.sizeBytes > MESSAGE_LIMIT_BYTES) throw new IkeFormatError("fragments of too long a message");
    if (number === 1) gathering.firstPayload = last.next;
    gathering.pieces.set(number, Buffer.from(piece));
    if (gathering.pieces.size < total) return undefined;
    this.#gathering = undefined;
    const pieces = Array.from({ length: total }, (_, index) => gathering.pieces.get(index + 1) ?? Buffer.alloc(0));
    return { firstPayload: gathering.firstPayload, chain: Buffer.concat(pieces) };
  }

  /** A peer that retries with smaller fragments sends more of them: those replace the larger ones (RFC 7383 section 2.6). */
  #gatheringOf(key: string, total: number): Gathering | undefined {
    const known = this.#gathering;
    if (known?.key === key && known.total > total) return undefined;
    if (known?.key !== key || known.total < total) {
      this.#gathering = { key, total, firstPayload: PAYLOAD.none, sizeBytes: 0, pieces: new Map() };
    }
    return this.#gathering;
  }
}

/** The encrypted payload, when there is one: it is the last. Undefined, and no error, for what cannot be parsed: it is not authenticated yet. */
function outerOf(bytes: Buffer): { header: Header; last: Payload; isFragment: boolean } | undefined {
  try {
    const header = decodeHeader(bytes);
    const last = decodeChain(header.firstPayload, bytes.subarray(HEADER_BYTES)).at(-1);
    if (last?.type === PAYLOAD.sealed) return { header, last, isFragment: false };
    if (last?.type !== PAYLOAD.fragment || last.body.length < FRAGMENT_HEADER_BYTES) return undefined;
    return { header, last, isFragment: true };
  } catch (error) {
    if (error instanceof IkeFormatError) return undefined;
    throw error;
  }
}
