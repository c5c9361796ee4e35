/**
 * The connection of an exchange: a native stream to a core's local port, which costs half of a socket of Node's, or such a socket
 * where there is no native one, and to endpoints that are asked directly.
 */
import { connect, type Socket } from "node:net";
import type { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { openTcpStreams, type TcpStream, type TcpStreamListener } from "../../native/tcp-stream.ts";
import { createNativeWay } from "../transport/native-way.ts";

/** Reports everything to the listener, also what the machine refuses at once; never before it has returned. */
export type OpenLine = (listener: TcpStreamListener) => TcpStream;

export interface LocalLines {
  /** To an IPv4 address of this machine, which no guard has to judge. */
  to(host: string, port: number): OpenLine;
  close(): void;
}

const CLOSED: TcpStream = { send: () => {}, close: () => {} };

/** @param owned where open descriptors are registered, so that they can be closed when this thread is terminated */
export function createLocalLines(owned?: OwnedDescriptors): LocalLines {
  const way = createNativeWay(() => openTcpStreams(owned));
  return {
    to: (host, port) => (listener) => {
      const native = way.take();
      if (native === null) return overSocket(connect({ host, port }), listener);
      try {
        return native.open(host, 4, port, listener);
      } catch (error) {
        queueMicrotask(() => listener.onFailed(error instanceof Error ? error : new Error(String(error))));
        return CLOSED;
      }
    },
    close: way.close,
  };
}

/** Over a socket that is connected or connecting, and from here on the line's own. */
export function lineOver(socket: Socket): OpenLine {
  return (listener) => overSocket(socket, listener);
}

function overSocket(socket: Socket, listener: TcpStreamListener): TcpStream {
  let isOver = false;
  const unlessOver = (act: () => void): void => {
    if (!isOver) act();
  };
  socket.setNoDelay(true);
  socket.on("data", (bytes: Buffer) => unlessOver(() => listener.onBytes(bytes)));
  socket.on("end", () => unlessOver(() => listener.onEnd()));
  // Stays on: what comes after the end must not be uncaught.
  socket.on("error", (error) => {
    if (isOver) return;
    isOver = true;
    listener.onFailed(error);
  });
  socket.on("close", () => unlessOver(() => listener.onEnd()));
  if (socket.connecting) socket.once("connect", () => unlessOver(() => listener.onConnected()));
  else queueMicrotask(() => unlessOver(() => listener.onConnected()));
  return {
    send: (bytes) => void socket.write(bytes),
    close() {
      isOver = true;
      // By reset: a core lets go of it at once, and nothing is left in TIME_WAIT.
      socket.resetAndDestroy();
    },
  };
}
