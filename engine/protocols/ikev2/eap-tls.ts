/** EAP-TLS's packets: flights of TLS in pieces, each of which the other side acknowledges (RFC 5216 sections 2.1.5 and 3.1). Pure. */
import { IkeFormatError } from "./message.ts";

const FLAG = { length: 0x80, more: 0x40, start: 0x20 } as const;
const LENGTH_BYTES = 4;
/** Ours: a flight with a chain of sixteen usual certificates has 30 kB. */
const FLIGHT_LIMIT_BYTES = 65_536;
/** With header, flags and length within the 1,020 bytes that every carrier of EAP takes (RFC 3748 section 3.1). */
const PIECE_BYTES = 1_000;

/** What a login server's packet is. */
export type TlsPacket =
  /** TLS is to begin, with our first flight. */
  | { readonly kind: "start" }
  /** A part of a flight: the next one comes once it is acknowledged. */
  | { readonly kind: "piece" }
  /** Nothing but that our last packet has come. */
  | { readonly kind: "acknowledged" }
  | { readonly kind: "flight"; readonly records: Buffer };

export class EapTlsFraming {
  #hasBegun = false;
  #pieces: Buffer[] = [];
  #gatheredBytes = 0;
  /** Of the flight that is gathered; null: it was not said. */
  #announcedBytes: number | null = null;
  /** Of our flight: what has not gone out yet. */
  #unsent: Buffer = Buffer.alloc(0);
  readonly #pieceBytes: number;

  constructor(pieceBytes: number = PIECE_BYTES) {
    this.#pieceBytes = pieceBytes;
  }

  /** Our flight has gone out whole. */
  get isSent(): boolean {
    return this.#unsent.length === 0;
  }

  /** @param data what follows the type. @throws IkeFormatError */
  receive(data: Buffer): TlsPacket {
    const flags = data[0];
    if (flags === undefined) throw new IkeFormatError("an EAP-TLS packet is cut off");
    const hasLength = (flags & FLAG.length) !== 0;
    if (hasLength && data.length < 1 + LENGTH_BYTES) throw new IkeFormatError("an EAP-TLS packet is cut off");
    const records = data.subarray(hasLength ? 1 + LENGTH_BYTES : 1);
    if ((flags & FLAG.start) !== 0) return this.#start(records);
    if (!this.#hasBegun) throw new IkeFormatError("an EAP-TLS packet before the first one");
    // Some repeat it in every piece.
    if (hasLength) this.#announcedBytes ??= data.readUInt32BE(1);
    const hasMore = (flags & FLAG.more) !== 0;
    if (records.length === 0) return this.#acknowledged(hasMore);
    return this.#gather(records, hasMore);
  }

  /** @returns the first packet of this flight; without records an acknowledgement */
  send(records: Buffer): Buffer {
    this.#unsent = records;
    return this.#packet(records.length > this.#pieceBytes ? records.length : null);
  }

  /** The next packet of our flight; without one an acknowledgement. */
  next(): Buffer {
    return this.#packet(null);
  }

  #start(records: Buffer): TlsPacket {
    if (this.#hasBegun || records.length > 0) throw new IkeFormatError("an EAP-TLS start that is none");
    this.#hasBegun = true;
    return { kind: "start" };
  }

  #acknowledged(hasMore: boolean): TlsPacket {
    if (hasMore || this.#pieces.length > 0) throw new IkeFormatError("a piece of EAP-TLS without bytes");
    this.#announcedBytes = null;
    return { kind: "acknowledged" };
  }

  #gather(records: Buffer, hasMore: boolean): TlsPacket {
    if (this.#unsent.length > 0) throw new IkeFormatError("a flight of TLS before ours was complete");
    this.#gatheredBytes += records.length;
    const announced = this.#announcedBytes ?? FLIGHT_LIMIT_BYTES;
    if (announced > FLIGHT_LIMIT_BYTES || this.#gatheredBytes > announced) {
      throw new IkeFormatError("a flight of TLS is longer than it may be");
    }
    this.#pieces.push(Buffer.from(records));
    if (hasMore) return { kind: "piece" };
    if (this.#announcedBytes !== null && this.#gatheredBytes !== announced) {
      throw new IkeFormatError("a flight of TLS is shorter than announced");
    }
    const flight = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#gatheredBytes = 0;
    this.#announcedBytes = null;
    return { kind: "flight", records: flight };
  }

  #packet(totalBytes: number | null): Buffer {
    const piece = this.#unsent.subarray(0, this.#pieceBytes);
    this.#unsent = this.#unsent.subarray(piece.length);
    const flags = (totalBytes === null ? 0 : FLAG.length) | (this.#unsent.length > 0 ? FLAG.more : 0);
    const header = Buffer.alloc(totalBytes === null ? 1 : 1 + LENGTH_BYTES);
    header.writeUInt8(flags, 0);
    if (totalBytes !== null) header.writeUInt32BE(totalBytes, 1);
    return Buffer.concat([header, piece]);
  }
}
