/** As much of DER (X.690) as certificates and algorithm identifiers need: tag, length, content. Pure. */

export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** With its tag and length. */
  readonly whole: Buffer;
}

export const DER = { boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, sequence: 0x30 } as const;

/** Ours: more members than any certificate has. */
const MEMBER_LIMIT = 256;

/** @returns the values one behind the other; undefined for bytes that are no DER */
export function readDer(bytes: Buffer): readonly DerValue[] | undefined {
  const values: DerValue[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const header = headerAt(bytes, offset);
    if (header === undefined || values.length >= MEMBER_LIMIT) return undefined;
    const startAt = offset + header.headerBytes;
    const endAt = startAt + header.contentBytes;
    values.push({
      tag: bytes.readUInt8(offset),
      content: bytes.subarray(startAt, endAt),
      whole: bytes.subarray(offset, endAt),
    });
    offset = endAt;
  }
  return values;
}

/** Members of the one value that the bytes are. */
export function membersOf(bytes: Buffer, tag: number): readonly DerValue[] | undefined {
  const [value, ...others] = readDer(bytes) ?? [];
  return value?.tag === tag && others.length === 0 ? readDer(value.content) : undefined;
}

export function encodeDer(tag: number, content: Buffer): Buffer {
  const { length } = content;
  return Buffer.concat([Buffer.from([tag, ...sizeOf(length)]), content]);
}

/** @param length below 16 MiB */
function sizeOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  if (length < 0x10000) return [0x82, length >> 8, length & 0xff];
  return [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
}

/** The dotted form of an object identifier's content. */
export function oidText(content: Buffer): string {
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const byte of content.subarray(0, 32)) {
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [first = 0n, ...others] = arcs;
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...others].join(".");
}

/** @returns undefined where no tag and length stand, or the content would end behind the bytes */
export function headerAt(bytes: Buffer, offset: number): { headerBytes: number; contentBytes: number } | undefined {
  const first = bytes[offset + 1];
  // No tag above 30 is in what we read.
  if (first === undefined || ((bytes[offset] ?? 0) & 0x1f) === 0x1f) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > 3 || offset + 2 + lengthBytes > bytes.length) return undefined;
  const contentBytes = lengthBytes === 0 ? first : bytes.readUIntBE(offset + 2, lengthBytes);
  const headerBytes = 2 + lengthBytes;
  return offset + headerBytes + contentBytes > bytes.length ? undefined : { headerBytes, contentBytes };
}
