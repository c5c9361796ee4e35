/**
 * Reads requests from the bytes of one connection, strictly (RFC 9112): what is not written as the standard writes it is refused as soon as it is
 * seen, not when the connection has been idle for long. Pure: it holds what came and was not read yet, and knows nothing of sockets and time.
 */
import { BAD_REQUEST, Head, type HeadRefusal, TOO_LONG } from "./head.ts";
import { type ApiRequest, MAX_DISCARDED_BYTES, mostBodyBytes } from "./http.ts";
import { originForm, pathOf, type ReadHead } from "./request.ts";
import { type BodyReader, ChunkedBodyReader, LengthBodyReader } from "./request-body.ts";

/** The request line and all headers, bytes; beyond it 431. */
export const MAX_HEAD_BYTES = 16_384;
const LINE_END = "\r\n";
const HEAD_END = Buffer.from("\r\n\r\n");
/** RFC 9112 section 3. Bytes beyond ASCII are let pass in a target, because people type them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([^\x00-\x20\x7f]+) HTTP\/(1\.[01])$/;
/** RFC 9110 section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What no line of a head has, line ends of other kinds included: some servers end a line there, others do not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
/** The same in a head that is not whole: a CR may be the last that came. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const BROKEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|(?<!\r)\n|\r(?=[^\n])/g;
const BEYOND_ASCII = /[\x80-\xff]/;
const CR = 0x0d;
const LF = 0x0a;
const BLANK = 0x20;
const TAB = 0x09;

export interface RequestHead extends ReadHead {
  readonly version: "1.0" | "1.1";
  /** Whether its sender ends the connection behind the answer; HTTP/1.0 always does here. */
  readonly isLast: boolean;
  /** RFC 9110 section 10.1.1: its sender waits for a word before it sends the body. */
  readonly waitsForContinue: boolean;
}

export interface WholeRequest {
  readonly line: RequestHead;
  readonly body: ApiRequest["body"];
}

/**
 * @param text up to the empty line and without it, one character for each byte
 * @returns why it is refused, where it can be read in two ways or in none
 */
export function parseRequestHead(text: string): RequestHead | HeadRefusal {
  const firstEnd = text.indexOf(LINE_END);
  const firstLine = REQUEST_LINE.exec(firstEnd < 0 ? text : text.slice(0, firstEnd));
  if (firstLine === null) return BAD_REQUEST;
  const [, method = "", target = "", version = ""] = firstLine;
  // RFC 9110 section 9.3.6: what follows it is no HTTP, and this is no tunnel.
  if (method === "CONNECT") return BAD_REQUEST;
  const head = new Head();
  let connection = version === "1.0" ? "close" : "";
  let expect = "";
  for (let end = firstEnd; end >= 0; ) {
    const from = end + LINE_END.length;
    end = text.indexOf(LINE_END, from);
    const line = end < 0 ? text.slice(from) : text.slice(from, end);
    const colon = line.indexOf(":");
    if (colon <= 0 || CONTROL.test(line)) return BAD_REQUEST;
    const given = line.slice(0, colon);
    if (!NAME.test(given)) return BAD_REQUEST;
    const name = given.toLowerCase();
    const value = trimmed(line, colon + 1);
    if (name === "connection") connection += `,${value}`;
    else if (name === "expect") expect = value;
    head.add(name, value);
  }
  return (
    head.refusal(method, version) ?? {
      method,
      target: originForm(BEYOND_ASCII.test(target) ? Buffer.from(target, "latin1").toString("utf8") : target, head),
      version: version === "1.0" ? "1.0" : "1.1",
      head,
      isLast: head.isChunked || (connection !== "" && saysClose(connection)),
      waitsForContinue: version === "1.1" && expect.toLowerCase() === "100-continue",
    }
  );
}

/** Without blanks and tabs around: String.trim() takes away more than the standard does, such as a no-break space. */
function trimmed(line: string, start: number): string {
  let from = start;
  let to = line.length;
  while (from < to && isBlank(line.charCodeAt(from))) from++;
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--;
  return line.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB;
}

function saysClose(list: string): boolean {
  return list.split(",").some((word) => word.trim().toLowerCase() === "close");
}

/** Whether nothing of a request is here, some of its head, or its head and not the whole body. */
export type ReaderPhase = "idle" | "head" | "body";

export class RequestReader {
  #bytes: Buffer | null = null;
  /** What is read of them. */
  #at = 0;
  /** What was looked at already of a head that is not whole, bytes: one that drips is not looked at from its beginning each time. */
  #seen = 0;
  #head: RequestHead | null = null;
  #body: BodyReader | null = null;
  #isBegun = false;
  #isContinueAsked = false;

  push(bytes: Buffer): void {
    this.#bytes = this.#bytes === null ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    this.#at = 0;
  }

  get phase(): ReaderPhase {
    return this.#body !== null ? "body" : this.#isBegun ? "head" : "idle";
  }

  /** Bytes that came and were not read yet. */
  get waiting(): number {
    return this.#bytes === null ? 0 : this.#bytes.length - this.#at;
  }

  /** Bytes that it holds: what was not read yet, and what is kept of a body that is not whole. */
  get heldBytes(): number {
    return (this.#bytes?.length ?? 0) + (this.#body?.keptBytes ?? 0);
  }

  /** Holds nothing any more. Nothing more is to be asked. */
  clear(): void {
    this.#bytes = null;
    this.#body = null;
    this.#head = null;
  }

  /** Whether a sender waits for `100 Continue`; true once for a request. */
  takeContinue(): boolean {
    const isAsked = this.#isContinueAsked;
    this.#isContinueAsked = false;
    return isAsked;
  }

  /** @returns null: more has to come. "too long": more of a body than is thrown away. After a refusal nothing more is to be asked. */
  next(): WholeRequest | HeadRefusal | "too long" | null {
    if (this.#head === null) {
      const head = this.#nextHead();
      if (head === null || "status" in head) return head;
      this.#isBegun = false;
      if (!head.head.hasBody) return { line: head, body: null };
      this.#head = head;
      const mostBytes = mostBodyBytes(pathOf(head.target));
      this.#body = head.head.isChunked
        ? new ChunkedBodyReader(mostBytes)
        : new LengthBodyReader(head.head.length, mostBytes);
      this.#isContinueAsked = head.waitsForContinue && this.#bytes === null && this.#body.state === "more";
    }
    return this.#nextBody(this.#head);
  }

  #nextBody(head: RequestHead): WholeRequest | HeadRefusal | "too long" | null {
    const body = this.#body;
    if (body === null) return null;
    if (this.#bytes !== null) this.#read(body.take(this.#bytes, this.#at));
    if (body.state === "malformed") return BAD_REQUEST;
    if (body.size > MAX_DISCARDED_BYTES) return "too long";
    if (body.state === "more") return null;
    this.#head = null;
    this.#body = null;
    return { line: head, body: body.body() };
  }

  #nextHead(): RequestHead | HeadRefusal | null {
    const bytes = this.#bytes;
    if (bytes === null) return null;
    this.#isBegun = true;
    // RFC 9112 section 2.2: empty lines before a request are ignored.
    while (bytes[this.#at] === CR && bytes[this.#at + 1] === LF) {
      this.#at += 2;
      this.#seen = 0;
    }
    const end = bytes.indexOf(HEAD_END, this.#at + Math.max(0, this.#seen - HEAD_END.length));
    if ((end < 0 ? bytes.length : end) - this.#at > MAX_HEAD_BYTES) return TOO_LONG;
    if (end < 0) return this.#part(bytes);
    this.#seen = 0;
    // A text of its own: what is kept of it must not keep all that came together.
    const head = parseRequestHead(bytes.toString("latin1", this.#at, end));
    this.#read(end + HEAD_END.length);
    return head;
  }

  /** @returns why a head that is not whole is refused already */
  #part(bytes: Buffer): HeadRefusal | null {
    // With the last two that were seen: a line end may have come in two pieces.
    const text = bytes.toString("latin1", this.#at + Math.max(0, this.#seen - 2));
    BROKEN.lastIndex = Math.min(1, Math.max(0, this.#seen - 1));
    const isBroken = BROKEN.test(text);
    this.#seen = bytes.length - this.#at;
    this.#read(this.#at);
    return isBroken ? BAD_REQUEST : null;
  }

  #read(to: number): void {
    this.#at = to;
    if (this.#bytes === null || to < this.#bytes.length) return;
    this.#bytes = null;
    this.#at = 0;
  }
}
