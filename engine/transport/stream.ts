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
import { faultOfAbort, NetworkFault, whenAborted } from "./fault.ts";
import { readLeafOnly } from "./leaf-only.ts";
import { localAddresses } from "./local-addresses.ts";
import { FOREIGN_TLS, WATCHED_TLS } from "./tls-bounds.ts";
import type { Address, ConnectTime, DialContext } from "./transport.ts";
import { watchedCarrier } from "./watched-carrier.ts";

/** RFC 8305 section 5, "Connection Attempt Delay". */
export const ATTEMPT_DELAY_MS = 250;
/** More addresses of one name are not tried in one check. */
export const ATTEMPT_LIMIT = 8;

/** What connecting gives when this machine has no way to the address's family at all (connect(2)). */
const NO_ROUTE_CODES = new Set(["ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

export function connectTcp(addresses: readonly Address[], port: number, context: DialContext): Promise<Socket> {
  const [first] = addresses;
  if (first === undefined) return Promise.reject(noAddress());
  if (addresses.length > 1) return connectFirst(addresses, port, context).then(({ socket }) => socket);
  return new Promise((resolve, reject) => {
    const socket = open(first, port, context, reject);
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
    const socket = open(first, port, context, reject);
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
  context.tried(endpointOf(address, port));
  const socket = netConnect({ host: address.ip, port });
  // Stays on: an error before the caller listens, or after it has stopped, must not be uncaught.
  socket.on("error", (error) => failed(ourOwnWay(error, address)));
  whenAborted(context, (fault) => (secured.get(socket) ?? socket).destroy(fault));
  return socket;
}

interface Dialled extends ConnectTime {
  readonly socket: Socket;
}

/** One after the other, the next at once when one fails, else after the delay; the first that connects wins. */
function connectFirst(addresses: readonly Address[], port: number, context: DialContext): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    const waiting = addresses.slice(0, ATTEMPT_LIMIT);
    const running = new Set<Socket>();
    const faults: Error[] = [];
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;

    function failed(socket: Socket, error: Error): void {
      running.delete(socket);
      if (isOver) return;
      faults.push(error);
      if (waiting.length > 0 && !context.signal.aborted) attempt();
      else if (running.size === 0) {
        isOver = true;
        clearTimeout(timer);
        reject(faultOfAll(faults, context.signal));
      }
    }
    function won(socket: Socket, address: Address, connectMs: number): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      running.delete(socket);
      for (const loser of running) loser.destroy();
      // The explanation names the address that answered, not the last one tried.
      context.tried(endpointOf(address, port));
      resolve({ socket, address, connectMs });
    }
    function attempt(): void {
      clearTimeout(timer);
      const address = waiting.shift();
      if (address === undefined) return;
      const startedAt = performance.now();
      const socket = open(address, port, context, (error) => failed(socket, error));
      running.add(socket);
      socket.once("connect", () => won(socket, address, performance.now() - startedAt));
      if (waiting.length > 0) timer = setTimeout(attempt, ATTEMPT_DELAY_MS);
    }
    attempt();
  });
}

function faultOfAll(faults: readonly Error[], signal: AbortSignal): Error {
  if (signal.aborted) return faultOfAbort(signal);
  const [only] = faults;
  return faults.length === 1 && only !== undefined
    ? only
    : new AggregateError(faults, "no address could be connected to");
}

function noAddress(): NetworkFault {
  return new NetworkFault("unresolved", "No address to connect to");
}

/** A machine without IPv6 proves nothing about an IPv6 target. */
export function ourOwnWay(error: Error, { family }: Address): Error {
  if (family === 4 || !("code" in error) || !NO_ROUTE_CODES.has(String(error.code)) || localAddresses().hasIpv6)
    return error;
  return new NetworkFault("unsupported", "This checker has no IPv6", { cause: error });
}

export function endpointOf({ ip, family }: Address, port: number): string {
  return family === 4 ? `${ip}:${port}` : `[${ip}]:${port}`;
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

function handshake(
  socket: Socket,
  options: ConnectionOptions,
  context: DialContext,
  isWatched: boolean,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const carrier = isWatched ? watchedCarrier(socket, (fault) => secure.destroy(fault)) : socket;
    // Without a `session` there is no resumption, so every check sees the certificate (a resumed session has none).
    const secure = tlsConnect({ ...options, socket: carrier });
    readLeafOnly(secure);
    secured.set(socket, secure);
    // Stays on, as in open().
    secure.on("error", (error) => {
      reject(error);
      secure.destroy();
    });
    let isOpen = false;
    secure.once("close", () => {
      if (!isOpen) reject(endOf(secure, context));
    });
    secure.once("secureConnect", () => {
      isOpen = true;
      context.answered();
      resolve(secure);
    });
    // For sockets that did not come from open().
    whenAborted(context, (fault) => secure.destroy(fault));
  });
}

/** Why a socket is gone before the handshake was over. */
function endOf(socket: Socket, { signal }: DialContext): Error {
  if (signal.aborted) return faultOfAbort(signal);
  return socket.errored ?? new NetworkFault("closed", "The server closed the connection during the TLS handshake");
}
