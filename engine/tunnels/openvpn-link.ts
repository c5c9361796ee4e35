/** The way of OpenVPN's packets to one server: datagrams, or a stream with lengths in it. */
import type { Socket } from "node:net";
import type { ProbeContext } from "../probe.ts";
import { encodeFrame, FrameReader } from "../protocols/openvpn/packet.ts";
import { NetworkFault } from "../transport/fault.ts";
import type { Address } from "../transport/transport.ts";

/** A check sees some 10 kB of a server; beyond this it is drowning us. */
const MOST_RECEIVED_BYTES = 8 * 1024 * 1024;

export interface Link {
  readonly isStream: boolean;
  send(packet: Uint8Array): void;
  close(): void;
}

export interface LinkListener {
  received(packet: Buffer, atMs: number): void;
  /** The link is closed. */
  failed(error: Error): void;
}

export function openDatagramLink(address: Address, port: number, listener: LinkListener, context: ProbeContext): Link {
  const link = context.transport.openDatagrams(
    address,
    port,
    {
      received: (datagram, atMs) =>
        listener.received(Buffer.from(datagram.buffer, datagram.byteOffset, datagram.byteLength), atMs),
      failed: (error) => listener.failed(error),
    },
    context,
  );
  return { isStream: false, send: (packet) => link.send(packet), close: () => link.close() };
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
    if (received > MOST_RECEIVED_BYTES) {
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
