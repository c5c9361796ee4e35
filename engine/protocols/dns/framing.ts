/** DNS over a stream: each message behind its length in two bytes (RFC 1035 section 4.2.2). Pure. */
import { DnsFormatError, MESSAGE_BYTES } from "./message.ts";

export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  framed[0] = message.length >> 8;
  framed[1] = message.length & 255;
  framed.set(message, 2);
  return framed;
}

/** Collects one message from chunks of any size; keeps at most MESSAGE_BYTES. */
export class FrameReader {
  readonly #length = new Uint8Array(2);
  #message: Uint8Array | null = null;
  #size = 0;

  /** @returns the first message once it is whole; what comes after it is dropped */
  push(chunk: Uint8Array): Uint8Array | undefined {
    let at = 0;
    while (this.#size < 2 && at < chunk.length) this.#length[this.#size++] = chunk[at++] ?? 0;
    if (this.#size < 2) return undefined;
    const length = (this.#length[0] ?? 0) * 256 + (this.#length[1] ?? 0);
    if (length > MESSAGE_BYTES) throw new DnsFormatError(`reply of ${length} bytes`);
    this.#message ??= new Uint8Array(length);
    const have = this.#size - 2;
    const piece = chunk.subarray(at, at + length - have);
    this.#message.set(piece, have);
    this.#size += piece.length;
    return this.#size === length + 2 ? this.#message : undefined;
  }
}
