/** Takes a request's body out of the bytes of its connection, by its length or in chunks (RFC 9112 section 7.1). What is too long is counted and not kept. */
import type { ApiRequest } from "./http.ts";

/** A size line with its extensions, or a line of the trailer, bytes. Nothing of them is used. */
const MAX_LINE_BYTES = 1_024;
/** All lines of the trailer together, bytes. */
const MAX_TRAILER_BYTES = 8_192;
/** Where a second piece of a body comes, bytes. */
const LEAST_ROOM_BYTES = 1_024;
const LF = 0x0a;
/** Zeros are counted too: eight digits are enough, and no number of them is beyond 32 bits. Extensions are let pass, without blanks before them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const TRAILER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*$/;

export type BodyState = "more" | "whole" | "malformed";

/** One body. `take` is called until the state is another than "more". */
export interface BodyReader {
  readonly state: BodyState;
  /** What came so far, whether it is kept or not, bytes. */
  readonly size: number;
  /** What of that is kept. */
  readonly keptBytes: number;
  /** @returns where in these bytes the body ends, or their length */
  take(bytes: Buffer, from: number): number;
  /** What the request has, once the state is "whole". */
  body(): ApiRequest["body"];
}

/** What of a body is kept, in one piece: a body of a million chunks must not be a million objects. */
export class KeptBody {
  readonly #mostBytes: number;
  #bytes: Buffer | null = null;
  size = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(piece: Buffer): void {
    const before = this.size;
    this.size += piece.length;
    if (this.size > this.#mostBytes || piece.length === 0) {
      if (piece.length > 0) this.#bytes = null;
      return;
    }
    // The first is kept as it is, and is full: nothing is written into what belongs to its connection.
    if (before === 0) this.#bytes = piece;
    else this.#roomFor(this.size).set(piece, before);
  }

  #roomFor(bytes: number): Buffer {
    const old = this.#bytes ?? Buffer.alloc(0);
    if (bytes <= old.length) return old;
    const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * old.length, LEAST_ROOM_BYTES));
    grown.set(old);
    this.#bytes = grown;
    return grown;
  }

  get keptBytes(): number {
    return this.#bytes?.length ?? 0;
  }

  body(): ApiRequest["body"] {
    if (this.size === 0) return null;
    return this.#bytes === null ? "too-large" : this.#bytes.subarray(0, this.size);
  }
}

/** A body whose head has its length. */
export class LengthBodyReader implements BodyReader {
  readonly #kept: KeptBody;
  #left: number;

  constructor(length: number, mostBytes: number) {
    this.#kept = new KeptBody(mostBytes);
    this.#left = length;
  }

  get state(): BodyState {
    return this.#left === 0 ? "whole" : "more";
  }

  get size(): number {
    return this.#kept.size;
  }

  get keptBytes(): number {
    return this.#kept.keptBytes;
  }

  take(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + this.#left);
    this.#left -= to - from;
    this.#kept.add(bytes.subarray(from, to));
    return to;
  }

  body(): ApiRequest["body"] {
    return this.#kept.body();
  }
}

type ChunkPart = "size" | "data" | "data's end" | "trailer";

/** A body in chunks. A line that does not end with CR LF, or is anything but what the standard writes there, is malformed. */
export class ChunkedBodyReader implements BodyReader {
  readonly #kept: KeptBody;
  state: BodyState = "more";
  #part: ChunkPart = "size";
  #left = 0;
  /** Of a line that is not whole yet. */
  #line = "";
  #trailerBytes = 0;

  constructor(mostBytes: number) {
    this.#kept = new KeptBody(mostBytes);
  }

  get size(): number {
    return this.#kept.size;
  }

  get keptBytes(): number {
    return this.#kept.keptBytes;
  }

  take(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && this.state === "more")
      at = this.#part === "data" ? this.#data(bytes, at) : this.#lineOf(bytes, at);
    return at;
  }

  body(): ApiRequest["body"] {
    return this.#kept.body();
  }

  #data(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + this.#left);
    this.#left -= to - from;
    this.#kept.add(bytes.subarray(from, to));
    if (this.#left === 0) this.#part = "data's end";
    return to;
  }

  #lineOf(bytes: Buffer, from: number): number {
    // Never looks further than a line may be long.
    const most = Math.min(bytes.length, from + MAX_LINE_BYTES - this.#line.length + 1);
    const end = bytes.subarray(from, most).indexOf(LF);
    const to = end < 0 ? most : from + end + 1;
    this.#line += bytes.toString("latin1", from, to);
    if (end >= 0) this.#whole();
    else if (this.#line.length > MAX_LINE_BYTES) this.state = "malformed";
    return to;
  }

  #whole(): void {
    const isLine = this.#line.endsWith("\r\n");
    const line = this.#line.slice(0, -2);
    this.#line = "";
    if (!isLine) this.state = "malformed";
    else if (this.#part === "size") this.#begin(line);
    else if (this.#part === "trailer") this.#trailer(line);
    else if (line === "") this.#part = "size";
    else this.state = "malformed";
  }

  #begin(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1];
    if (digits === undefined) {
      this.state = "malformed";
      return;
    }
    this.#left = Number.parseInt(digits, 16);
    this.#part = this.#left === 0 ? "trailer" : "data";
  }

  #trailer(line: string): void {
    this.#trailerBytes += line.length;
    if (line === "") this.state = "whole";
    else if (!TRAILER_LINE.test(line) || this.#trailerBytes > MAX_TRAILER_BYTES) this.state = "malformed";
  }
}
