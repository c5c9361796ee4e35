/**
 * DNS messages (RFC 1035 section 4): a query out, its reply in. Pure. Replies are untrusted: every length is checked
 * against the bytes that are there, pointers may only go back, names, records and bytes are bounded.
 * Own code instead of dns-packet, which takes a record's length from its type and not from the message, so one that lies
 * about it shifts all that follows; the tests use dns-packet as the other side.
 */
import { formatIpv4, formatIpv6 } from "../../net/ip.ts";

const TYPE_NUMBERS = { A: 1, NS: 2, AAAA: 28 } as const;
const TYPE_CNAME = 5;
const TYPE_SOA = 6;
const CLASS_IN = 1;

/** RFC 1035 section 4.1.1, RFC 2136 section 2.2; what is not here is shown by number. */
const RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET"];
/** Errors that some servers send without repeating the question, as the whole message is refused. */
const WITHOUT_QUESTION = new Set(["FORMERR", "SERVFAIL", "NOTIMP", "REFUSED"]);

const HEADER_BYTES = 12;
/** Longest reply that is read, also over TCP: about 1,000 addresses. Far below what decoding would notice. */
export const MESSAGE_BYTES = 16_384;
const RECORD_LIMIT = 1_024;
/** RFC 1035 section 2.3.4. */
const NAME_BYTES = 255;
/** RFC 2181 section 8: 31 bits; a set top bit counts as 0. */
const TTL_LIMIT = 0x7fff_ffff;

export type QuestionType = keyof typeof TYPE_NUMBERS;

export interface Query {
  readonly id: number;
  /** ASCII, lowercase, without the final dot; empty for the root. */
  readonly name: string;
  readonly type: QuestionType;
  readonly bytes: Uint8Array;
}

export interface DnsRecord {
  /** Owner, lowercase, without the final dot; bytes that are not printable are escaped (RFC 1035 section 5.1). */
  readonly name: string;
  readonly type: "A" | "AAAA" | "CNAME";
  readonly ttlS: number;
  /** Address, or the canonical name. */
  readonly data: string;
}

export interface Reply {
  readonly rcode: string;
  /** The rest is to be had over TCP; `records` is empty then. */
  readonly truncated: boolean;
  /** Answers of the types that a check looks at; others are skipped. */
  readonly records: readonly DnsRecord[];
  /** How long "no such record" may be believed (RFC 2308 section 5); null when the server did not say. */
  readonly negativeTtlS: number | null;
}

/** It answers our query and cannot be read: the peer's fault. */
export class DnsFormatError extends Error {
  override readonly name = "DnsFormatError";
}

/** @param name as toAsciiName() gives it, or empty for the root; @param id 0 to 65535, random */
export function encodeQuery(name: string, type: QuestionType, id: number): Query {
  const bytes = new Uint8Array(HEADER_BYTES + name.length + (name === "" ? 1 : 2) + 4);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, id);
  view.setUint16(2, 0x0100); // recursion desired
  view.setUint16(4, 1);
  let offset = HEADER_BYTES;
  for (const label of name === "" ? [] : name.split(".")) {
    if (label.length === 0 || label.length > 63) throw new RangeError(`not a name to ask for: ${name}`);
    bytes[offset++] = label.length;
    for (let index = 0; index < label.length; index++) bytes[offset++] = label.charCodeAt(index);
  }
  if (offset + 1 - HEADER_BYTES > NAME_BYTES) throw new RangeError(`not a name to ask for: ${name}`);
  view.setUint16(offset + 1, TYPE_NUMBERS[type]);
  view.setUint16(offset + 3, CLASS_IN);
  return { id, name: name.toLowerCase(), type, bytes };
}

/**
 * @returns undefined for a message that does not answer the query (other id, question, direction): RFC 5452 section 9.1
 * @throws DnsFormatError when it does, and is broken
 */
export function decodeReply(bytes: Uint8Array, query: Query): Reply | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const reader = new Reader(bytes);
  if (reader.uint16() !== query.id) return undefined;
  const flags = reader.uint16();
  const isReply = (flags & 0x8000) !== 0;
  const opcode = (flags >> 11) & 15;
  if (!isReply || opcode !== 0) return undefined;
  const rcode = RCODES[flags & 15] ?? `RCODE${flags & 15}`;
  const questions = reader.uint16();
  const answers = reader.uint16();
  const authorities = reader.uint16();
  reader.uint16();
  if (!answersQuestion(reader, questions, rcode, query)) return undefined;
  if (bytes.length > MESSAGE_BYTES) throw new DnsFormatError(`reply of ${bytes.length} bytes`);
  if (answers + authorities > RECORD_LIMIT) throw new DnsFormatError(`reply of ${answers + authorities} records`);
  if ((flags & 0x0200) !== 0) return { rcode, truncated: true, records: [], negativeTtlS: null };
  const records = readAnswers(reader, answers);
  const negativeTtlS = records.length === 0 ? negativeTtl(reader, authorities) : null;
  return { rcode, truncated: false, records, negativeTtlS };
}

function answersQuestion(reader: Reader, questions: number, rcode: string, query: Query): boolean {
  if (questions === 0) return WITHOUT_QUESTION.has(rcode);
  if (questions !== 1) return false;
  try {
    const name = reader.name();
    return name === query.name && reader.uint16() === TYPE_NUMBERS[query.type] && reader.uint16() === CLASS_IN;
  } catch (error) {
    if (error instanceof DnsFormatError) return false;
    throw error;
  }
}

function readAnswers(reader: Reader, count: number): DnsRecord[] {
  const records: DnsRecord[] = [];
  for (let index = 0; index < count; index++) {
    const record = reader.record();
    const data = dataOf(record, reader);
    if (data !== undefined) records.push({ name: record.name, ttlS: record.ttlS, ...data });
    reader.offset = record.end;
  }
  return records;
}

function dataOf(record: RawRecord, reader: Reader): Pick<DnsRecord, "type" | "data"> | undefined {
  if (record.class !== CLASS_IN) return undefined;
  switch (record.type) {
    case TYPE_NUMBERS.A:
      record.expectLength(4);
      return { type: "A", data: formatIpv4(reader.uint32()) };
    case TYPE_NUMBERS.AAAA:
      record.expectLength(16);
      return { type: "AAAA", data: formatIpv6([reader.uint32(), reader.uint32(), reader.uint32(), reader.uint32()]) };
    case TYPE_CNAME: {
      const data = reader.name();
      if (reader.offset !== record.end) throw new DnsFormatError("length of a CNAME record is wrong");
      return { type: "CNAME", data };
    }
    default:
      return undefined;
  }
}

/** RFC 2308 section 5: the smaller of the SOA's own TTL and its last field. An authority section that cannot be read is as good as none. */
function negativeTtl(reader: Reader, count: number): number | null {
  try {
    for (let index = 0; index < count; index++) {
      const record = reader.record();
      if (record.type === TYPE_SOA && record.end - reader.offset >= 20) {
        reader.offset = record.end - 4;
        return Math.min(record.ttlS, reader.uint32());
      }
      reader.offset = record.end;
    }
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error;
  }
  return null;
}

interface RawRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlS: number;
  /** Offset behind its data. */
  readonly end: number;
  expectLength(sizeBytes: number): void;
}

/** Reads on from `offset`; nothing beyond the message is ever touched. */
class Reader {
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

  uint32(): number {
    return this.#view.getUint32(this.#take(4));
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
