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
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  /** @returns the first message once it is whole; what comes after it is dropped */
  push(chunk: Uint8Array): Uint8Array | undefined {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < 2) return undefined;
    const bytes = this.#joined();
    const length = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
    if (length > MESSAGE_BYTES) throw new DnsFormatError(`reply of ${length} bytes`);
    return bytes.length >= length + 2 ? bytes.subarray(2, length + 2) : undefined;
  }

  #joined(): Uint8Array {
    const [only] = this.#chunks;
    if (only !== undefined && this.#chunks.length === 1) return only;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks.splice(0, this.#chunks.length, joined);
    return joined;
  }
}
