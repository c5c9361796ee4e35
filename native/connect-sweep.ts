/**
 * Many TCP connects at once, each closed by reset as soon as it stands. Node spends most of a bare connect on its stream objects;
 * here it is six system calls and one map entry. The time is the kernel's own: the round trip of SYN and SYN-ACK (tcp(7), TCP_INFO), so it holds
 * however late our event loop looks.
 */
import { ConnectedSockets } from "./connected-sockets.ts";
import { ECONNRESET, EPIPE, EPOLLERR, EPOLLHUP, EPOLLOUT, type Libc, loadLibc, systemError } from "./libc.ts";
import { OwnedDescriptors } from "./owned-descriptors.ts";
import { openReadiness, type Readiness } from "./readiness.ts";
import { RESET_STREAM } from "./tcp-stream.ts";

/** One connect under way. */
export interface ConnectAttempt {
  /** Neither listener is called any more. */
  close(): void;
}

export interface ConnectSweep {
  /**
   * @param onConnected ms with a fraction; the connection is closed already
   * @param onFailed an error with Node's code (`ECONNREFUSED`), its syscall, address and port
   * @throws the same errors when the machine refuses at once, a RangeError for a port that is none
   */
  start(
    ip: string,
    family: 4 | 6,
    port: number,
    onConnected: (connectMs: number) => void,
    onFailed: (error: Error) => void,
  ): ConnectAttempt;
  readonly pending: number;
  close(): void;
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** Of struct tcp_info (linux/tcp.h): the smoothed round trip, µs, and retransmissions so far. */
const TCP_INFO_BYTES = 104;
const RTT_OFFSET = 68;
const RETRANSMISSIONS_OFFSET = 100;

/**
 * Null where there is no native way; the twin is connectTime() of engine/transport/stream.ts.
 * @param owned the sockets to close when this thread is terminated
 */
export async function openConnectSweep(owned = new OwnedDescriptors()): Promise<ConnectSweep | null> {
  const libc = loadLibc();
  const readiness = libc === null ? null : await openReadiness(libc);
  return libc === null || readiness === null ? null : new EpollSweep(libc, readiness, owned);
}

class EpollSweep implements ConnectSweep {
  readonly #sockets: ConnectedSockets<ConnectAttempt>;

  constructor(libc: Libc, readiness: Readiness, owned: OwnedDescriptors) {
    this.#sockets = new ConnectedSockets(libc, readiness, owned);
  }

  get pending(): number {
    return this.#sockets.size;
  }

  start(
    ip: string,
    family: 4 | 6,
    port: number,
    onConnected: (connectMs: number) => void,
    onFailed: (error: Error) => void,
  ): ConnectAttempt {
    const startedAt = performance.now();
    const fd = this.#sockets.connect(RESET_STREAM, ip, family, port);
    const attempt: ConnectAttempt = { close: () => this.#sockets.end(attempt, fd) };
    this.#sockets.watch(attempt, fd, EPOLLOUT, (events) => {
      const observedMs = performance.now() - startedAt;
      const failure = (events & (EPOLLERR | EPOLLHUP)) === 0 ? 0 : this.#failureOf(fd);
      const connectMs = failure === 0 ? this.#handshakeMs(fd, observedMs) : 0;
      attempt.close();
      if (failure === 0) onConnected(connectMs);
      else onFailed(systemError("connect", failure, { ip, port }));
    });
    return attempt;
  }

  close(): void {
    this.#sockets.close();
  }

  /** A reset while still connecting is ECONNREFUSED; these two say that it stood, and that the peer was faster than we looked. */
  #failureOf(fd: number): number {
    const errno = this.#sockets.failureOf(fd);
    return errno === ECONNRESET || errno === EPIPE ? 0 : errno;
  }

  /** With a SYN sent twice the kernel's round trip leaves out the wait for the first, so then ours counts. */
  #handshakeMs(fd: number, observedMs: number): number {
    const info = this.#sockets.option(fd, IPPROTO_TCP, TCP_INFO, TCP_INFO_BYTES);
    if (info === undefined) return observedMs;
    const roundTripMs = info.readUInt32LE(RTT_OFFSET) / 1000;
    const isFirstTry = info.readUInt32LE(RETRANSMISSIONS_OFFSET) === 0;
    return isFirstTry && roundTripMs > 0 ? Math.min(roundTripMs, observedMs) : observedMs;
  }
}
