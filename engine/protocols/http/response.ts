/**
 * HTTP/1.x responses (RFC 9112) read as they arrive, for a connection that carries one response and no more.
 *
 * Strict where the message would be ambiguous, lenient only where the RFC allows it and servers need it: a bare LF as line end
 * (section 2.2), a missing reason phrase, folded header lines (section 5.2).
 */
import { checkVersion, parseHead, type ResponseHead, VERSION } from "./head.ts";

import { HttpSyntaxError } from "./syntax-error.ts";

/** Status line and headers together, interim responses included; the same bound for a trailer section. */
export const HEAD_LIMIT_BYTES = 64 * 1024;
/** What is read of a body at most (docs/api-contract.md#uptime-fields). */
export const BODY_LIMIT_BYTES = 1024 * 1024;
/** Chunk extensions of a whole response, bytes. They are not used in practice, so more is an attack. */
const EXTENSION_LIMIT_BYTES = 16 * 1024;
/** 2^48: far beyond any body, far below where a JavaScript number loses digits. */
const CHUNK_SIZE_LIMIT = 2 ** 48;
const CHUNK_SIZE_DIGITS = 16;

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;

/** Where in the message the next byte belongs. */
const AT = {
  head: 0,
  sized: 1,
  untilClose: 2,
  chunkSize: 3,
  chunkExtension: 4,
  chunkData: 5,
  chunkEnd: 6,
  trailer: 7,
  end: 8,
} as const;
type Position = (typeof AT)[keyof typeof AT];

export interface ResponseListener {
  /** The final response's head, once. @returns whether its body is wanted */
  head(head: ResponseHead): boolean;
  /** A piece of the body, valid only during the call. @returns whether more of it is wanted */
  body(bytes: Buffer): boolean;
}

/** What was missing when the connection ended. */
export type Missing = "answer" | "headers" | "body";

/** One response. A class, because it lives on the hot path: one per check, no closures. */
export class ResponseReader {
  readonly #listener: ResponseListener;
  readonly #bodyLimitBytes: number;
  #at: Position = AT.head;
  /** Head bytes of earlier pieces, when the head came in several. */
  #carry: Buffer | null = null;
  #carried = 0;
  /** Start of the unfinished line in the carry. */
  #lineAt = 0;
  #headBytes = 0;
  #bodyBytes = 0;
  /** Bytes left of a sized body or of a chunk. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  #lineBytes = 0;
  #sawCr = false;

  /** @param bodyLimitBytes the reader is done when so much of the body was read */
  constructor(listener: ResponseListener, bodyLimitBytes: number = BODY_LIMIT_BYTES) {
    this.#listener = listener;
    this.#bodyLimitBytes = bodyLimitBytes;
  }

  /** Whether nothing more is needed: the response is complete, long enough, or not wanted further. */
  get done(): boolean {
    return this.#at === AT.end;
  }

  /**
   * @returns `done`
   * @throws HttpSyntaxError when this is no HTTP response; the reader is of no use then
   */
  push(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length && this.#at !== AT.end) {
      at = this.#step(bytes, at);
    }
    return this.#at === AT.end;
  }

  /** The peer ended the connection. @returns what is missing, null when the response is complete */
  end(): Missing | null {
    if (this.#at === AT.untilClose) this.#at = AT.end;
    if (this.#at === AT.end) return null;
    if (this.#at !== AT.head) return "body";
    return this.#headBytes + this.#carried === 0 ? "answer" : "headers";
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#at) {
      case AT.head:
        return this.#readHead(bytes, at);
      case AT.sized:
      case AT.untilClose:
      case AT.chunkData:
        return this.#readData(bytes, at);
      case AT.chunkSize:
        return this.#readChunkSize(bytes, at);
      case AT.chunkExtension:
        return this.#skipExtension(bytes, at);
      case AT.chunkEnd:
        return this.#readChunkEnd(bytes, at);
      case AT.trailer:
        return this.#skipTrailer(bytes, at);
      case AT.end:
        return bytes.length;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    if (this.#carry === null) {
      const end = this.#findHeadEnd(bytes, at, at, bytes.length, at);
      if (end > 0) {
        this.#takeHead(bytes, at, end);
        return end;
      }
      this.#lineAt -= at;
    }
    // The head came in pieces: collect, so that it is always parsed whole.
    const before = this.#carried;
    const carry = this.#extendCarry(bytes, at);
    // Another protocol's greeting is known by its first bytes; its server may wait for us after it.
    if (before < VERSION.length) checkVersion(carry, this.#carried);
    if (before === 0) return bytes.length;
    const end = this.#findHeadEnd(carry, 0, this.#lineAt, this.#carried, before);
    if (end === 0) return bytes.length;
    this.#carry = null;
    this.#carried = 0;
    this.#takeHead(carry, 0, end);
    return at + end - before;
  }

  /** Appends, growing by doubling. */
  #extendCarry(bytes: Buffer, at: number): Buffer {
    const needed = this.#carried + bytes.length - at;
    let carry = this.#carry;
    if (carry === null || carry.length < needed) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * needed));
      carry?.copy(larger, 0, 0, this.#carried);
      carry = larger;
      this.#carry = carry;
    }
    bytes.copy(carry, this.#carried, at);
    this.#carried = needed;
    return carry;
  }

  /**
   * @param headAt where the head starts
   * @param lineAt where the first unfinished line starts
   * @param from first byte not searched before
   * @returns the place after the empty line, 0 when it has not come; remembers the unfinished line
   */
  #findHeadEnd(bytes: Buffer, headAt: number, lineAt: number, end: number, from: number): number {
    let start = lineAt;
    let search = from;
    // Not beyond the end: what is there is room for more, and would be searched again for each piece.
    const known = end === bytes.length ? bytes : bytes.subarray(0, end);
    for (;;) {
      const lineEnd = known.indexOf(LF, search);
      if (lineEnd === -1) break;
      const length = lineEnd - start;
      start = lineEnd + 1;
      search = start;
      if (length === 0 || (length === 1 && bytes[lineEnd - 1] === CR)) {
        this.#boundHead(start - headAt);
        this.#headBytes += start - headAt;
        return start;
      }
    }
    this.#lineAt = start;
    this.#boundHead(end - headAt);
    return 0;
  }

  #boundHead(sizeBytes: number): void {
    if (this.#headBytes + sizeBytes > HEAD_LIMIT_BYTES) {
      throw new HttpSyntaxError(`headers are larger than ${HEAD_LIMIT_BYTES / 1024} KiB`);
    }
  }

  #takeHead(bytes: Buffer, start: number, end: number): void {
    const head = parseHead(bytes, start, end);
    // Interim responses are skipped (RFC 9110 section 15.2); 101 is final here, because we never asked to switch.
    if (head.status < 200 && head.status !== 101) return;
    if (!this.#listener.head(head)) {
      this.#at = AT.end;
    } else if (head.framing === "none" || head.framing === 0) {
      this.#at = AT.end;
    } else if (head.framing === "chunked") {
      this.#at = AT.chunkSize;
    } else if (head.framing === "until-close") {
      this.#at = AT.untilClose;
    } else {
      this.#at = AT.sized;
      this.#left = head.framing;
    }
  }

  #readData(bytes: Buffer, at: number): number {
    const available = bytes.length - at;
    const allowed = this.#bodyLimitBytes - this.#bodyBytes;
    const wanted = this.#at === AT.untilClose ? available : Math.min(available, this.#left);
    const take = Math.min(wanted, allowed);
    this.#bodyBytes += take;
    this.#left -= take;
    const end = at + take;
    const more = this.#listener.body(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (!more || this.#bodyBytes >= this.#bodyLimitBytes) this.#at = AT.end;
    else if (this.#at === AT.sized && this.#left === 0) this.#at = AT.end;
    else if (this.#at === AT.chunkData && this.#left === 0) this.#at = AT.chunkEnd;
    return end;
  }

  #readChunkSize(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const digit = hexDigit(byte);
      if (digit >= 0) {
        if (this.#sawCr) throw new HttpSyntaxError("a chunk's size is not a number");
        this.#left = this.#left * 16 + digit;
        if (++this.#digits > CHUNK_SIZE_DIGITS || this.#left > CHUNK_SIZE_LIMIT)
          throw new HttpSyntaxError("a chunk's size is too large");
        continue;
      }
      if (this.#digits === 0) throw new HttpSyntaxError("a chunk's size is not a number");
      if (byte === LF) return this.#startChunk(at + 1);
      if (this.#sawCr) throw new HttpSyntaxError("a chunk's size is not a number");
      if (byte === CR) {
        this.#sawCr = true;
      } else if (byte === SEMICOLON || byte === SPACE || byte === TAB) {
        this.#at = AT.chunkExtension;
        return at + 1;
      } else {
        throw new HttpSyntaxError("a chunk's size is not a number");
      }
    }
    return bytes.length;
  }

  #skipExtension(bytes: Buffer, at: number): number {
    const lineEnd = bytes.indexOf(LF, at);
    const end = lineEnd === -1 ? bytes.length : lineEnd;
    this.#extensionBytes += end - at;
    if (this.#extensionBytes > EXTENSION_LIMIT_BYTES) throw new HttpSyntaxError("chunk extensions are too long");
    return lineEnd === -1 ? end : this.#startChunk(end + 1);
  }

  #startChunk(at: number): number {
    this.#digits = 0;
    this.#sawCr = false;
    this.#at = this.#left === 0 ? AT.trailer : AT.chunkData;
    return at;
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    const byte = bytes[at];
    if (byte === LF) {
      this.#sawCr = false;
      this.#at = AT.chunkSize;
    } else if (byte === CR && !this.#sawCr) {
      this.#sawCr = true;
    } else {
      throw new HttpSyntaxError("a chunk is longer than its size");
    }
    return at + 1;
  }

  #skipTrailer(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      if (++this.#trailerBytes > HEAD_LIMIT_BYTES) throw new HttpSyntaxError("the trailer section is too long");
      const byte = bytes[at];
      if (byte === LF) {
        if (this.#lineBytes === 0) {
          this.#at = AT.end;
          return at + 1;
        }
        this.#lineBytes = 0;
      } else if (byte !== CR) {
        this.#lineBytes++;
      }
    }
    return bytes.length;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
