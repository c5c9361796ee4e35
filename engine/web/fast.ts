/** HTTP/1.1 on the bare socket with our own reader: what nearly every check takes, and what its cost depends on. */
import type { Socket } from "node:net";
import type { Hop } from "../protocols/http/hop.ts";
import { type Missing, type ResponseListener, ResponseReader } from "../protocols/http/response.ts";
import { HttpSyntaxError } from "../protocols/http/syntax-error.ts";
import { faultOfAbort, NetworkFault } from "../transport/fault.ts";
import type { DialContext } from "../transport/transport.ts";

const MISSING: Readonly<Record<Missing, string>> = {
  answer: "The server closed the connection without an answer",
  headers: "The server closed the connection in the middle of the headers",
  body: "The server closed the connection before the body was complete",
};

export function exchangeFast(
  socket: Socket,
  hop: Hop,
  listener: ResponseListener,
  context: DialContext,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { signal } = context;
    const reader = new ResponseReader(listener);
    let heard = false;

    function settle(error?: unknown): void {
      socket.off("data", onData);
      socket.off("end", onEnd);
      socket.off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      // A reset leaves no TIME_WAIT on either side. TLS sockets and sockets already gone take the plain way.
      socket.resetAndDestroy();
      if (error === undefined) resolve();
      else reject(error);
    }
    function onData(bytes: Buffer): void {
      if (!heard) {
        heard = true;
        context.answered();
      }
      try {
        if (reader.push(bytes)) settle();
      } catch (error) {
        settle(error instanceof HttpSyntaxError ? notHttp(error) : error);
      }
    }
    function onEnd(): void {
      const missing = reader.end();
      settle(missing === null ? undefined : new NetworkFault("closed", MISSING[missing]));
    }
    function onAbort(): void {
      settle(faultOfAbort(signal));
    }
    function onError(error: Error): void {
      settle(error);
    }
    function onClose(): void {
      settle(new NetworkFault("closed", MISSING.answer));
    }

    socket.on("data", onData);
    socket.on("end", onEnd);
    // Stays: a reset may be reported after we are done, and an error without a listener ends the process.
    socket.on("error", onError);
    socket.on("close", onClose);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    context.phase("request");
    socket.write(hop.request);
  });
}

export function notHttp(error: HttpSyntaxError): NetworkFault {
  return new NetworkFault("protocol-error", `The answer is not valid HTTP: ${error.message}`);
}
