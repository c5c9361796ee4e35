/**
 * What is asked through a tunnel, and how its own answer is known: an ICMP echo by identifier, sequence and nonce, a DNS question by port,
 * id and question, a TCP SYN by port and sequence number. Pure: numbers that must be random come in as bytes.
 */
import { DnsFormatError, decodeReply, encodeQuery, type Query, type QuestionType } from "../dns/message.ts";
import { decodeIcmp, type IcmpProblem, internetChecksum } from "../icmp/echo.ts";
import { type AddressBytes, decodeIp, encodeIp, type IpPacket, PROTOCOLS, transportChecksum } from "./packet.ts";

export type QuestionKind = "icmp" | "dns" | "tcp";

export interface QuestionTarget {
  readonly kind: QuestionKind;
  readonly address: AddressBytes;
  /** 53 for DNS by default; 0 for ICMP. */
  readonly port: number;
}

/** One question on its way. */
export interface Question {
  readonly target: QuestionTarget;
  readonly packet: Uint8Array;
  /** @returns what a packet from the tunnel means for this question; undefined when it is nothing to it */
  read(packet: IpPacket): Answer | undefined;
}

export type Answer =
  /** The question's own answer: the way there and back is open. */
  | { readonly kind: "answered"; readonly note: string | null; readonly farewell?: Uint8Array }
  /** A router or host on the way said that it cannot be delivered. */
  | { readonly kind: "undeliverable"; readonly problem: IcmpProblem; readonly by: AddressBytes };

/** Random bytes that a question uses. */
export const SEED_BYTES = 16;

/**
 * Sizes differ from try to try: some peers lose packets of certain lengths only (AmneziaWG with S2 = S4 + 4 those of 49 to 64 bytes).
 * Payloads of an echo, and DNS questions of as many lengths. All inner packets stay below 110 bytes, so the MTU never matters.
 */
const ECHO_PAYLOAD_BYTES = [56, 16, 32, 48] as const;
const QUESTIONS: readonly (readonly [string, QuestionType])[] = [
  ["example.com", "A"],
  ["", "NS"],
  ["a.root-servers.net", "A"],
  ["www.example.com", "AAAA"],
];

/**
 * @param source the tunnel's own address, of the target's family
 * @param round counts the tries, for sizes
 * @param seed SEED_BYTES random bytes
 */
export function createQuestion(
  target: QuestionTarget,
  source: AddressBytes,
  round: number,
  seed: Uint8Array,
): Question {
  switch (target.kind) {
    case "icmp":
      return echo(target, source, round, seed);
    case "dns":
      return dns(target, source, round, seed);
    case "tcp":
      return syn(target, source, seed);
  }
}

/** @returns undefined for what is no packet of ours to read */
export function decodeInner(packet: Uint8Array): IpPacket | undefined {
  const decoded = decodeIp(packet);
  if (decoded === undefined) return undefined;
  if (decoded.protocol === PROTOCOLS.icmp) return internetChecksum(decoded.payload) === 0 ? decoded : undefined;
  // A UDP checksum of zero is "none made" over IPv4 (RFC 768).
  const isUnchecked =
    decoded.protocol === PROTOCOLS.udp && decoded.source.length === 4 && uint16(decoded.payload, 6) === 0;
  return isUnchecked || transportChecksum(decoded) === 0 ? decoded : undefined;
}

function echo(target: QuestionTarget, source: AddressBytes, round: number, seed: Uint8Array): Question {
  const isIpv4 = source.length === 4;
  const payloadBytes = ECHO_PAYLOAD_BYTES[round % ECHO_PAYLOAD_BYTES.length] ?? 56;
  const message = new Uint8Array(8 + payloadBytes).fill(0x61);
  message[0] = isIpv4 ? 8 : 128;
  message[1] = message[2] = message[3] = 0;
  message.set(seed.subarray(0, 4), 4);
  message.set(seed.subarray(4, 12), 8);
  const packet = packetOf(target, source, isIpv4 ? PROTOCOLS.icmp : PROTOCOLS.icmpv6, message, 2, seed);
  const identifier = uint16(message, 4);
  const sequence = uint16(message, 6);
  return {
    target,
    packet,
    read(received) {
      const protocol = isIpv4 ? PROTOCOLS.icmp : PROTOCOLS.icmpv6;
      if (received.protocol !== protocol || !isSame(received.destination, source)) return undefined;
      const replied = received.payload;
      if (replied[0] === (isIpv4 ? 0 : 129)) {
        const isOurs =
          isSame(received.source, target.address) &&
          replied[1] === 0 &&
          isSame(replied.subarray(4), message.subarray(4));
        return isOurs ? { kind: "answered", note: null } : undefined;
      }
      const error = decodeIcmp(isIpv4 ? 4 : 6, replied);
      if (error?.type !== "error" || error.quoted.identifier !== identifier || error.quoted.sequence !== sequence)
        return undefined;
      return { kind: "undeliverable", problem: error.problem, by: received.source };
    },
  };
}

function dns(target: QuestionTarget, source: AddressBytes, round: number, seed: Uint8Array): Question {
  const [name, type] = QUESTIONS[round % QUESTIONS.length] ?? ["", "NS"];
  const query = encodeQuery(name, type, uint16(seed, 4));
  const sourcePort = ephemeralPort(seed);
  const datagram = new Uint8Array(8 + query.bytes.length);
  setUint16(datagram, 0, sourcePort);
  setUint16(datagram, 2, target.port);
  setUint16(datagram, 4, datagram.length);
  datagram.set(query.bytes, 8);
  const packet = packetOf(target, source, PROTOCOLS.udp, datagram, 6, seed);
  return {
    target,
    packet,
    read(received) {
      if (!isFrom(received, target, source, PROTOCOLS.udp) || uint16(received.payload, 0) !== target.port)
        return undefined;
      const lengthBytes = uint16(received.payload, 4);
      if (uint16(received.payload, 2) !== sourcePort || lengthBytes < 8 || lengthBytes > received.payload.length)
        return undefined;
      return readDns(received.payload.subarray(8, lengthBytes), query);
    },
  };
}

/** Any answer to the question shows that the way is open, errors too; one that refuses is worth a word. */
function readDns(message: Uint8Array, query: Query): Answer | undefined {
  try {
    const reply = decodeReply(message, query);
    if (reply === undefined) return undefined;
    const isRefused = reply.rcode === "REFUSED";
    return { kind: "answered", note: isRefused ? "The DNS server behind the tunnel refuses to answer" : null };
  } catch (error) {
    if (error instanceof DnsFormatError) return undefined;
    throw error;
  }
}

const FLAGS = { syn: 0x02, rst: 0x04, ack: 0x10 } as const;
const TCP_HEADER_BYTES = 20;
const WINDOW_BYTES = 64_240;

function syn(target: QuestionTarget, source: AddressBytes, seed: Uint8Array): Question {
  const sourcePort = ephemeralPort(seed);
  const sequence = uint32(seed, 4);
  // Maximum segment size 1220: fits every tunnel (RFC 9293 section 3.7.1; IPv6's least MTU less headers).
  const segment = segmentOf(
    { sourcePort, port: target.port, sequence, acknowledged: 0, flags: FLAGS.syn },
    Uint8Array.of(2, 4, 4, 196),
  );
  const packet = packetOf(target, source, PROTOCOLS.tcp, segment, 16, seed);
  return {
    target,
    packet,
    read(received) {
      if (!isFrom(received, target, source, PROTOCOLS.tcp) || received.payload.length < TCP_HEADER_BYTES)
        return undefined;
      const { payload } = received;
      if (uint16(payload, 0) !== target.port || uint16(payload, 2) !== sourcePort) return undefined;
      const flags = payload[13] ?? 0;
      const acknowledged = uint32(payload, 8);
      if ((flags & FLAGS.ack) === 0 || acknowledged !== (sequence + 1) >>> 0) return undefined;
      if ((flags & FLAGS.rst) !== 0)
        return { kind: "answered", note: "The host behind the tunnel refused the TCP connection" };
      if ((flags & FLAGS.syn) === 0) return undefined;
      // Half-open connections cost the host: taken back at once.
      const reset = segmentOf(
        { sourcePort, port: target.port, sequence: acknowledged, acknowledged: 0, flags: FLAGS.rst },
        new Uint8Array(0),
      );
      return { kind: "answered", note: null, farewell: packetOf(target, source, PROTOCOLS.tcp, reset, 16, seed) };
    },
  };
}

interface SegmentFields {
  readonly sourcePort: number;
  readonly port: number;
  readonly sequence: number;
  readonly acknowledged: number;
  readonly flags: number;
}

function segmentOf(
  { sourcePort, port, sequence, acknowledged, flags }: SegmentFields,
  options: Uint8Array,
): Uint8Array {
  const segment = new Uint8Array(TCP_HEADER_BYTES + options.length);
  const view = new DataView(segment.buffer);
  view.setUint16(0, sourcePort);
  view.setUint16(2, port);
  view.setUint32(4, sequence);
  view.setUint32(8, acknowledged);
  view.setUint8(12, (segment.length / 4) << 4);
  view.setUint8(13, flags);
  view.setUint16(14, flags === FLAGS.rst ? 0 : WINDOW_BYTES);
  segment.set(options, TCP_HEADER_BYTES);
  return segment;
}

/** Puts the checksum in its place and the message into a packet. */
function packetOf(
  target: QuestionTarget,
  source: AddressBytes,
  protocol: number,
  payload: Uint8Array,
  checksumAt: number,
  seed: Uint8Array,
): Uint8Array {
  const packet: IpPacket = { source, destination: target.address, protocol, payload };
  const checksum = protocol === PROTOCOLS.icmp ? internetChecksum(payload) : transportChecksum(packet);
  // Zero means "none" in UDP (RFC 768); the other form of zero is right in TCP and ICMPv6 too.
  setUint16(payload, checksumAt, checksum === 0 && protocol === PROTOCOLS.udp ? 0xffff : checksum);
  return encodeIp(packet, uint16(seed, 14));
}

function isFrom(received: IpPacket, target: QuestionTarget, source: AddressBytes, protocol: number): boolean {
  return (
    received.protocol === protocol && isSame(received.source, target.address) && isSame(received.destination, source)
  );
}

/** RFC 6335 section 6: 49152 to 65535. */
function ephemeralPort(seed: Uint8Array): number {
  return 0xc000 | uint16(seed, 0);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function uint16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

function uint32(bytes: Uint8Array, offset: number): number {
  return uint16(bytes, offset) * 0x1_0000 + uint16(bytes, offset + 2);
}

function setUint16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >> 8;
  bytes[offset + 1] = value & 255;
}
