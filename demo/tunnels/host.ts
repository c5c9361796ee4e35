/** A host behind a tunnel that answers echoes (RFC 792, RFC 4443) of any address, written apart from what asks. */
import { internetChecksum } from "../../engine/protocols/icmp/echo.ts";
import {
  decodeIp,
  encodeIp,
  type IpPacket,
  PROTOCOLS,
  transportChecksum,
} from "../../engine/protocols/inner/packet.ts";

/** @returns what comes back for an IP packet; undefined for silence */
export type Host = (packet: Uint8Array) => Uint8Array | undefined;

const ECHO_REPLY = 0;
const ECHO_REPLY_V6 = 129;
/** Where ICMP has its checksum, bytes. */
const CHECKSUM_AT = 2;

export const echoHost: Host = (packet) => {
  const asked = decodeIp(packet);
  if (asked === undefined) return undefined;
  const { source, destination, protocol } = asked;
  if (protocol !== PROTOCOLS.icmp && protocol !== PROTOCOLS.icmpv6) return undefined;
  const payload = Uint8Array.from(asked.payload);
  payload[0] = protocol === PROTOCOLS.icmp ? ECHO_REPLY : ECHO_REPLY_V6;
  return withChecksum({ source: destination, destination: source, protocol, payload }, CHECKSUM_AT);
};

/** @param at of the checksum in the payload, bytes. @returns the packet as it is sent */
export function withChecksum(packet: IpPacket, at: number): Uint8Array {
  packet.payload[at] = packet.payload[at + 1] = 0;
  const sum = packet.protocol === PROTOCOLS.icmp ? internetChecksum(packet.payload) : transportChecksum(packet);
  packet.payload[at] = sum >> 8;
  packet.payload[at + 1] = sum & 255;
  return encodeIp(packet, 1);
}
