/** One request and its answer over Node's sockets: the portable twin of native-exchange.ts, and the only one for TLS. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { NetworkFault } from "../net/fault.ts";
import { connectTcp } from "./stream.ts";
import type { Address, AnswerReader, DialContext } from "./transport.ts";

export function exchangeTcp(
  addresses: readonly Address[],
  port: number,
  request: Uint8Array,
  reader: AnswerReader,
  context: DialContext,
): Promise<void> {
  return connectTcp(addresses, port, context).then((socket) => exchangeOver(socket, request, reader));
}

/**
 * @param socket from the transport, which ends it with an error when the check's signal aborts: no listener of our own is needed
 */
export function exchangeOver(socket: Socket, request: Uint8Array, reader: AnswerReader): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;

    function settle(error: unknown): void {
      // The listeners stay: a flag costs less than taking them off.
      settled = true;
      if (error === null) resolve();
      else reject(error);
      discard(socket);
    }
    function onData(bytes: Buffer): void {
      if (settled) return;
      try {
        if (reader.push(bytes)) settle(null);
      } catch (error) {
        settle(error);
      }
    }
    function onEnd(): void {
      if (!settled) settle(reader.end());
    }
    function onClose(): void {
      if (!settled) settle(socket.errored ?? reader.end() ?? new NetworkFault("closed", "The connection was closed"));
    }

    if (socket.destroyed) return onClose();
    socket.on("data", onData);
    socket.on("end", onEnd);
    // Stays: a reset may be reported after we are done, and an error without a listener ends the process.
    socket.on("error", reject);
    socket.on("close", onClose);
    reader.connected();
    socket.write(request);
  });
}

/**
 * By reset where that can be: it leaves no TIME_WAIT on either side. Node cannot reset through TLS.
 * The mark is what resetAndDestroy() sets (lib/net.js), but that first waits for a shutdown, which a reset undoes anyway.
 */
function discard(socket: Socket & { resetAndClosing?: boolean }): void {
  if (!(socket instanceof TLSSocket)) socket.resetAndClosing = true;
  socket.destroy();
}
