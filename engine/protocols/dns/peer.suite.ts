/** A DNS server for tests: real UDP and TCP listeners on one free port, whose answers each test writes. Speaks through dns-packet, not through our codec. */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { createServer, type Server, type Socket } from "node:net";
import packet, { type Answer, type DecodedPacket, type Packet } from "dns-packet";
import { bind } from "../../../demo/loopback.ts";

export interface Asked {
  readonly over: "udp" | "tcp";
  readonly name: string;
  readonly type: string;
  readonly query: DecodedPacket;
  /** UDP only: where the question came from, for answers from elsewhere. */
  readonly from: RemoteInfo | null;
}

/** Bytes to send, several for several datagrams; null for silence. */
export type Reaction = Uint8Array | readonly Uint8Array[] | null;

export interface DnsPeer {
  readonly port: number;
  readonly host: string;
  /** Questions in the order they came; the root asked for by a resolver in doubt is among them. */
  readonly asked: readonly Asked[];
  react: (asked: Asked) => Reaction;
  /** Ends the TCP side, so that a truncated answer leads nowhere. */
  closeTcp(): Promise<void>;
  close(): Promise<void>;
}

export async function openDnsPeer(react: (asked: Asked) => Reaction, host = "127.0.0.1"): Promise<DnsPeer> {
  const { udp, tcp } = await bothOnOnePort(host);
  const { port } = udp.address();
  const asked: Asked[] = [];
  const streams = new Set<Socket>();
  const peer = { react };

  function reactionsTo(bytes: Uint8Array, over: "udp" | "tcp", from: RemoteInfo | null): readonly Uint8Array[] {
    const query = packet.decode(Buffer.from(bytes));
    const question = query.questions?.[0];
    const one: Asked = { over, name: question?.name ?? "", type: question?.type ?? "", query, from };
    asked.push(one);
    const reaction = peer.react(one);
    if (reaction === null) return [];
    return reaction instanceof Uint8Array ? [reaction] : reaction;
  }

  udp.on("message", (bytes, from) => {
    for (const each of reactionsTo(bytes, "udp", from)) udp.send(each, from.port, from.address);
  });
  tcp.on("connection", (stream) => {
    streams.add(stream);
    stream.on("error", () => {});
    stream.once("data", (bytes) => {
      for (const each of reactionsTo(bytes.subarray(2), "tcp", null)) stream.write(each);
    });
  });
  return Object.assign(peer, {
    port,
    host,
    asked,
    closeTcp: () => closeTcp(tcp, streams),
    async close() {
      await closeUdp(udp);
      await closeTcp(tcp, streams);
    },
  });
}

/** A port that is free over UDP may be taken over TCP: then another one. */
async function bothOnOnePort(host: string): Promise<{ readonly udp: UdpSocket; readonly tcp: Server }> {
  for (;;) {
    const udp = createSocket(host.includes(":") ? "udp6" : "udp4");
    const port = await bind(udp, host);
    const tcp = createServer();
    const isListening = await new Promise<boolean>((resolve) => {
      tcp.once("error", () => resolve(false));
      tcp.listen(port, host, () => resolve(true));
    });
    if (isListening) return { udp, tcp };
    await closeUdp(udp);
  }
}

function closeUdp(socket: UdpSocket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}

function closeTcp(server: Server, streams: ReadonlySet<Socket>): Promise<void> {
  for (const stream of streams) stream.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}

export function a(name: string, data: string, ttl = 60): Answer {
  return { type: "A", name, data, ttl };
}

export function aaaa(name: string, data: string, ttl = 60): Answer {
  return { type: "AAAA", name, data, ttl };
}

export function cname(name: string, data: string, ttl = 60): Answer {
  return { type: "CNAME", name, data, ttl };
}

const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

/** A well-formed answer to what was asked, framed for TCP where it came that way. */
export function answer(
  asked: Asked,
  answers: readonly Answer[],
  changes: Partial<Packet> & { readonly rcode?: keyof typeof RCODES } = {},
): Uint8Array {
  const { rcode = "NOERROR", ...rest } = changes;
  const reply: Packet = {
    type: "response",
    id: asked.query.id ?? 0,
    flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | RCODES[rcode],
    questions: asked.query.questions ?? [],
    answers: [...answers],
    ...rest,
  };
  return asked.over === "tcp" ? packet.streamEncode(reply) : packet.encode(reply);
}

/** An answer cut short: the flag, and no records. */
export function truncated(asked: Asked): Uint8Array {
  return answer(asked, [], { flags: packet.TRUNCATED_RESPONSE | packet.RECURSION_DESIRED });
}

/** Answers from records by name and type; a name without any does not exist. */
export function zone(records: readonly Answer[]): (asked: Asked) => Uint8Array {
  return (asked) => {
    const ofName = records.filter((record) => record.name === asked.name);
    if (ofName.length === 0) return answer(asked, [], { rcode: "NXDOMAIN" });
    const chain: Answer[] = [];
    for (let name = asked.name, steps = 0; steps < 20; steps++) {
      const alias = records.find((record) => record.name === name && record.type === "CNAME");
      if (alias === undefined || alias.type !== "CNAME") {
        chain.push(...records.filter((record) => record.name === name && record.type === asked.type));
        break;
      }
      chain.push(alias);
      name = alias.data;
    }
    return answer(asked, chain);
  };
}
