/** TLS inside another protocol's packets (OpenVPN): records go in and out as bytes, without a socket. */
import { Duplex } from "node:stream";
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from "node:tls";
import { NetworkFault } from "../net/fault.ts";
import { KeyExchangeWatch } from "./key-exchange.ts";
import { readLeafOnly } from "./leaf-only.ts";

export interface TlsListener {
  /** Records for the peer. */
  send(records: Buffer): void;
  /** The handshake is over; the certificate is the listener's to judge. */
  secured(socket: TLSSocket): void;
  received(bytes: Buffer): void;
  /** A broken handshake, an alert, or the peer's end. Once; nothing comes after it. */
  failed(error: Error): void;
}

export interface TlsWithin {
  /** Records of the peer, in their order. */
  receive(records: Buffer): void;
  write(bytes: Buffer): void;
  close(): void;
}

/**
 * A client that takes any certificate: chains are judged by `TLSSocket.authorizationError`.
 * @param options with a context of WATCHED_TLS (tls-bounds.ts)
 */
export function openTlsWithin(options: ConnectionOptions, listener: TlsListener): TlsWithin {
  let isOpen = true;
  const watch = new KeyExchangeWatch();
  const carrier = new Duplex({
    read() {},
    write(records: Buffer, _encoding, done) {
      if (isOpen) listener.send(records);
      done();
    },
  });
  // A destroyed carrier says so here as well; what it means comes from above.
  carrier.on("error", () => {});
  // No name is sent (OpenVPN sends none), and without one Node would judge the certificate by `localhost`.
  const secure = tlsConnect({
    ...options,
    socket: carrier,
    servername: "",
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  readLeafOnly(secure);
  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    // From above only: to destroy what carries an established TLSSocket, and then that one, ends the process (stream.ts).
    secure.destroy();
  }
  function fail(error: Error): void {
    if (!isOpen) return;
    close();
    listener.failed(error);
  }
  secure.on("error", fail);
  secure.on("secureConnect", () => {
    if (isOpen) listener.secured(secure);
  });
  secure.on("data", (bytes: Buffer) => {
    if (isOpen) listener.received(bytes);
  });
  secure.on("end", () => fail(new Error("the peer has ended TLS")));
  return {
    receive(records) {
      if (!isOpen) return;
      const words = watch.push(records);
      if (words === null) carrier.push(records);
      else fail(new NetworkFault("handshake-failed", words, { peerAnswered: true }));
    },
    write(bytes) {
      if (isOpen) secure.write(bytes);
    },
    close,
  };
}
