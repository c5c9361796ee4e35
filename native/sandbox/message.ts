/** What sendmsg(2) is given: struct msghdr, struct iovec and struct cmsghdr on 64-bit little-endian Linux. Pure. */

/** A part of another process' memory. */
export interface Range {
  readonly at: bigint;
  readonly bytes: number;
}

export interface Message {
  /** null: where the socket is connected to. */
  readonly name: Range | null;
  /** Of struct iovec. */
  readonly vector: Range;
  readonly control: Range | null;
}

export const HEADER_BYTES = 56;
export const IOVEC_BYTES = 16;
/** struct sockaddr_storage. */
const MAX_NAME_BYTES = 128;
/** Pieces that a datagram is put together of; ours. */
const MAX_PIECES = 64;
/** Room for what is allowed, several times. */
const MAX_CONTROL_BYTES = 512;
/** No datagram, and no row of datagrams that the kernel cuts up, is longer. */
export const MAX_DATA_BYTES = 65_535;

/** @param bytes HEADER_BYTES. @returns null when a length is none that we take */
export function parseHeader(bytes: Buffer): Message | null {
  const [nameBytes, pieces, controlBytes] = [
    bytes.readInt32LE(8),
    bytes.readBigUInt64LE(24),
    bytes.readBigUInt64LE(40),
  ];
  if (nameBytes < 0 || pieces > MAX_PIECES || controlBytes > MAX_CONTROL_BYTES) return null;
  const [nameAt, controlAt] = [bytes.readBigUInt64LE(0), bytes.readBigUInt64LE(32)];
  const hasName = nameAt !== 0n && nameBytes > 0;
  const hasControl = controlAt !== 0n && controlBytes > 0n;
  return {
    name: hasName ? { at: nameAt, bytes: Math.min(nameBytes, MAX_NAME_BYTES) } : null,
    vector: { at: bytes.readBigUInt64LE(16), bytes: Number(pieces) * IOVEC_BYTES },
    control: hasControl ? { at: controlAt, bytes: Number(controlBytes) } : null,
  };
}

/** @param bytes struct iovec, in a row. @returns null when it is longer than a datagram */
export function parseVector(bytes: Buffer): readonly Range[] | null {
  const ranges: Range[] = [];
  let sum = 0;
  for (let at = 0; at + IOVEC_BYTES <= bytes.length; at += IOVEC_BYTES) {
    const length = bytes.readBigUInt64LE(at + 8);
    if (length > MAX_DATA_BYTES) return null;
    sum += Number(length);
    ranges.push({ at: bytes.readBigUInt64LE(at), bytes: Number(length) });
  }
  return sum > MAX_DATA_BYTES ? null : ranges;
}

/** Level and type: IP_TOS, IP_TTL, IPV6_HOPLIMIT, IPV6_TCLASS, UDP_SEGMENT. Not what names an interface, a source or a way. */
const ALLOWED: readonly (readonly [number, number])[] = [
  [0, 1],
  [0, 2],
  [41, 52],
  [41, 67],
  [17, 103],
];
const CMSG_HEADER_BYTES = 16;

/** Whether everything in a control buffer is harmless, as the kernel would walk through it. */
export function isHarmlessControl(bytes: Buffer): boolean {
  for (let at = 0; at + CMSG_HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readBigUInt64LE(at);
    if (length < CMSG_HEADER_BYTES || length > bytes.length - at) return false;
    const [level, type] = [bytes.readInt32LE(at + 8), bytes.readInt32LE(at + 12)];
    if (!ALLOWED.some(([one, other]) => one === level && other === type)) return false;
    at += Math.ceil(Number(length) / 8) * 8;
  }
  return true;
}
