/** One DNS question over an open stream, for when the answer over UDP was truncated (RFC 7766). */
import type { Socket } from "node:net";
import { NetworkFault } from "../net/fault.ts";
import { FrameReader, frame } from "../protocols/dns/framing.ts";
import { DnsFormatError, decodeReply, type Query, type Reply } from "../protocols/dns/message.ts";

/** Settles with the stream: when time is up, its opener destroys it with a fault, and this function throws that fault. */
export function askOverStream(socket: Socket, query: Query): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const reader = new FrameReader();
    let isDone = false;

    function settle(error: unknown, reply?: Reply): void {
      if (isDone) return;
      isDone = true;
      socket.destroy();
      if (reply === undefined) reject(error);
      else resolve(reply);
    }
    function onData(chunk: Uint8Array): void {
      try {
        const message = reader.push(chunk);
        if (message === undefined) return;
        const reply = decodeReply(message, query);
        // On a stream only the server can have sent it, so there is no other reply to wait for.
        if (reply?.truncated === true) settle(nonsense("it is cut short there too"));
        else settle(nonsense("its answer is not to our question"), reply);
      } catch (error) {
        settle(error instanceof DnsFormatError ? nonsense(error.message) : error);
      }
    }

    socket.on("data", onData);
    socket.on("error", settle);
    socket.on("close", () =>
      settle(new NetworkFault("closed", "The DNS server closed the connection without an answer")),
    );
    if (socket.destroyed) settle(socket.errored ?? new NetworkFault("closed", "The DNS server closed the connection"));
    else socket.write(frame(query.bytes));
  });
}

/** @param reason what DnsFormatError says, or a clause like it */
function nonsense(reason: string): NetworkFault {
  return new NetworkFault("protocol-error", `The answer is not valid DNS: ${reason}`, { peerAnswered: true });
}
