/** A TCP connection that checks the server's side of a TLS handshake before OpenSSL reads it. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { NetworkFault } from "../net/fault.ts";
import { KeyExchangeWatch } from "./key-exchange.ts";

/**
 * @param ended called when the connection breaks or the watch refuses it: the owner of the TLSSocket ends TLS, which ends the carrier.
 *   To destroy a carrier under an established TLSSocket ends the process (stream.ts)
 * @returns what tls.connect() takes as its socket; it ends the connection when it is destroyed
 */
export function watchedCarrier(socket: Socket, ended: (fault: Error | undefined) => void): Duplex {
  const watch = new KeyExchangeWatch();
  let isRefused = false;
  let hasEnded = false;
  const carrier = new Duplex({
    // TLS takes this over from its carrier: it ends when the server has.
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write(bytes: Buffer, _encoding, done) {
      // Errors of the connection are reported by the socket below.
      if (socket.writable) socket.write(bytes, () => done());
      else done();
    },
    final(done) {
      socket.end();
      done();
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  // What it means comes from above.
  carrier.on("error", () => {});
  socket.on("data", (bytes: Buffer) => {
    if (isRefused) return;
    const words = watch.push(bytes);
    if (words !== null) {
      isRefused = true;
      ended(new NetworkFault("handshake-failed", words, { peerAnswered: true }));
    } else if (!carrier.push(bytes)) socket.pause();
  });
  socket.once("end", () => {
    hasEnded = true;
    carrier.push(null);
  });
  socket.once("close", () => {
    // After an orderly end TLS still reads what is underway.
    if (!hasEnded) ended(socket.errored ?? undefined);
  });
  return carrier;
}
