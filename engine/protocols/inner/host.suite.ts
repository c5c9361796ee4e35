/** Hosts behind a tunnel, for tests: they answer echoes, DNS questions and SYNs as a test wants. */
import dnsPacket from "dns-packet";
import { echoHost, type Host, withChecksum } from "../../../demo/tunnels/host.ts";
import { decodeIp, PROTOCOLS } from "./packet.ts";

export interface HostBehavior {
  readonly echo?: boolean;
  readonly dns?: "answer" | "refuse" | false;
  readonly tcp?: "accept" | "refuse" | false;
}

export function hostOf(manners: HostBehavior): Host {
  return (packet) => answerOf(packet, manners);
}

/** @returns what comes back for a packet; undefined for silence */
export function answerOf(
  packet: Uint8Array,
  { echo = false, dns = false, tcp = false }: HostBehavior,
): Uint8Array | undefined {
  const asked = decodeIp(packet);
  if (asked === undefined) return undefined;
  const { source, destination, protocol, payload } = asked;
  if (protocol === PROTOCOLS.icmp || protocol === PROTOCOLS.icmpv6) return echo ? echoHost(packet) : undefined;
  const answer = { source: destination, destination: source, protocol };
  if (protocol === PROTOCOLS.udp)
    return dns === false ? undefined : withChecksum({ ...answer, payload: dnsReply(payload, dns) }, 6);
  return tcp === false ? undefined : withChecksum({ ...answer, payload: tcpReply(payload, tcp) }, 16);
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
