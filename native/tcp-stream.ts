/**
 * TCP connections that live for one question and its answer, many at once. Node spends two thirds of such a connection on its stream
 * objects; here it is eight system calls, edge-triggered, so that a descriptor is added to epoll once. Always closed by reset: nothing stays in
 * TIME_WAIT on either side, whatever the end was.
 */
import { ConnectedSockets, type SocketKind } from "./connected-sockets.ts";
import {
  EAGAIN,
  EINTR,
  EPOLLERR,
  EPOLLET,
  EPOLLHUP,
  EPOLLIN,
  EPOLLOUT,
  EPOLLRDHUP,
  type Libc,
  loadLibc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SO_LINGER,
  SOCK_STREAM,
  systemError,
} from "./libc.ts";
import { OwnedDescriptors } from "./owned-descriptors.ts";
import { openReadiness, type Readiness } from "./readiness.ts";

/** One connection, from the attempt on. */
export interface TcpStream {
  /** Once it stands. What the kernel does not take at once is kept and sent when it does. */
  send(bytes: Uint8Array): void;
  /** By reset; the listener is not called any more. May be called from within its calls, and again. */
  close(): void;
}

/** What happens to a connection. Nothing that these throw is caught here. */
export interface TcpStreamListener {
  onConnected(): void;
  /** @param bytes valid during the call only: the next connection's come into the same memory */
  onBytes(bytes: Buffer): void;
  /** The peer will send no more; the connection stays open for close(). */
  onEnd(): void;
  /** It is closed. @param error with Node's code (`ECONNREFUSED`), its syscall, address and port */
  onFailed(error: Error): void;
}

export interface TcpStreams {
  /** @throws the errors of onFailed() when the machine refuses at once, a RangeError for a port that is none */
  open(ip: string, family: 4 | 6, port: number, listener: TcpStreamListener): TcpStream;
  /** Connections that are neither closed nor failed. */
  readonly size: number;
  /** Closes them all, and what they share. */
  close(): void;
}

/** Taken from the kernel at once: as much as Node reads at a time. */
const RECEIVE_BYTES = 65_536;
/** Reads of one connection before the others get their turn: what a body may be long (1 MiB), and its head. */
const READS_PER_TURN = 17;
/** struct linger { on, 0 s }: close() resets, so nothing stays in TIME_WAIT. */
export const RESET_STREAM: SocketKind = {
  type: SOCK_STREAM,
  option: { name: SO_LINGER, value: Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]) },
};
const INTEREST = (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) >>> 0;

/**
 * Null where there is no native way; the twin is exchangeTcp() of engine/transport/exchange.ts.
 * @param owned the sockets to close when this thread is terminated
 */
export async function openTcpStreams(owned = new OwnedDescriptors()): Promise<TcpStreams | null> {
  const libc = loadLibc();
  const readiness = libc === null ? null : await openReadiness(libc);
  return libc === null || readiness === null ? null : new EpollStreams(libc, readiness, owned);
}

class EpollStreams implements TcpStreams {
  readonly sockets: ConnectedSockets<EpollStream>;
  /** Shared by all connections: received bytes are here only while their listener is called. */
  readonly received = Buffer.allocUnsafeSlow(RECEIVE_BYTES);

  constructor(libc: Libc, readiness: Readiness, owned: OwnedDescriptors) {
    this.sockets = new ConnectedSockets(libc, readiness, owned);
  }

  get size(): number {
    return this.sockets.size;
  }

  open(ip: string, family: 4 | 6, port: number, listener: TcpStreamListener): TcpStream {
    const fd = this.sockets.connect(RESET_STREAM, ip, family, port);
    const stream = new EpollStream(this, fd, ip, port, listener);
    this.sockets.watch(stream, fd, INTEREST, stream.onReady);
    return stream;
  }

  close(): void {
    this.sockets.close();
  }
}

/** connecting ──▶ connected ──▶ closed (by us, or failed) */
class EpollStream implements TcpStream {
  readonly #streams: EpollStreams;
  readonly #fd: number;
  readonly #ip: string;
  readonly #port: number;
  readonly #listener: TcpStreamListener;
  #state: "connecting" | "connected" | "closed" = "connecting";
  /** Not yet taken by the kernel. */
  #unsent: Uint8Array | null = null;
  /** What sending failed with: told once everything is read that the peer said before it closed. */
  #sendErrno = 0;
  #hasEnded = false;

  constructor(streams: EpollStreams, fd: number, ip: string, port: number, listener: TcpStreamListener) {
    this.#streams = streams;
    this.#fd = fd;
    this.#ip = ip;
    this.#port = port;
    this.#listener = listener;
  }

  readonly onReady = (events: number): void => {
    if (this.#state === "connecting") {
      const failure = (events & (EPOLLERR | EPOLLHUP)) === 0 ? 0 : this.#streams.sockets.failureOf(this.#fd);
      if (failure !== 0) {
        this.#fail("connect", failure);
        return;
      }
      if ((events & EPOLLOUT) === 0) return;
      this.#state = "connected";
      this.#listener.onConnected();
    } else if (this.#unsent !== null && (events & EPOLLOUT) !== 0) {
      const unsent = this.#unsent;
      this.#unsent = null;
      this.send(unsent);
    }
    // An event without IN brings nothing new: edge-triggered, each comes with all that is true by then.
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) !== 0) this.#read(events);
  };

  send(bytes: Uint8Array): void {
    if (this.#state !== "connected" || this.#sendErrno !== 0) return;
    if (this.#unsent !== null) {
      this.#unsent = Buffer.concat([this.#unsent, bytes]);
      return;
    }
    const { libc } = this.#streams.sockets;
    for (let rest = bytes; ; ) {
      const sent = libc.send(this.#fd, rest, rest.length, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent === rest.length) return;
      if (sent >= 0) {
        rest = rest.subarray(sent);
        continue;
      }
      const errno = libc.errno();
      if (errno === EINTR) continue;
      if (errno === EAGAIN) this.#unsent = rest;
      else {
        // A server may answer before it has read the whole question, and close: its answer is still here.
        this.#sendErrno = errno;
        setImmediate(() => this.#read(EPOLLERR));
      }
      return;
    }
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#unsent = null;
    this.#streams.sockets.end(this, this.#fd);
  }

  /** Until there is no more for now. A read that was not full was the last, unless the peer is known to have ended. */
  #read(events: number): void {
    const { received, sockets } = this.#streams;
    const { libc } = sockets;
    const isEnding = (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) !== 0;
    for (let reads = 0; reads < READS_PER_TURN; reads++) {
      if (this.#state !== "connected" || this.#hasEnded) return;
      const length = libc.recv(this.#fd, received, RECEIVE_BYTES, MSG_DONTWAIT);
      if (length < 0) {
        const errno = libc.errno();
        if (errno === EINTR) continue;
        if (this.#sendErrno !== 0) this.#fail("write", this.#sendErrno);
        else if (errno !== EAGAIN) this.#fail("read", errno);
        return;
      }
      if (length === 0 && this.#sendErrno !== 0) {
        this.#fail("write", this.#sendErrno);
        return;
      }
      if (length === 0) {
        this.#hasEnded = true;
        this.#listener.onEnd();
        return;
      }
      this.#listener.onBytes(received.subarray(0, length));
      if (length < RECEIVE_BYTES && !isEnding) return;
    }
    // Edge-triggered: the kernel would not report what is left.
    setImmediate(() => this.#read(events));
  }

  #fail(syscall: "connect" | "read" | "write", errno: number): void {
    this.close();
    const where = syscall === "connect" ? { ip: this.#ip, port: this.#port } : {};
    this.#listener.onFailed(systemError(syscall, errno, where));
  }
}
