/** CSTP, the frames that a tunnel's TLS connection carries after CONNECT (draft-mavrogiannopoulos-openconnect-04 section 2.2). Pure. */

export const FRAME = {
  data: 0,
  dpdRequest: 3,
  dpdResponse: 4,
  disconnect: 5,
  keepalive: 7,
  compressed: 8,
  terminate: 9,
} as const;

export interface Frame {
  readonly type: number;
  /** Valid until the next push. */
  readonly payload: Buffer;
}

/** Bytes that are no frame: nothing after them can be read either. */
export class CstpError extends Error {
  override readonly name = "CstpError";
}

/** "STF", 1, then u16 length, type, 0. */
const MAGIC = Buffer.from([0x53, 0x54, 0x46, 0x01]);
const HEADER_BYTES = 8;
const LENGTH_AT = 4;
const TYPE_AT = 6;
/** Of a disconnect: the session is over for good, its cookie with it; any other leaves the session for a reconnect (ocserv, worker-vpn.c). */
const END_OF_SESSION = 0xb0;

export function encodeFrame(type: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  MAGIC.copy(frame);
  frame.writeUInt16BE(payload.length, LENGTH_AT);
  frame[TYPE_AT] = type;
  frame[TYPE_AT + 1] = 0;
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export function encodeGoodbye(reason: string): Buffer {
  return encodeFrame(FRAME.disconnect, Buffer.concat([Buffer.from([END_OF_SESSION]), Buffer.from(reason)]));
}

/** The words of a disconnect or terminate; the first byte of the former is a code. */
export function reasonOf({ payload }: Frame): string {
  const first = payload[0] ?? 0;
  return payload.toString("utf8", first < 0x20 || first > 0x7e ? 1 : 0).trim();
}

/** Frames as they arrive: split and merged by TLS as it likes. Holds one unfinished frame, at most 64 KiB. */
export class FrameReader {
  #carry: Buffer = Buffer.allocUnsafe(2_048);
  #carried = 0;

  /** @throws CstpError; the reader is of no use then */
  push(bytes: Buffer, take: (frame: Frame) => void): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#carried === 0 && this.#hasWhole(bytes, at)) {
        at = this.#takeAt(bytes, at, take);
        continue;
      }
      const wanted = this.#carried < HEADER_BYTES ? HEADER_BYTES : sizeAt(this.#carry, 0);
      const taken = Math.min(wanted - this.#carried, bytes.length - at);
      this.#keep(bytes, at, taken);
      at += taken;
      if (this.#carried >= HEADER_BYTES && this.#carried === sizeAt(this.#carry, 0)) {
        this.#carried = 0;
        this.#takeAt(this.#carry, 0, take);
      }
    }
  }

  #hasWhole(bytes: Buffer, at: number): boolean {
    return bytes.length - at >= HEADER_BYTES && bytes.length - at >= sizeAt(bytes, at);
  }

  #takeAt(bytes: Buffer, at: number, take: (frame: Frame) => void): number {
    const end = at + sizeAt(bytes, at);
    take({ type: bytes[at + TYPE_AT] ?? 0, payload: bytes.subarray(at + HEADER_BYTES, end) });
    return end;
  }

  #keep(bytes: Buffer, at: number, sizeBytes: number): void {
    const needed = this.#carried + sizeBytes;
    if (this.#carry.length < needed) {
      const larger = Buffer.allocUnsafe(2 * needed);
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    bytes.copy(this.#carry, this.#carried, at, at + sizeBytes);
    this.#carried = needed;
  }
}

/** Of the frame whose header is there. @throws CstpError */
function sizeAt(bytes: Buffer, at: number): number {
  if (MAGIC.compare(bytes, at, at + MAGIC.length) !== 0) throw new CstpError("a frame has no head of CSTP");
  return HEADER_BYTES + bytes.readUInt16BE(at + LENGTH_AT);
}
