/** The pieces of a DNS message (RFC 1035 section 4): numbers, names, records. Every length is checked against the bytes that are there. Pure. */

/** RFC 1035 section 2.3.4. */
export const NAME_BYTES = 255;
/** RFC 2181 section 8: 31 bits; a set top bit counts as 0. */
const TTL_LIMIT = 0x7fff_ffff;

/** It answers our query and cannot be read: the peer's fault. */
export class DnsFormatError extends Error {
  override readonly name = "DnsFormatError";
}

export interface RawRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlS: number;
  /** Offset behind its data. */
  readonly end: number;
  expectLength(sizeBytes: number): void;
}

/** Reads on from `offset`; nothing beyond the message is ever touched. */
export class Reader {
  offset = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  uint8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  /** @returns the bytes, not copied */
  bytes(count: number): Uint8Array {
    const start = this.#take(count);
    return this.#bytes.subarray(start, start + count);
  }

  record(): RawRecord {
    const name = this.name();
    const type = this.uint16();
    const recordClass = this.uint16();
    const ttl = this.uint32();
    const length = this.uint16();
    const end = this.offset + length;
    if (end > this.#bytes.length) throw new DnsFormatError("a record is longer than the message");
    return {
      name,
      type,
      class: recordClass,
      ttlS: ttl > TTL_LIMIT ? 0 : ttl,
      end,
      expectLength(sizeBytes) {
        if (length !== sizeBytes) throw new DnsFormatError(`an address record of ${length} bytes`);
      },
    };
  }

  /** RFC 1035 section 4.1.4. Every pointer must lead before the piece it ends, so there is no loop. */
  name(): string {
    let text = "";
    let sizeBytes = 0;
    let at = this.offset;
    let pieceStart = at;
    let hasJumped = false;
    for (;;) {
      const length = this.#byteAt(at++);
      if (length >= 0xc0) {
        const target = (length & 0x3f) * 256 + this.#byteAt(at++);
        if (!hasJumped) this.offset = at;
        hasJumped = true;
        if (target >= pieceStart) throw new DnsFormatError("a name that points forward");
        at = pieceStart = target;
        continue;
      }
      if (length > 63) throw new DnsFormatError("a label of an unknown kind");
      sizeBytes += length + 1;
      if (sizeBytes > NAME_BYTES) throw new DnsFormatError("a name longer than 255 bytes");
      if (length === 0) break;
      text += text === "" ? this.#label(at, length) : `.${this.#label(at, length)}`;
      at += length;
    }
    if (!hasJumped) this.offset = at;
    return text;
  }

  /** Lowercase ASCII; a dot or backslash inside a label and bytes that are not printable are escaped (RFC 1035 section 5.1). */
  #label(start: number, length: number): string {
    let text = "";
    for (let at = start; at < start + length; at++) {
      const byte = this.#byteAt(at);
      if (byte >= 65 && byte <= 90) text += String.fromCharCode(byte + 32);
      else if (byte === 46 || byte === 92) text += `\\${String.fromCharCode(byte)}`;
      else if (byte > 32 && byte < 127) text += String.fromCharCode(byte);
      else text += `\\${String(byte).padStart(3, "0")}`;
    }
    return text;
  }

  #byteAt(offset: number): number {
    const byte = this.#bytes[offset];
    if (byte === undefined) throw new DnsFormatError("the message ends in the middle");
    return byte;
  }

  #take(sizeBytes: number): number {
    const start = this.offset;
    if (start + sizeBytes > this.#bytes.length) throw new DnsFormatError("the message ends in the middle");
    this.offset = start + sizeBytes;
    return start;
  }
}
