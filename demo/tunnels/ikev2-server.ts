/** An IKEv2 gateway on a free port of loopback, for the demo and tests: everything on that port, with a host behind it and the faults a test asks for. */
import { createSocket } from "node:dgram";
import { bind } from "../loopback.ts";
import { echoHost } from "./host.ts";
import { Gateway, type GatewayBehavior } from "./ikev2-gateway.ts";
import { list } from "./kept.ts";

export interface ServerBehavior extends GatewayBehavior {
  /** Datagrams of ours that are not sent, counted from the first. */
  readonly lost?: number;
  /** What it sends instead of its nth answer, counted from 0; undefined: that answer. */
  readonly instead?: (nth: number, datagram: Buffer, request: Buffer) => readonly Buffer[] | undefined;
  /** Answers nothing from its nth answer on. */
  readonly deafFrom?: number;
  /** Takes packets and gives none back. */
  readonly isCut?: boolean;
}

export interface Ikev2Server {
  readonly port: number;
  readonly heard: readonly string[];
  readonly received: readonly Buffer[];
  close(): Promise<void>;
}

const MARKER = Buffer.alloc(4);

export async function openIkev2Server(manners: ServerBehavior): Promise<Ikev2Server> {
  const gateway = new Gateway(manners);
  const socket = createSocket("udp4");
  const received: Buffer[] = [];
  let answers = 0;
  let sent = 0;
  socket.on("message", (datagram, from) => {
    list(received, datagram);
    const say = (replies: readonly Buffer[]): void => {
      for (const reply of replies) if (++sent > (manners.lost ?? 0)) socket.send(reply, from.port, from.address);
    };
    gateway.onLate = (replies) => say(marked(replies, datagram));
    say(repliesTo(datagram));
  });

  function repliesTo(datagram: Buffer): readonly Buffer[] {
    if (!datagram.subarray(0, 4).equals(MARKER)) return packetsTo(datagram);
    return marked(gateway.answer(datagram.subarray(4)), datagram);
  }

  function marked(plain: readonly Buffer[], request: Buffer): readonly Buffer[] {
    const replies = plain.map((reply) => Buffer.concat([MARKER, reply]));
    if (replies.length === 0) return [];
    const nth = answers++;
    if (nth >= (manners.deafFrom ?? Number.POSITIVE_INFINITY)) return [];
    return replies.flatMap((reply) => manners.instead?.(nth, reply, request) ?? [reply]);
  }

  function packetsTo(datagram: Buffer): readonly Buffer[] {
    const packet = manners.isCut === true ? undefined : gateway.receiver?.open(datagram);
    const back = packet === undefined ? undefined : echoHost(packet);
    const esp = back === undefined ? undefined : gateway.sender?.seal(back);
    return esp === undefined ? [] : [esp];
  }

  const port = await bind(socket);
  return {
    port,
    heard: gateway.heard,
    received,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
