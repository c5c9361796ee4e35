/** A TCP connection that checks the server's side of a TLS handshake before OpenSSL reads it. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { NetworkFault } from "../net/fault.ts";
import { HandshakeGate, type Turn } from "./handshake-gate.ts";
import { KeyExchangeWatch } from "./key-exchange.ts";

/**
 * @param turn when what the server sends during the handshake may be read; absent: at once
 * @param ended called when the connection breaks or the watch refuses it: the owner of the TLSSocket ends TLS, which ends the carrier.
 *   To destroy a carrier under an established TLSSocket ends the process (stream.ts)
 * @returns what tls.connect() takes as its socket; it ends the connection when it is destroyed
 */
export function watchedCarrier(
  socket: Socket,
  ended: (fault: Error | undefined) => void,
  turn?: Turn | undefined,
): Duplex {
  const gate = new HandshakeGate(turn, pass);
  const watch = new KeyExchangeWatch();
  let isRefused = false;
  let hasEnded = false;
  const carrier = new Duplex({
    // TLS takes this over from its carrier: it ends when the server has.
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write(bytes: Buffer, _encoding, done) {
      gate.sent(bytes);
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
      // A library that listens here, too, hears first from TLS why it has ended.
      if (turn === undefined) done(error);
      else setImmediate(done, error);
    },
  });
  // What it means comes from above.
  carrier.on("error", () => {});
  function pass(bytes: Buffer): void {
    if (!isRefused && !carrier.destroyed && !carrier.push(bytes)) socket.pause();
  }
  socket.on("data", (bytes: Buffer) => {
    if (isRefused) return;
    const words = watch.push(bytes);
    const fault =
      words === null ? gate.heard(bytes) : new NetworkFault("handshake-failed", words, { peerAnswered: true });
    if (fault === null) return;
    isRefused = true;
    ended(fault);
  });
  socket.once("end", () => {
    hasEnded = true;
    gate.afterwards(() => {
      if (!carrier.destroyed) carrier.push(null);
    });
  });
  socket.once("close", () => {
    // After an orderly end TLS still reads what is underway.
    if (!hasEnded) gate.afterwards(() => ended(socket.errored ?? undefined));
  });
  return carrier;
}
