/** The way of OpenVPN's packets to one server: datagrams, or a stream with lengths in it. */
import type { Socket } from "node:net";
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import { encodeFrame, FrameReader } from "../protocols/openvpn/packet.ts";
import type { Address, DatagramLink } from "../transport/transport.ts";

/** A check sees some 10 kB of a server; beyond this it is drowning us. */
const MAX_RECEIVED_BYTES = 8 * 1024 * 1024;

export interface Link {
  readonly isStream: boolean;
  send(packet: Uint8Array): void;
  close(): void;
}

export interface LinkListener {
  /** @returns whether it is of this session */
  received(packet: Buffer, atMs: number): boolean;
  /** The link is closed. */
  failed(error: Error): void;
}

/**
 * Until the server's first answer each packet is sent from a new port: a server does not answer a port whose last session is still ending
 * (2.6 keeps one for 5 s after its farewell), and neither does a NAT that has dropped part of the old mapping.
 */
export function openDatagramLink(address: Address, port: number, listener: LinkListener, context: ProbeContext): Link {
  const ways: DatagramLink[] = [];
  /** `heard` is the link that the server has answered on, `current` the one whose packet is being processed. */
  let heard: DatagramLink | null = null;
  let current: DatagramLink | null = null;
  let isOpen = true;
  let isFresh = true;
  function open(): DatagramLink {
    const way: DatagramLink = context.transport.openDatagrams(
      address,
      port,
      {
        received(datagram, atMs) {
          if (heard !== null && heard !== way) return;
          const packet = Buffer.from(datagram.buffer, datagram.byteOffset, datagram.byteLength);
          // To a port that had a session before, packets of that one may come still.
          current = way;
          if (listener.received(packet, atMs)) settleOn(way);
          current = null;
        },
        failed(error) {
          if (heard === null || heard === way) listener.failed(error);
        },
      },
      context,
    );
    ways.push(way);
    return way;
  }
  function settleOn(way: DatagramLink): void {
    if (heard === way) return;
    heard = way;
    for (const other of ways) if (other !== way) other.close();
  }
  let last = open();
  return {
    isStream: false,
    send(packet) {
      if (!isOpen) return;
      const answered = heard ?? current;
      if (answered === null && !isFresh) last = openAnother() ?? last;
      isFresh = false;
      (answered ?? last).send(packet);
    },
    close() {
      isOpen = false;
      for (const way of ways) way.close();
    },
  };

  /** Without another socket the one that there is must do. */
  function openAnother(): DatagramLink | undefined {
    try {
      return open();
    } catch {
      return undefined;
    }
  }
}

/** @param socket connected */
export function openStreamLink(socket: Socket, listener: LinkListener, context: ProbeContext): Link {
  const reader = new FrameReader();
  let isOpen = true;
  let received = 0;
  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    socket.destroy();
  }
  function fail(error: Error): void {
    if (!isOpen) return;
    close();
    listener.failed(error);
  }
  socket.setNoDelay(true);
  socket.on("data", (piece: Buffer) => {
    const atMs = context.now();
    received += piece.length;
    if (received > MAX_RECEIVED_BYTES) {
      fail(new NetworkFault("protocol-error", "The server floods this checker"));
      return;
    }
    for (const packet of reader.push(piece)) if (isOpen) listener.received(packet, atMs);
  });
  socket.on("error", fail);
  socket.on("end", () => fail(closed()));
  socket.on("close", () => fail(closed()));
  return {
    isStream: true,
    send(packet) {
      if (isOpen) socket.write(encodeFrame(packet));
    },
    close,
  };
}

function closed(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}
