/** A host behind a tunnel, for tests: answers echoes, DNS questions and SYNs as a test wants, written apart from what asks. */
import dnsPacket from "dns-packet";
import { internetChecksum } from "../icmp/echo.ts";
import { decodeIp, encodeIp, type IpPacket, PROTOCOLS, transportChecksum } from "./packet.ts";

export interface HostBehavior {
  readonly echo?: boolean;
  readonly dns?: "answer" | "refuse" | false;
  readonly tcp?: "accept" | "refuse" | false;
}

/** @returns what comes back for a packet; undefined for silence */
export function answerOf(packet: Uint8Array, manners: HostBehavior): Uint8Array | undefined {
  const asked = decodeIp(packet);
  if (asked === undefined) return undefined;
  const answer = { source: asked.destination, destination: asked.source, protocol: asked.protocol };
  if (asked.protocol === PROTOCOLS.icmp || asked.protocol === PROTOCOLS.icmpv6) {
    return manners.echo === true ? withChecksum({ ...answer, payload: echoReply(asked) }, 2) : undefined;
  }
  if (asked.protocol === PROTOCOLS.udp) {
    if (manners.dns === undefined || manners.dns === false) return undefined;
    return withChecksum({ ...answer, payload: dnsReply(asked.payload, manners.dns) }, 6);
  }
  if (manners.tcp === undefined || manners.tcp === false) return undefined;
  return withChecksum({ ...answer, payload: tcpReply(asked.payload, manners.tcp) }, 16);
}

export function withChecksum(packet: IpPacket, at: number): Uint8Array {
  packet.payload[at] = packet.payload[at + 1] = 0;
  const sum = packet.protocol === PROTOCOLS.icmp ? internetChecksum(packet.payload) : transportChecksum(packet);
  packet.payload[at] = sum >> 8;
  packet.payload[at + 1] = sum & 255;
  return encodeIp(packet, 1);
}

function echoReply({ payload, protocol }: IpPacket): Uint8Array {
  const reply = Uint8Array.from(payload);
  reply[0] = protocol === PROTOCOLS.icmp ? 0 : 129;
  return reply;
}

function dnsReply(datagram: Uint8Array, how: "answer" | "refuse"): Uint8Array {
  const query = dnsPacket.decode(Buffer.from(datagram.subarray(8)));
  const message = dnsPacket.encode({
    type: "response",
    id: query.id ?? 0,
    flags: how === "refuse" ? 5 : 0x180,
    questions: query.questions ?? [],
  });
  const reply = Buffer.concat([Buffer.alloc(8), message]);
  reply.set(datagram.subarray(2, 4), 0);
  reply.set(datagram.subarray(0, 2), 2);
  reply.writeUInt16BE(reply.length, 4);
  return reply;
}

function tcpReply(segment: Uint8Array, how: "accept" | "refuse"): Uint8Array {
  const asked = Buffer.from(segment);
  const reply = Buffer.alloc(20);
  reply.writeUInt16BE(asked.readUInt16BE(2), 0);
  reply.writeUInt16BE(asked.readUInt16BE(0), 2);
  reply.writeUInt32BE(how === "accept" ? 0xdeadbeef : 0, 4);
  reply.writeUInt32BE((asked.readUInt32BE(4) + 1) >>> 0, 8);
  reply[12] = 0x50;
  reply[13] = how === "accept" ? 0x12 : 0x14;
  return reply;
}
