/** The data of a DNS record as text, in the order and form of zone files (RFC 1035 section 5.1) so that people can compare it. Pure. */
import { formatIpv4, formatIpv6 } from "../../net/ip.ts";
import { DnsFormatError, type RawRecord, type Reader } from "./reader.ts";

/** RFC 1035 section 3.2.2, RFC 3596 (AAAA), RFC 2782 (SRV), RFC 8659 (CAA). */
export const TYPE_NUMBERS = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
} as const;

export type DataType = keyof typeof TYPE_NUMBERS;

const TYPE_NAMES: ReadonlyMap<number, DataType> = new Map(
  Object.entries(TYPE_NUMBERS).map(([name, number]) => [number, name as DataType]),
);
/** Read whatever was asked for: the way to an address leads over them. */
const ALWAYS: ReadonlySet<DataType> = new Set(["A", "AAAA", "CNAME"]);

/** What reads the data of one type. */
const READERS: Readonly<Record<DataType, (reader: Reader, record: RawRecord) => string>> = {
  A: (reader, record) => {
    record.expectLength(4);
    return formatIpv4(reader.uint32());
  },
  AAAA: (reader, record) => {
    record.expectLength(16);
    return formatIpv6([reader.uint32(), reader.uint32(), reader.uint32(), reader.uint32()]);
  },
  CNAME: (reader) => reader.name(),
  NS: nameOf,
  PTR: nameOf,
  MX: (reader) => `${reader.uint16()} ${nameOf(reader)}`,
  SRV: (reader) => `${reader.uint16()} ${reader.uint16()} ${reader.uint16()} ${nameOf(reader)}`,
  SOA: (reader) => {
    const names = `${nameOf(reader)} ${nameOf(reader)}`;
    return [names, reader.uint32(), reader.uint32(), reader.uint32(), reader.uint32(), reader.uint32()].join(" ");
  },
  // Its strings are one text that was cut into pieces of 255 bytes (RFC 7208 section 3.3 for SPF, RFC 6376 section 3.6.2.2 for DKIM).
  TXT: (reader, { end }) => {
    const pieces: Uint8Array[] = [];
    while (reader.offset < end) pieces.push(reader.bytes(reader.uint8()));
    return textOf(Buffer.concat(pieces));
  },
  CAA: (reader, { end }) => {
    const flags = reader.uint8();
    const tag = textOf(reader.bytes(reader.uint8()));
    if (reader.offset > end) throw new DnsFormatError("length of a CAA record is wrong");
    return `${flags} ${tag.toLowerCase()} ${textOf(reader.bytes(end - reader.offset))}`;
  },
};

/**
 * @param reader stands at the data, and behind what was read afterwards
 * @returns undefined for a type that was not asked for and leads to no address
 * @throws DnsFormatError when the data is not as long as its record says
 */
export function dataOf(
  record: RawRecord,
  reader: Reader,
  asked: DataType,
): { readonly type: DataType; readonly data: string } | undefined {
  const type = TYPE_NAMES.get(record.type);
  if (type === undefined || (type !== asked && !ALWAYS.has(type))) return undefined;
  const data = READERS[type](reader, record);
  if (reader.offset !== record.end) throw new DnsFormatError(`length of a ${type} record is wrong`);
  return { type, data };
}

/** The root is written as a dot: `0 .` is an MX that takes no mail (RFC 7505). */
function nameOf(reader: Reader): string {
  return reader.name() || ".";
}

/** UTF-8; what is none, and control characters, as `\DDD` (RFC 1035 section 5.1). */
function textOf(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.replace(/\p{Cc}/gu, (character) => escaped(character.codePointAt(0) ?? 0));
  } catch {
    return Array.from(bytes, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : escaped(byte))).join("");
  }
}

function escaped(byte: number): string {
  return `\\${String(byte).padStart(3, "0")}`;
}
