/**
 * A TCP connection and TLS over it. The ordinary hello does not offer Diffie-Hellman over a prime of the server's choice (DHE, tls-bounds.ts), so
 * TLS 1.2 servers that support only DHE refuse it. Only after such a refusal a second connection offers DHE, and its handshake is watched.
 */
import type { Socket } from "node:net";
import { NetworkFault } from "../net/fault.ts";
import { connectTcp, createTlsStarter, type TlsStarter } from "./stream.ts";
import type { Transport } from "./transport.ts";

/** RFC 8446 section 6: the record's header, level and description. */
const ALERT_BYTES = 5 + 2;
/** Alert 40 by the names of OpenSSL 3.0, and of 3.2 and later (sslerr.h, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE). */
const HANDSHAKE_FAILURE = /^ERR_SSL_(?:SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE$/;

/** @throws Error when SONDE_EXTRA_CA holds no certificate */
export function createTlsConnector(extraCaPem: string | null): Pick<Transport, "connectTls" | "startTls"> {
  const starter = createTlsStarter(extraCaPem);
  return {
    connectTls: connectorOf(starter),
    async startTls(socket, options, context) {
      context.phase("handshake");
      try {
        // A second connection would have to repeat what was said in the clear, so this one offers DHE at once.
        return await starter.startWatched(socket, options, context);
      } catch (error) {
        socket.destroy();
        throw error;
      }
    },
  };
}

function connectorOf(starter: TlsStarter): Transport["connectTls"] {
  return async (addresses, port, options, context) => {
    const socket = await connectTcp(addresses, port, context);
    context.phase("handshake");
    let refusal: unknown;
    try {
      return await starter.start(socket, options, context);
    } catch (error) {
      // Before the socket is destroyed, which forgets it.
      const isRefused = refusesHello(error, socket);
      socket.destroy();
      if (!isRefused || options.secureContext !== undefined || context.signal.aborted) throw error;
      refusal = error;
    }
    context.phase("connect");
    let second: Socket | undefined;
    try {
      second = await connectTcp(addresses, port, context);
      context.phase("handshake");
      return await starter.startWatched(second, options, context);
    } catch (error) {
      second?.destroy();
      // A second connection that only breaks explains less than the refusal of the first.
      throw !context.signal.aborted && (second === undefined || isEnd(error)) ? refusal : error;
    }
  };
}

/** Whether the alert is all that the server ever said. Servers also send it later, for one when they want a client's certificate. */
function refusesHello(error: unknown, socket: Socket): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    HANDSHAKE_FAILURE.test(String(error.code)) &&
    socket.bytesRead === ALERT_BYTES
  );
}

/** Of a connection; Node has ECONNRESET without a system call for an end in the midst of the handshake. */
function isEnd(error: unknown): boolean {
  if (error instanceof NetworkFault) return error.verdict === "closed";
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || "syscall" in error);
}
