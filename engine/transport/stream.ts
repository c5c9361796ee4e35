/**
 * TCP and TLS. The hot path: one connection costs one promise, two socket listeners and one abort listener, which stays on
 * the check's signal and is never removed.
 */

import { X509Certificate } from "node:crypto";
import { connect as netConnect, type Socket } from "node:net";
import {
  type ConnectionOptions,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
  connect as tlsConnect,
} from "node:tls";
import { faultOfAbort, NetworkFault, whenAborted } from "../net/fault.ts";
import { ConnectRace, endpointOf, ourOwnWay } from "./connect-race.ts";
import { readLeafOnly } from "./leaf-only.ts";
import { FOREIGN_TLS, WATCHED_TLS } from "./tls-bounds.ts";
import type { Address, ConnectTime, DialContext } from "./transport.ts";
import { watchedCarrier } from "./watched-carrier.ts";

export function connectTcp(addresses: readonly Address[], port: number, context: DialContext): Promise<Socket> {
  const [first] = addresses;
  if (first === undefined) return Promise.reject(noAddress());
  if (addresses.length > 1) return connectFirst(addresses, port, context).then(({ socket }) => socket);
  return new Promise((resolve, reject) => {
    context.tried(endpointOf(first, port));
    const socket = open(first, port, context, (error) => reject(ourOwnWay(error, first)));
    socket.once("connect", () => resolve(socket));
  });
}

/** Connects, resets, and says how long the connect took; a reset leaves no TIME_WAIT on either side. */
export function connectTime(addresses: readonly Address[], port: number, context: DialContext): Promise<ConnectTime> {
  const [first] = addresses;
  if (first === undefined) return Promise.reject(noAddress());
  if (addresses.length > 1) {
    return connectFirst(addresses, port, context).then(({ socket, address, connectMs }) => {
      socket.resetAndDestroy();
      return { address, connectMs };
    });
  }
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    context.tried(endpointOf(first, port));
    const socket = open(first, port, context, (error) => reject(ourOwnWay(error, first)));
    socket.once("connect", () => {
      const connectMs = performance.now() - startedAt;
      socket.resetAndDestroy();
      resolve({ address: first, connectMs });
    });
  });
}

/**
 * Sockets that carry TLS by now. Such a one is only ever ended from above: destroying it under an established TLSSocket and then that
 * one too ends the process with a segmentation fault (Node 20.20).
 */
const secured = new WeakMap<Socket, TLSSocket>();

/** A connecting socket that ends with the check's signal, for as long as it lives. */
function open(address: Address, port: number, context: DialContext, failed: (error: Error) => void): Socket {
  const socket = netConnect({ host: address.ip, port });
  // Stays on: an error before the caller listens, or after it has stopped, must not be uncaught.
  socket.on("error", failed);
  whenAborted(context, (fault) => (secured.get(socket) ?? socket).destroy(fault));
  return socket;
}

interface Dialled extends ConnectTime {
  readonly socket: Socket;
}

/** The first of several addresses that connects. */
function connectFirst(addresses: readonly Address[], port: number, context: DialContext): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    new ConnectRace<Omit<Dialled, "address">>({
      addresses,
      port,
      context,
      attempt(address, connected, failed) {
        const startedAt = performance.now();
        const socket = open(address, port, context, failed);
        socket.once("connect", () => connected({ socket, connectMs: performance.now() - startedAt }));
        return { close: () => socket.destroy() };
      },
      resolve: (dialled, address) => resolve({ ...dialled, address }),
      reject,
    }).start();
  });
}

function noAddress(): NetworkFault {
  return new NetworkFault("unresolved", "No address to connect to");
}

/** What belongs to a SecureContext and not to one connection (docs, tls.createSecureContext). */
const CONTEXT_OPTIONS = [
  "secureContext",
  "ca",
  "cert",
  "key",
  "pfx",
  "minVersion",
  "maxVersion",
  "ciphers",
  "sigalgs",
  "ecdhCurve",
  "secureOptions",
] as const;

export interface TlsStarter {
  /**
   * TLS over a connected socket: no session resumption, certificate verified by the caller's options and SONDE_EXTRA_CA.
   * Ends with the signal like the socket below it.
   */
  start(socket: Socket, options: ConnectionOptions, context: DialContext): Promise<TLSSocket>;
  /** The same with key exchanges over a prime of the server's choice, up to a bound (key-exchange.ts). It costs more. */
  startWatched(socket: Socket, options: ConnectionOptions, context: DialContext): Promise<TLSSocket>;
}

/**
 * @throws Error when SONDE_EXTRA_CA holds no certificate
 * @param extraCaPem further roots, trusted beside the built-in ones; one parsed store serves every check
 */
export function createTlsStarter(extraCaPem: string | null): TlsStarter {
  const trust = extraCaPem === null ? {} : { ca: [...rootCertificates, certificateIn(extraCaPem)] };
  const ordinary = contextMaker({ ...FOREIGN_TLS, ...trust });
  const watched = contextMaker({ ...WATCHED_TLS, ...trust });
  // Parsing the roots takes about 10 ms: at the start where they are not Node's own, which it keeps parsed.
  if (extraCaPem !== null) ordinary({});

  function start(
    socket: Socket,
    options: ConnectionOptions,
    context: DialContext,
    isWatched: boolean,
  ): Promise<TLSSocket> {
    if (socket.destroyed) return Promise.reject(endOf(socket, context));
    // Nagle's algorithm would hold the first request back until our Finished is acknowledged.
    socket.setNoDelay(true);
    return handshake(socket, isWatched ? watched(options) : ordinary(options), context, isWatched);
  }
  return {
    start: (socket, options, context) => start(socket, options, context, false),
    startWatched: (socket, options, context) => start(socket, options, context, true),
  };
}

/** @returns for options of a connection the same with a context, shared where they have nothing of their own that belongs to one */
function contextMaker(roots: SecureContextOptions): (options: ConnectionOptions) => ConnectionOptions {
  let shared: SecureContext | undefined;
  return (options) => {
    // Node would ignore these beside a ready context, so a caller who sends one gets its own: 10 ms when that means parsing roots.
    if (CONTEXT_OPTIONS.some((name) => options[name] !== undefined)) return { ...roots, ...options };
    shared ??= createSecureContext(roots);
    return { ...options, secureContext: shared };
  };
}

/** Looked at because createSecureContext() passes over what is no certificate. */
function certificateIn(pem: string): string {
  try {
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new Error("SONDE_EXTRA_CA holds no certificate that can be read", { cause: error });
  }
}

/**
 * Until a handshake is over, in bytes: a chain has 100 KiB at most (OpenSSL, SSL_MAX_CERT_LIST_DEFAULT). It passes over messages such as HelloRequest
 * (RFC 5246 section 7.4.1.1) however many there are, so a server could keep the thread's processor busy until the check's deadline.
 */
const MOST_HANDSHAKE_BYTES = 512 * 1_024;
/** Between two looks at how many there are, ms: nearly every handshake ends before the first. */
const LOOK_MS = 100;

function handshake(
  socket: Socket,
  options: ConnectionOptions,
  context: DialContext,
  isWatched: boolean,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const isCarried = isWatched || context.turn !== undefined;
    const carrier = isCarried ? watchedCarrier(socket, (fault) => secure.destroy(fault), context.turn) : socket;
    // Without a `session` there is no resumption, so every check sees the certificate (a resumed session has none).
    const secure = tlsConnect({ ...options, socket: carrier });
    readLeafOnly(secure);
    secured.set(socket, secure);
    // Stays on, as in open().
    secure.on("error", (error) => {
      reject(isBareEnd(error) ? closedWithin() : error);
      secure.destroy();
    });
    let isOpen = false;
    const looks = setInterval(() => {
      if (socket.bytesRead > MOST_HANDSHAKE_BYTES) secure.destroy(endless());
    }, LOOK_MS);
    secure.once("close", () => {
      clearInterval(looks);
      if (!isOpen) reject(endOf(secure, context));
    });
    secure.once("secureConnect", () => {
      isOpen = true;
      clearInterval(looks);
      context.answered();
      resolve(secure);
    });
    // For sockets that did not come from open().
    whenAborted(context, (fault) => secure.destroy(fault));
  });
}

function endless(): NetworkFault {
  return new NetworkFault("protocol-error", "The server sends more than a TLS handshake has", { peerAnswered: true });
}

/** Why a socket is gone before the handshake was over. */
function endOf(socket: Socket, { signal }: DialContext): Error {
  if (signal.aborted) return faultOfAbort(signal);
  return socket.errored ?? closedWithin();
}

/** Node gives an end in the midst of a handshake the code of a reset, which always comes of a system call (lib/_tls_wrap.js, connResetException). */
function isBareEnd(error: Error): boolean {
  return "code" in error && error.code === "ECONNRESET" && !("syscall" in error);
}

function closedWithin(): NetworkFault {
  return new NetworkFault("closed", "The server closed the connection during the TLS handshake");
}
