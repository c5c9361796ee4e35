/**
 * Transport: the only way for a probe to send. It resolves every name, the guard judges the resolved address, and exactly that
 * address is dialled (docs/decisions/0004-address-guard.md).
 *
 * Faults are thrown as NetworkFault; only engine/net/classify.ts maps them, and Node's own errors, to verdicts.
 * The probe calls phase() and answered(); the transport calls answered() for a TLS handshake and a ping's reply, and tried() before each dial.
 */
import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { Phase } from "../../model/result.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";
import type { Turn } from "./handshake-gate.ts";

export type IpFamily = 4 | 6;

/** `both`: IPv4 and IPv6, in the order the resolver's answers allow; the first that connects wins (RFC 8305 in spirit). */
export type IpPreference = "ipv4" | "ipv6" | "both";

export interface Address {
  readonly ip: string;
  readonly family: IpFamily;
}

/** What a dial needs of the check it belongs to: of one check, because what listens for its end is never taken off. */
export interface DialContext {
  /** Aborts at the check's deadline. */
  readonly signal: AbortSignal;
  /** Calls once when the signal would abort, at once when it has: where it is there it spares a check the making of a signal, 6 µs. */
  readonly onAbort?: ((listener: (fault: Error) => void) => void) | undefined;
  /** Who waits for the connection shares the thread with others who do not: what the server sends during TLS is read when it is called back. Absent: at once. */
  readonly turn?: Turn | undefined;
  /** Ends the running phase and starts the next. */
  phase(name: Phase): void;
  /** Remembers what a failure will be explained with; called with each address before it is dialled. */
  tried(address: string): void;
  /** The target has sent something: a later timeout means that it is slow, not that it is unreachable. */
  answered(): void;
}

export interface Transport {
  /**
   * Addresses of a name or a literal, judged by the guard; at least one.
   * @param port the port that will be dialled, because SONDE_ALLOW_NETS opens ports, not only networks; 0 for ping
   * @throws NetworkFault `unresolved` (no such name, no answer), `misconfigured` (only refused addresses, with the address and why)
   */
  resolve(host: string, port: number, preference: IpPreference, context: DialContext): Promise<readonly Address[]>;

  /**
   * For what is dialled by another program, which may take any port of a range (hysteria2's hops): every one of them is judged.
   * @param ip as resolve() gave it. @param to included. @throws NetworkFault `misconfigured`, with the address and why
   */
  judgePorts(ip: string, from: number, to: number): void;

  /**
   * A fresh TCP connection to one of the addresses, tried in turn; the fast path of every stream probe. Phase `connect` is the caller's.
   * The socket is destroyed with the fault when the signal aborts, for as long as it lives; an `error` before the caller listens is not lost
   * (`socket.errored`), and never uncaught.
   */
  connectTcp(addresses: readonly Address[], port: number, context: DialContext): Promise<Socket>;

  /**
   * One request on a fresh connection to one of the addresses, tried as connectTcp() does, and its answer for as long as the reader wants it; then
   * closed by reset, which leaves no TIME_WAIT on either side. What a plain website check needs and nothing more. Phase `connect` is the caller's.
   */
  exchangeTcp(
    addresses: readonly Address[],
    port: number,
    request: Uint8Array,
    reader: AnswerReader,
    context: DialContext,
  ): Promise<void>;

  /**
   * connectTcp() and TLS over it: no session resumption, certificate verified by the caller's options and SONDE_EXTRA_CA. It begins phase
   * `handshake`; phase `connect` is the caller's. A server that answers the hello with the alert handshake_failure is connected to once more, in
   * both phases, unless the options have a context of their own. Ends with the signal.
   */
  connectTls(
    addresses: readonly Address[],
    port: number,
    options: ConnectionOptions,
    context: DialContext,
  ): Promise<TLSSocket>;

  /**
   * TLS over a connection of connectTcp(), after both sides have agreed on it in the clear (STARTTLS); options as for connectTls(). It begins
   * phase `handshake`. The caller has read everything that came in the clear: what is left is taken for TLS, and ends the
   * handshake. The socket is closed when it fails.
   */
  startTls(socket: Socket, options: ConnectionOptions, context: DialContext): Promise<TLSSocket>;

  /**
   * Connects and closes (by reset), and says how long the connect took: what the port probe needs and nothing more.
   * @returns milliseconds with a fraction
   */
  connectTime(addresses: readonly Address[], port: number, context: DialContext): Promise<ConnectTime>;

  /**
   * One datagram out, the first accepted datagram back, over a connected socket with a random source port.
   * @param accept returns undefined for a datagram that does not answer ours; it is dropped and waiting goes on
   */
  exchangeUdp<Reply>(
    address: Address,
    port: number,
    datagram: Uint8Array,
    accept: (datagram: Uint8Array) => Reply | undefined,
    context: DialContext,
    options?: UdpOptions,
  ): Promise<Reply>;

  /**
   * Datagrams to and from one address over a connected socket of its own, with a random source port, until it is closed or the check ends.
   * @throws NetworkFault `unfit` when this checker has too many open
   */
  openDatagrams(address: Address, port: number, listener: DatagramListener, context: DialContext): DatagramLink;

  /**
   * Calls back once after the delay; data that arrived before is read first. The caller must cancel it when the check ends.
   * @returns cancels it
   */
  after(delayMs: number, callback: () => void): () => void;

  /** Echo requests to one address; see icmp.ts for how (datagram socket, raw socket, system ping). */
  ping(address: Address, options: PingOptions, context: DialContext): Promise<PingReport>;

  /** SONDE_EXTRA_CA, for protocols that verify certificates without TLS; null: none. */
  readonly extraCaPem: string | null;
  /** What tunnels are asked to reach, as the operator says (SONDE_TUNNEL_TARGETS). */
  readonly tunnelTargets: readonly QuestionTarget[];
  /** An anonymous caller asks for the check (POST /check/public): nothing may be sent that a server has not asked for. */
  readonly isAnonymous: boolean;
}

export interface DatagramListener {
  /** @param atMs when it arrived by the kernel's clock, or else was read from the socket, monotonic ms */
  received(datagram: Uint8Array, atMs: number): void;
  /** The socket is closed: what the network said (refused, unreachable), or a peer that floods. */
  failed(error: Error): void;
}

export interface DatagramLink {
  /** Never throws; does nothing after close. The listener gets errors of the network. */
  send(datagram: Uint8Array): void;
  /** The address that it sends from; null before it is connected, and once it is closed. */
  localIp(): string | null;
  close(): void;
}

/** Who asked; what these throw ends the exchange with it. */
export interface AnswerReader {
  /** The connection stands, and the request is sent next. */
  connected(): void;
  /**
   * @param bytes valid during the call only
   * @returns whether that is enough
   */
  push(bytes: Buffer): boolean;
  /** The peer has ended before it was enough. @returns what is wrong with that; null when it completes the answer */
  end(): Error | null;
}

export interface UdpOptions {
  /** When to send it again, ms after the first time, rising. */
  readonly resendAfterMs?: readonly number[];
  /** Asked before each resend; false ends the exchange as a time-out. */
  readonly isWanted?: () => boolean;
}

export interface ConnectTime {
  readonly address: Address;
  readonly connectMs: number;
}

export interface PingOptions {
  readonly count: number;
  /** Gap between two echo requests, ms. */
  readonly spacingMs: number;
  /** How long each waits for its answer, ms. */
  readonly replyTimeoutMs: number;
}

export interface PingReport {
  readonly sent: number;
  /** Round trips of the answers, ms with a fraction; empty when none came. */
  readonly roundTripsMs: readonly number[];
  readonly method: "icmp-datagram" | "icmp-raw" | "system-ping";
}
