/**
 * Connected UDP sockets, many at once: one peer each, so that only its datagrams arrive and its ICMP errors too. Node spends ten times
 * the system calls' cost on a socket that lives for four datagrams; here it is socket, connect, one setsockopt and epoll_ctl, and a call for
 * each datagram sent and for each batch received. Times of arrival are the kernel's, so they are right however late our event loop is.
 */
import { ConnectedSockets, type SocketKind } from "./connected-sockets.ts";
import { DatagramBatch } from "./datagram-batch.ts";
import {
  AF_INET,
  AF_INET6,
  EAGAIN,
  EINTR,
  EPOLLIN,
  type Libc,
  loadLibc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SO_TIMESTAMPNS,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCKADDR_BYTES,
  SOL_SOCKET,
  systemError,
} from "./libc.ts";
import { OwnedDescriptors } from "./owned-descriptors.ts";
import { openReadiness, type Readiness } from "./readiness.ts";

export interface DatagramSocket {
  /** Goes out at once. What the network or this machine says against it comes to the listener, never from within this call. */
  send(bytes: Uint8Array): void;
  /** The address that it sends from. */
  localIp(): string | null;
  /** The listener is not called any more. May be called from within its calls, and again. */
  close(): void;
}

/** What happens to a socket. Nothing that these throw is caught here. */
export interface DatagramSocketListener {
  /** @param bytes valid during the call only; @param ageMs how long ago it arrived */
  onDatagram(bytes: Uint8Array, ageMs: number): void;
  /** It is closed. @param error with Node's code (`ECONNREFUSED`), its syscall, address and port */
  onFailed(error: Error): void;
}

export interface DatagramSockets {
  /** @throws the errors of onFailed() when the machine refuses at once, a RangeError for a port that is none */
  open(ip: string, family: 4 | 6, port: number, listener: DatagramSocketListener): DatagramSocket;
  /** Sockets that are neither closed nor failed. */
  readonly size: number;
  /** Closes them all, and what they share. */
  close(): void;
}

/** With the time of arrival, by the kernel, beside each. */
const STAMPED_DATAGRAMS: SocketKind = {
  type: SOCK_DGRAM,
  option: { name: SO_TIMESTAMPNS, value: Buffer.from([1, 0, 0, 0]) },
};
/** Of Linux: text of an IPv6 address and a zero byte (INET6_ADDRSTRLEN). */
const ADDRESS_TEXT_BYTES = 46;

/**
 * Null where there is no native way; the twin is openNodeSocket() of engine/transport/datagram-link.ts.
 * @param owned the sockets to close when this thread is terminated
 */
export async function openDatagramSockets(owned = new OwnedDescriptors()): Promise<DatagramSockets | null> {
  const libc = loadLibc();
  const readiness = libc === null ? null : await openReadiness(libc);
  return libc === null || readiness === null ? null : new EpollSockets(libc, readiness, owned);
}

class EpollSockets implements DatagramSockets {
  readonly sockets: ConnectedSockets<EpollSocket>;
  readonly batch: DatagramBatch;
  readonly #owned: OwnedDescriptors;
  /** A socket that is never used, see the constructor; negative: there is none. */
  readonly #keeper: number;
  #isOpen = true;

  constructor(libc: Libc, readiness: Readiness, owned: OwnedDescriptors) {
    this.sockets = new ConnectedSockets(libc, readiness, owned);
    this.batch = new DatagramBatch(libc);
    this.#owned = owned;
    // The kernel stamps while any socket wants it, and switching that on and off patches its code: one socket wants it always.
    this.#keeper = libc.socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (this.#keeper < 0) return;
    owned.add(this.#keeper);
    const { name, value } = STAMPED_DATAGRAMS.option;
    libc.setsockopt(this.#keeper, SOL_SOCKET, name, value, value.length);
  }

  get size(): number {
    return this.sockets.size;
  }

  open(ip: string, family: 4 | 6, port: number, listener: DatagramSocketListener): DatagramSocket {
    const fd = this.sockets.connect(STAMPED_DATAGRAMS, ip, family, port);
    const socket = new EpollSocket(this, fd, family, listener);
    this.sockets.watch(socket, fd, EPOLLIN, socket.onReady);
    return socket;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.sockets.close();
    if (this.#keeper < 0) return;
    this.#owned.remove(this.#keeper);
    this.sockets.libc.close(this.#keeper);
  }

  localIp(fd: number, family: 4 | 6): string | null {
    const { libc, sockaddr } = this.sockets;
    const length = Buffer.alloc(4);
    length.writeInt32LE(SOCKADDR_BYTES, 0);
    if (libc.getsockname(fd, sockaddr, length) !== 0) return null;
    const text = Buffer.alloc(ADDRESS_TEXT_BYTES);
    const address = sockaddr.subarray(family === 4 ? 4 : 8);
    libc.inet_ntop(family === 4 ? AF_INET : AF_INET6, address, text, text.length);
    return text.toString("latin1", 0, text.indexOf(0));
  }
}

/** open ──▶ closed (by us, or failed) */
class EpollSocket implements DatagramSocket {
  readonly #group: EpollSockets;
  readonly #fd: number;
  readonly #family: 4 | 6;
  readonly #listener: DatagramSocketListener;
  #isOpen = true;

  constructor(sockets: EpollSockets, fd: number, family: 4 | 6, listener: DatagramSocketListener) {
    this.#group = sockets;
    this.#fd = fd;
    this.#family = family;
    this.#listener = listener;
  }

  /** One batch: epoll reports the rest again (level-triggered). */
  readonly onReady = (): void => {
    const { batch, sockets } = this.#group;
    const count = batch.receive(this.#fd);
    if (count < 0) {
      const errno = sockets.libc.errno();
      if (errno !== EAGAIN && errno !== EINTR) this.#fail("recvmsg", errno);
      return;
    }
    for (let index = 0; index < count; index++) {
      // Each is taken, also of a socket that its listener has closed, because all sockets share the memory.
      const ageMs = batch.takeAgeMs(index);
      if (this.#isOpen) this.#listener.onDatagram(batch.datagram(index), ageMs);
    }
  };

  send(bytes: Uint8Array): void {
    if (!this.#isOpen) return;
    const { libc } = this.#group.sockets;
    for (;;) {
      if (libc.send(this.#fd, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
      const errno = libc.errno();
      if (errno === EINTR) continue;
      queueMicrotask(() => this.#fail("send", errno));
      return;
    }
  }

  localIp(): string | null {
    return this.#isOpen ? this.#group.localIp(this.#fd, this.#family) : null;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#group.sockets.end(this, this.#fd);
  }

  #fail(syscall: "recvmsg" | "send", errno: number): void {
    if (!this.#isOpen) return;
    this.close();
    this.#listener.onFailed(systemError(syscall, errno));
  }
}
