/**
 * ICMP echo and the errors that answer it: RFC 792, RFC 4443. Pure: bytes in, bytes out; the token that makes a reply ours is the
 * caller's. IP headers are the caller's too (a raw IPv4 socket gives one: see payloadOfIpv4).
 */

export type IcmpFamily = 4 | 6;

export interface Echo {
  /** 16 bits. A datagram socket's kernel replaces it with its own. */
  readonly identifier: number;
  /** 16 bits. */
  readonly sequence: number;
  /** 64 bits, unpredictable: proves that a reply answers our request. */
  readonly token: bigint;
}

export type IcmpMessage =
  | { readonly type: "echo-request" | "echo-reply"; readonly echo: Echo }
  | { readonly type: "error"; readonly problem: IcmpProblem; readonly quoted: QuotedEcho };

/** Why a packet of ours did not arrive, as far as the verdict needs to know. */
export type IcmpProblem = "network-unreachable" | "host-unreachable" | "prohibited" | "hops-exceeded" | "bad-packet";

/** What an error quotes of our request; 8 bytes behind the IP header are certain (RFC 792), so the token may be missing. */
export interface QuotedEcho {
  readonly identifier: number;
  readonly sequence: number;
  readonly token: bigint | null;
}

/** Type, code, checksum, identifier, sequence: RFC 792 page 14, RFC 4443 section 4.1. */
const HEADER_BYTES = 8;
const TOKEN_BYTES = 8;
export const ECHO_BYTES = HEADER_BYTES + TOKEN_BYTES;

const ECHO_TYPES = { 4: { request: 8, reply: 0 }, 6: { request: 128, reply: 129 } } as const;

/** The fixed part of an IPv6 header, RFC 8200 section 3. */
const IPV6_HEADER_BYTES = 40;
const NEXT_HEADER_ICMPV6 = 58;
const PROTOCOL_ICMP = 1;
/** The shortest IPv4 header, RFC 791 section 3.1. */
const IPV4_HEADER_BYTES = 20;

/** An echo request. Over IPv6 the checksum stays zero: it covers the addresses, and the kernel fills it in (RFC 3542 section 3.1). */
export function encodeEchoRequest(family: IcmpFamily, echo: Echo): Uint8Array {
  return encodeEcho(family, ECHO_TYPES[family].request, echo);
}

export function encodeEchoReply(family: IcmpFamily, echo: Echo): Uint8Array {
  return encodeEcho(family, ECHO_TYPES[family].reply, echo);
}

function encodeEcho(family: IcmpFamily, type: number, echo: Echo): Uint8Array {
  const message = new Uint8Array(ECHO_BYTES);
  const view = new DataView(message.buffer);
  view.setUint8(0, type);
  view.setUint16(4, echo.identifier);
  view.setUint16(6, echo.sequence);
  view.setBigUint64(HEADER_BYTES, echo.token);
  if (family === 4) view.setUint16(2, internetChecksum(message));
  return message;
}

/** An ICMP message without its IP header; undefined for what is neither echo nor an error about one, and for what is cut short. */
export function decodeIcmp(family: IcmpFamily, message: Uint8Array): IcmpMessage | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  const view = viewOf(message);
  const type = view.getUint8(0);
  const code = view.getUint8(1);
  const types = ECHO_TYPES[family];
  if (type === types.request || type === types.reply) {
    if (code !== 0 || message.length < ECHO_BYTES) return undefined;
    return { type: type === types.reply ? "echo-reply" : "echo-request", echo: echoAt(view) };
  }
  const problem = family === 4 ? problemOfIcmp(type, code) : problemOfIcmpv6(type, code);
  if (problem === undefined) return undefined;
  const quoted = quotedEcho(family, message.subarray(HEADER_BYTES));
  return quoted === undefined ? undefined : { type: "error", problem, quoted };
}

/** The problem that a type and code stand for (RFC 792; codes 4 to 15: RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7.1). */
function problemOfIcmp(type: number, code: number): IcmpProblem | undefined {
  if (type === 11) return "hops-exceeded";
  if (type === 12) return "bad-packet";
  if (type !== 3) return undefined;
  if (code === 0 || code === 6 || code === 8 || code === 11) return "network-unreachable";
  if (code === 9 || code === 10 || code === 13) return "prohibited";
  // Fragmentation needed: our 16 bytes never are.
  return code === 4 ? "bad-packet" : "host-unreachable";
}

/** RFC 4443 sections 3.1 to 3.4. */
function problemOfIcmpv6(type: number, code: number): IcmpProblem | undefined {
  if (type === 2 || type === 4) return "bad-packet";
  if (type === 3) return "hops-exceeded";
  if (type !== 1) return undefined;
  if (code === 0) return "network-unreachable";
  return code === 1 || code === 5 || code === 6 ? "prohibited" : "host-unreachable";
}

/** Our echo request as a router or host sent it back, from the IP header on. */
function quotedEcho(family: IcmpFamily, quoted: Uint8Array): QuotedEcho | undefined {
  if (family === 4) {
    const inner = payloadOfIpv4(quoted);
    return inner === undefined ? undefined : quotedRequest(4, inner);
  }
  const isIcmpv6 = quoted.length >= IPV6_HEADER_BYTES && quoted[6] === NEXT_HEADER_ICMPV6;
  return isIcmpv6 ? quotedRequest(6, quoted.subarray(IPV6_HEADER_BYTES)) : undefined;
}

/** Our echo request as it is quoted, from the ICMP header on: what the kernel's error queue gives. */
export function quotedRequest(family: IcmpFamily, message: Uint8Array): QuotedEcho | undefined {
  if (message.length < HEADER_BYTES || message[0] !== ECHO_TYPES[family].request) return undefined;
  const view = viewOf(message);
  const token = message.length >= ECHO_BYTES ? view.getBigUint64(HEADER_BYTES) : null;
  return { identifier: view.getUint16(4), sequence: view.getUint16(6), token };
}

/** The ICMP message in an IPv4 packet (RFC 791 section 3.1); undefined when there is none, or only a later fragment of one. */
export function payloadOfIpv4(packet: Uint8Array): Uint8Array | undefined {
  const first = packet[0] ?? 0;
  const headerBytes = (first & 15) * 4;
  if (first >> 4 !== 4 || headerBytes < IPV4_HEADER_BYTES || packet.length < headerBytes) return undefined;
  const fragmentOffset = (((packet[6] ?? 0) & 0x1f) << 8) | (packet[7] ?? 0);
  if (packet[9] !== PROTOCOL_ICMP || fragmentOffset !== 0) return undefined;
  return packet.subarray(headerBytes);
}

/** Whether an ICMPv4 message carries its right checksum: a raw socket gets messages before the kernel has looked. */
export function isIntact(message: Uint8Array): boolean {
  return internetChecksum(message) === 0;
}

/** RFC 1071. The field itself must be zero when a checksum is made; over a whole message with its checksum the result is zero. */
export function internetChecksum(bytes: Uint8Array, startSum = 0): number {
  let sum = startSum + sumOfWords(bytes);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000);
  return ~sum & 0xffff;
}

function sumOfWords(bytes: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 2) sum += ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  return sum;
}

function echoAt(view: DataView): Echo {
  return { identifier: view.getUint16(4), sequence: view.getUint16(6), token: view.getBigUint64(HEADER_BYTES) };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
