/** HTTP/1.1 on the bare socket with our own reader: what nearly every check takes, and what its cost depends on. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Hop } from "../protocols/http/hop.ts";
import { type Missing, type ResponseListener, ResponseReader } from "../protocols/http/response.ts";
import { HttpSyntaxError } from "../protocols/http/syntax-error.ts";
import { NetworkFault } from "../transport/fault.ts";
import type { DialContext } from "../transport/transport.ts";

const MISSING: Readonly<Record<Missing, string>> = {
  answer: "The server closed the connection without an answer",
  headers: "The server closed the connection in the middle of the headers",
  body: "The server closed the connection before the body was complete",
};

/**
 * @param socket from the transport, which ends it with an error when the check's signal aborts: no listener of our own is needed
 */
export function exchangeFast(
  socket: Socket,
  hop: Hop,
  listener: ResponseListener,
  context: DialContext,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader = new ResponseReader(listener);
    let heard = false;
    let settled = false;

    function settle(error?: unknown): void {
      // The listeners stay: a flag costs less than taking them off.
      settled = true;
      if (error === undefined) resolve();
      else reject(error);
      discard(socket);
    }
    function onData(bytes: Buffer): void {
      if (!heard) {
        heard = true;
        context.answered();
      }
      if (settled) return;
      try {
        if (reader.push(bytes)) settle();
      } catch (error) {
        settle(error instanceof HttpSyntaxError ? notHttp(error) : error);
      }
    }
    function onEnd(): void {
      if (settled) return;
      const missing = reader.end();
      settle(missing === null ? undefined : new NetworkFault("closed", MISSING[missing]));
    }
    function onClose(): void {
      if (settled) return;
      settle(socket.errored ?? new NetworkFault("closed", MISSING.answer));
    }

    if (socket.destroyed) return onClose();
    socket.on("data", onData);
    socket.on("end", onEnd);
    // Stays: a reset may be reported after we are done, and an error without a listener ends the process.
    socket.on("error", reject);
    socket.on("close", onClose);
    context.phase("request");
    socket.write(hop.request);
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

function notHttp(error: HttpSyntaxError): NetworkFault {
  return new NetworkFault("protocol-error", `The answer is not valid HTTP: ${error.message}`);
}
