/**
 * Many TCP connects at once, each closed by reset as soon as it stands. Node spends most of a bare connect on its stream objects;
 * here it is six system calls and one map entry. The time is the kernel's own: the round trip of SYN and SYN-ACK (tcp(7), TCP_INFO), so it holds
 * however late our event loop looks.
 */
import {
  AF_INET,
  AF_INET6,
  ECONNRESET,
  EINPROGRESS,
  EINTR,
  EPIPE,
  EPOLLERR,
  EPOLLHUP,
  EPOLLOUT,
  type Libc,
  loadLibc,
  SO_ERROR,
  SO_LINGER,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  systemError,
  writeSockaddr,
} from "./libc.ts";
import { OwnedDescriptors } from "./owned-descriptors.ts";
import { openReadiness, type Readiness } from "./readiness.ts";

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

const EINVAL = 22;
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
  readonly #libc: Libc;
  readonly #readiness: Readiness;
  readonly #owned: OwnedDescriptors;
  readonly #pending = new Set<number>();
  readonly #sockaddr = Buffer.alloc(128);
  readonly #value = Buffer.alloc(128);
  readonly #valueBytes = Buffer.alloc(4);
  /** struct linger { on, 0 s }: close() resets, so nothing stays in TIME_WAIT. */
  readonly #linger = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

  constructor(libc: Libc, readiness: Readiness, owned: OwnedDescriptors) {
    this.#libc = libc;
    this.#readiness = readiness;
    this.#owned = owned;
  }

  get pending(): number {
    return this.#pending.size;
  }

  start(
    ip: string,
    family: 4 | 6,
    port: number,
    onConnected: (connectMs: number) => void,
    onFailed: (error: Error) => void,
  ): ConnectAttempt {
    const libc = this.#libc;
    // First, because a port that is none throws.
    const addressBytes = writeSockaddr(libc, this.#sockaddr, family, ip, port);
    const fd = libc.socket(family === 4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) throw systemError("socket", libc.errno(), { ip, port });
    libc.setsockopt(fd, SOL_SOCKET, SO_LINGER, this.#linger, this.#linger.length);
    const startedAt = performance.now();
    const errno = addressBytes === 0 ? EINVAL : this.#connect(fd, addressBytes);
    if (errno !== 0) {
      libc.close(fd);
      throw systemError("connect", errno, { ip, port });
    }
    let isOver = false;
    this.#watch(fd, (events) => {
      const observedMs = performance.now() - startedAt;
      const failure = (events & (EPOLLERR | EPOLLHUP)) === 0 ? 0 : this.#failureOf(fd);
      const connectMs = failure === 0 ? this.#handshakeMs(fd, observedMs) : 0;
      this.#end(fd);
      isOver = true;
      if (failure === 0) onConnected(connectMs);
      else onFailed(systemError("connect", failure, { ip, port }));
    });
    return {
      close: () => {
        if (!isOver) this.#end(fd);
        isOver = true;
      },
    };
  }

  close(): void {
    for (const fd of [...this.#pending]) this.#end(fd);
    this.#readiness.close();
  }

  /** @returns 0 when the connect is under way or done */
  #connect(fd: number, addressBytes: number): number {
    if (this.#libc.connect(fd, this.#sockaddr, addressBytes) === 0) return 0;
    const errno = this.#libc.errno();
    return errno === EINPROGRESS || errno === EINTR ? 0 : errno;
  }

  #watch(fd: number, onReady: (events: number) => void): void {
    try {
      this.#readiness.watch(fd, EPOLLOUT, onReady);
    } catch (error) {
      this.#libc.close(fd);
      throw error;
    }
    this.#owned.add(fd);
    this.#pending.add(fd);
    if (this.#pending.size === 1) this.#readiness.hold();
  }

  /** Once only for each connect: the number may belong to another one afterwards. */
  #end(fd: number): void {
    if (!this.#pending.delete(fd)) return;
    if (this.#pending.size === 0) this.#readiness.release();
    this.#readiness.forget(fd);
    this.#owned.remove(fd);
    this.#libc.close(fd);
  }

  #failureOf(fd: number): number {
    this.#valueBytes.writeInt32LE(4, 0);
    if (this.#libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, this.#value, this.#valueBytes) !== 0) return this.#libc.errno();
    const errno = this.#value.readInt32LE(0);
    // A reset while still connecting is ECONNREFUSED; these two say that it stood, and that the peer was faster than we looked.
    return errno === ECONNRESET || errno === EPIPE ? 0 : errno;
  }

  /** With a SYN sent twice the kernel's round trip leaves out the wait for the first, so then ours counts. */
  #handshakeMs(fd: number, observedMs: number): number {
    this.#valueBytes.writeInt32LE(TCP_INFO_BYTES, 0);
    const answer = this.#libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, this.#value, this.#valueBytes);
    if (answer !== 0 || this.#valueBytes.readInt32LE(0) < TCP_INFO_BYTES) return observedMs;
    const roundTripMs = this.#value.readUInt32LE(RTT_OFFSET) / 1000;
    const isFirstTry = this.#value.readUInt32LE(RETRANSMISSIONS_OFFSET) === 0;
    return isFirstTry && roundTripMs > 0 ? Math.min(roundTripMs, observedMs) : observedMs;
  }
}
