/**
 * DNS messages (RFC 1035 section 4): a query out, its reply in. Pure. Replies are untrusted: every length is checked
 * against the bytes that are there, pointers may only go back, names, records and bytes are bounded.
 * Own code instead of dns-packet, which takes a record's length from its type and not from the message, so that a wrong length
 * shifts all that follows; the tests use dns-packet as the other side.
 */
import { type DataType, dataOf, TYPE_NUMBERS } from "./data.ts";
import { DnsFormatError, NAME_BYTES, Reader } from "./reader.ts";

export { DnsFormatError } from "./reader.ts";

const CLASS_IN = 1;

/** RFC 1035 section 4.1.1, RFC 2136 section 2.2; what is not here is shown by number. */
const RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET"];
/** Errors that some servers send without repeating the question, as the whole message is refused. */
const WITHOUT_QUESTION = new Set(["FORMERR", "SERVFAIL", "NOTIMP", "REFUSED"]);

const HEADER_BYTES = 12;
/** AA of the header's flags. */
const AUTHORITATIVE = 0x0400;
/** Longest reply that is read, also over TCP: about 1,000 addresses. Far below what decoding would notice. */
export const MESSAGE_BYTES = 16_384;
const RECORD_LIMIT = 1_024;

export type QuestionType = DataType;

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
  readonly type: DataType;
  readonly ttlS: number;
  /** As data.ts writes it: an address, a name, or the fields of the record in their order. */
  readonly data: string;
}

export interface Reply {
  readonly rcode: string;
  /** The rest is to be had over TCP; `records` is empty then. */
  readonly truncated: boolean;
  /** Addresses, aliases, and records of the type that was asked for; others are skipped. */
  readonly records: readonly DnsRecord[];
  /** How long "no such record" may be believed (RFC 2308 section 5); null when the server did not say. */
  readonly negativeTtlS: number | null;
  /** It names other servers and says no more (RFC 1034 section 4.3.1): it is not recursive, and does not have the zone of the name. */
  readonly isReferral: boolean;
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
  if ((flags & 0x0200) !== 0) return { rcode, truncated: true, records: [], negativeTtlS: null, isReferral: false };
  const records = readAnswers(reader, answers, query.type);
  const { negativeTtlS, hasServers } =
    records.length === 0 ? readAuthorities(reader, authorities) : { negativeTtlS: null, hasServers: false };
  const isReferral = hasServers && negativeTtlS === null && rcode === "NOERROR" && (flags & AUTHORITATIVE) === 0;
  return { rcode, truncated: false, records, negativeTtlS, isReferral };
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

function readAnswers(reader: Reader, count: number, asked: QuestionType): DnsRecord[] {
  const records: DnsRecord[] = [];
  for (let index = 0; index < count; index++) {
    const record = reader.record();
    const read = record.class === CLASS_IN ? dataOf(record, reader, asked) : undefined;
    if (read !== undefined) records.push({ name: record.name, ttlS: record.ttlS, ...read });
    reader.offset = record.end;
  }
  return records;
}

interface Authorities {
  readonly negativeTtlS: number | null;
  readonly hasServers: boolean;
}

/** RFC 2308 section 5: the smaller of the SOA's own TTL and its last field. An authority section that cannot be read is as good as none. */
function readAuthorities(reader: Reader, count: number): Authorities {
  let hasServers = false;
  try {
    for (let index = 0; index < count; index++) {
      const record = reader.record();
      if (record.type === TYPE_NUMBERS.SOA && record.end - reader.offset >= 20) {
        reader.offset = record.end - 4;
        return { negativeTtlS: Math.min(record.ttlS, reader.uint32()), hasServers };
      }
      hasServers ||= record.type === TYPE_NUMBERS.NS;
      reader.offset = record.end;
    }
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error;
    return { negativeTtlS: null, hasServers: false };
  }
  return { negativeTtlS: null, hasServers };
}
