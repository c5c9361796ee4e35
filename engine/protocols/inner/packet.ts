/**
 * Packets inside a tunnel: IPv4 (RFC 791) and IPv6 (RFC 8200) with one payload, without options or fragments. Pure.
 * Packets are untrusted: every length is checked against the bytes that are there.
 */

import { parseIpv4, parseIpv6 } from "../../net/ip.ts";
import { internetChecksum } from "../icmp/echo.ts";

export const PROTOCOLS = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58 } as const;

const IPV4_HEADER_BYTES = 20;
const IPV6_HEADER_BYTES = 40;
const HOPS = 64;
/** Do not fragment. */
const DF = 0x4000;
const FRAGMENT_BITS = 0x3fff;

/** An address as its bytes: 4 or 16. */
export type AddressBytes = Uint8Array;

export interface IpPacket {
  readonly source: AddressBytes;
  readonly destination: AddressBytes;
  /** Protocol, or the next header of IPv6. */
  readonly protocol: number;
  readonly payload: Uint8Array;
}

/** @returns undefined for what is no address in its strict form */
export function addressBytes(text: string): AddressBytes | undefined {
  const ipv4 = parseIpv4(text);
  if (ipv4 >= 0) return Uint8Array.of(ipv4 >>> 24, (ipv4 >>> 16) & 255, (ipv4 >>> 8) & 255, ipv4 & 255);
  const words = parseIpv6(text);
  return words === undefined
    ? undefined
    : Uint8Array.from(words.flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]));
}

/** @param identification 16 random bits, of IPv4 only; source and destination are of one family */
export function encodeIp({ source, destination, protocol, payload }: IpPacket, identification: number): Uint8Array {
  return source.length === 4
    ? encodeIpv4(source, destination, protocol, payload, identification)
    : encodeIpv6(source, destination, protocol, payload);
}

function encodeIpv4(
  source: AddressBytes,
  destination: AddressBytes,
  protocol: number,
  payload: Uint8Array,
  identification: number,
): Uint8Array {
  const packet = new Uint8Array(IPV4_HEADER_BYTES + payload.length);
  const view = new DataView(packet.buffer);
  view.setUint16(0, 0x4500);
  view.setUint16(2, packet.length);
  view.setUint16(4, identification);
  view.setUint16(6, DF);
  view.setUint8(8, HOPS);
  view.setUint8(9, protocol);
  packet.set(source, 12);
  packet.set(destination, 16);
  view.setUint16(10, internetChecksum(packet.subarray(0, IPV4_HEADER_BYTES)));
  packet.set(payload, IPV4_HEADER_BYTES);
  return packet;
}

function encodeIpv6(
  source: AddressBytes,
  destination: AddressBytes,
  protocol: number,
  payload: Uint8Array,
): Uint8Array {
  const packet = new Uint8Array(IPV6_HEADER_BYTES + payload.length);
  const view = new DataView(packet.buffer);
  view.setUint32(0, 0x6000_0000);
  view.setUint16(4, payload.length);
  view.setUint8(6, protocol);
  view.setUint8(7, HOPS);
  packet.set(source, 8);
  packet.set(destination, 24);
  packet.set(payload, IPV6_HEADER_BYTES);
  return packet;
}

/** @returns undefined for anything but a whole packet; what follows it (a tunnel's padding) is cut off */
export function decodeIp(packet: Uint8Array): IpPacket | undefined {
  const version = (packet[0] ?? 0) >> 4;
  if (version === 4) return decodeIpv4(packet);
  return version === 6 ? decodeIpv6(packet) : undefined;
}

function decodeIpv4(packet: Uint8Array): IpPacket | undefined {
  if (packet.length < IPV4_HEADER_BYTES) return undefined;
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const headerBytes = (view.getUint8(0) & 15) * 4;
  const totalBytes = view.getUint16(2);
  if (headerBytes < IPV4_HEADER_BYTES || totalBytes < headerBytes || totalBytes > packet.length) return undefined;
  if ((view.getUint16(6) & FRAGMENT_BITS) !== 0 || internetChecksum(packet.subarray(0, headerBytes)) !== 0)
    return undefined;
  return {
    source: packet.subarray(12, 16),
    destination: packet.subarray(16, 20),
    protocol: view.getUint8(9),
    payload: packet.subarray(headerBytes, totalBytes),
  };
}

function decodeIpv6(packet: Uint8Array): IpPacket | undefined {
  if (packet.length < IPV6_HEADER_BYTES) return undefined;
  const payloadBytes = ((packet[4] ?? 0) << 8) | (packet[5] ?? 0);
  if (IPV6_HEADER_BYTES + payloadBytes > packet.length) return undefined;
  return {
    source: packet.subarray(8, 24),
    destination: packet.subarray(24, 40),
    protocol: packet[6] ?? 0,
    payload: packet.subarray(IPV6_HEADER_BYTES, IPV6_HEADER_BYTES + payloadBytes),
  };
}

/** Of UDP, TCP and ICMPv6: over the addresses and the message, whose own field is zero (RFC 768, RFC 9293, RFC 8200 section 8.1). */
export function transportChecksum({ source, destination, protocol, payload }: IpPacket): number {
  return internetChecksum(payload, wordSum(source) + wordSum(destination) + protocol + payload.length);
}

function wordSum(bytes: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 2) sum += ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  return sum;
}
