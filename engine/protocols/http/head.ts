/** The head of an HTTP/1.x response: status line and the few headers that a check needs (RFC 9112 sections 4 to 6). */
import { withoutBlanks } from "../../../model/text.ts";
import { HttpSyntaxError } from "./syntax-error.ts";

/** How long the body is: its bytes, `chunked`, `until-close`, or `none` where there cannot be one (RFC 9112 section 6.3). */
export type Framing = number | "chunked" | "until-close" | "none";

export interface ResponseHead {
  readonly status: number;
  readonly location: string | null;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
}

export interface FramedHead extends ResponseHead {
  readonly framing: Framing;
}

const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;

/** `HTTP/1.` and the shortest status line, `HTTP/1.1 200`. */
export const VERSION = Buffer.from("HTTP/1.", "latin1");
const STATUS_LINE_BYTES = 12;

/** tchar of RFC 9110 section 5.6.2, by byte. */
const TOKEN = table("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

/** Headers that are read; everything else is only checked for form. */
const FIELDS = ["location", "content-type", "content-length", "content-encoding", "transfer-encoding"] as const;
const LOCATION = 0;
const CONTENT_TYPE = 1;
const CONTENT_LENGTH = 2;
const CONTENT_ENCODING = 3;
const TRANSFER_ENCODING = 4;
const OTHER = -1;

/** 10^15 is the largest power of ten that a number still counts exactly. */
const CONTENT_LENGTH_DIGITS = 15;

/** One header with its name and folded lines: what Node and others take for all together. Policies of 8 KiB and more exist. */
export const HEADER_LIMIT_BYTES = 16 * 1024;
/** Headers of one answer; servers that send a hundred exist. */
export const HEADER_COUNT_LIMIT = 256;

export function headerTooLong(): HttpSyntaxError {
  return new HttpSyntaxError(`a header is longer than ${HEADER_LIMIT_BYTES / 1024} KiB`);
}

export function tooManyHeaders(): HttpSyntaxError {
  return new HttpSyntaxError(`there are more than ${HEADER_COUNT_LIMIT} headers`);
}

/** @param end after the empty line that ends the head */
export function parseHead(bytes: Buffer, start: number, end: number): FramedHead {
  const firstLineEnd = bytes.indexOf(LF, start);
  if (firstLineEnd - start > HEADER_LIMIT_BYTES) throw headerTooLong();
  const status = parseStatusLine(bytes, start, trimCr(bytes, start, firstLineEnd));
  const values: (string | undefined)[] = [];
  let field = OTHER;
  let headers = 0;
  let headerAt = firstLineEnd + 1;
  let at = headerAt;
  while (at < end) {
    const next = bytes.indexOf(LF, at) + 1;
    const lineEnd = trimCr(bytes, at, next - 1);
    if (lineEnd === at) break;
    const first = bytes[at] ?? 0;
    const isFolded = first === SPACE || first === TAB;
    if (!isFolded) headerAt = at;
    if (lineEnd - headerAt > HEADER_LIMIT_BYTES) throw headerTooLong();
    if (isFolded) {
      if (at === firstLineEnd + 1) throw new HttpSyntaxError("the first header line is folded");
      addValue(values, field, bytes, at, lineEnd, " ");
    } else {
      if (++headers > HEADER_COUNT_LIMIT) throw tooManyHeaders();
      const colon = findColon(bytes, at, lineEnd);
      field = fieldOf(bytes, at, colon);
      addValue(values, field, bytes, colon + 1, lineEnd, ", ");
    }
    at = next;
  }
  return {
    status,
    location: values[LOCATION] ?? null,
    contentType: values[CONTENT_TYPE] ?? null,
    contentEncoding: values[CONTENT_ENCODING] ?? null,
    framing: framingOf(status, values[TRANSFER_ENCODING], values[CONTENT_LENGTH]),
  };
}

function parseStatusLine(bytes: Buffer, start: number, end: number): number {
  if (end - start < STATUS_LINE_BYTES || VERSION.compare(bytes, start, start + VERSION.length) !== 0) throw notHttp();
  const minor = bytes[start + 7];
  if ((minor !== 0x30 && minor !== 0x31) || bytes[start + 8] !== SPACE) throw notHttp();
  let status = 0;
  for (let at = start + 9; at < start + STATUS_LINE_BYTES; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) throw notHttp();
    status = status * 10 + digit;
  }
  if (status < 100 || (end - start > STATUS_LINE_BYTES && bytes[start + STATUS_LINE_BYTES] !== SPACE)) throw notHttp();
  checkText(bytes, start + STATUS_LINE_BYTES, end);
  return status;
}

/** Refuses a head that cannot become HTTP/1.x any more. @param end how many bytes there are so far */
export function checkVersion(bytes: Buffer, end: number): void {
  const known = Math.min(end, VERSION.length);
  if (VERSION.compare(bytes, 0, known, 0, known) !== 0) throw notHttp();
}

function notHttp(): HttpSyntaxError {
  return new HttpSyntaxError("its first line is not HTTP");
}

function findColon(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && TOKEN[bytes[at] ?? 0] === 1) at++;
  if (at === start || at === end || bytes[at] !== COLON) throw new HttpSyntaxError("a header line has no valid name");
  return at;
}

function fieldOf(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  for (let field = 0; field < FIELDS.length; field++) {
    const name = FIELDS[field] ?? "";
    if (name.length !== length) continue;
    let at = 0;
    // Setting bit 5 lowers letters and keeps the hyphen; other bytes cannot become either, as names are tokens.
    while (at < length && ((bytes[start + at] ?? 0) | 0x20) === name.charCodeAt(at)) at++;
    return at === length ? field : OTHER;
  }
  return OTHER;
}

/** Checks a value's bytes and keeps it when its field is one that is read. */
function addValue(
  values: (string | undefined)[],
  field: number,
  bytes: Buffer,
  from: number,
  to: number,
  glue: string,
): void {
  let start = from;
  let end = to;
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  checkText(bytes, start, end);
  if (field === OTHER) return;
  const value = bytes.toString("latin1", start, end);
  const earlier = values[field];
  // Of several Location lines the first counts; the other fields are lists (RFC 9110 section 5.3).
  if (earlier === undefined) values[field] = value;
  else if (field !== LOCATION || glue === " ") values[field] = earlier + glue + value;
}

/** Control characters have no place in a head; a NUL or CR in the middle of a line is how answers are forged. */
function checkText(bytes: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if ((byte < SPACE && byte !== TAB) || byte === 0x7f)
      throw new HttpSyntaxError("a header line holds a control character");
  }
}

function framingOf(status: number, transferEncoding: string | undefined, contentLength: string | undefined): Framing {
  if (status < 200 || status === 204 || status === 304) return "none";
  if (transferEncoding !== undefined) {
    // Transfer-Encoding overrides Content-Length (RFC 9112 section 6.3); on a connection of one response nothing can be smuggled.
    const codings = listOf(transferEncoding.toLowerCase());
    if (codings.length === 1 && codings[0] === "chunked") return "chunked";
    if (codings.some((coding) => coding !== "identity"))
      throw new HttpSyntaxError("the transfer coding is not supported");
  }
  if (contentLength === undefined) return "until-close";
  return parseContentLength(contentLength);
}

function parseContentLength(text: string): number {
  if (/^\d+$/.test(text)) return boundedLength(text);
  // The same length twice is a known fault of proxies and counts once (RFC 9110 section 8.6).
  const parts = listOf(text);
  const first = parts[0] ?? "";
  if (parts.some((part) => !/^\d+$/.test(part))) throw new HttpSyntaxError("Content-Length is not a number");
  if (parts.some((part) => part !== first)) throw new HttpSyntaxError("Content-Length is there twice and differs");
  return boundedLength(first);
}

/** The members of a list (RFC 9110 section 5.6.1). */
function listOf(text: string): readonly string[] {
  return text.split(",").map(withoutBlanks);
}

function boundedLength(digits: string): number {
  if (digits.length > CONTENT_LENGTH_DIGITS) throw new HttpSyntaxError("Content-Length is too large");
  return Number(digits);
}

function trimCr(bytes: Buffer, start: number, end: number): number {
  return end > start && bytes[end - 1] === CR ? end - 1 : end;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function table(characters: string): Uint8Array {
  const members = new Uint8Array(256);
  for (const character of characters) members[character.charCodeAt(0)] = 1;
  return members;
}
