/**
 * Connected sockets of one thread under epoll, from socket(2) to close(2). Each is watched by one Readiness and noted in OwnedDescriptors, so that
 * it is closed when the thread is terminated; the event loop is kept alive while one is open. A descriptor's number may belong to another socket
 * once it is closed, so a socket is ended once only.
 */
import { ByDescriptor } from "./by-descriptor.ts";
import {
  AF_INET,
  AF_INET6,
  EINPROGRESS,
  EINTR,
  type Libc,
  SO_ERROR,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOL_SOCKET,
  systemError,
  writeSockaddr,
} from "./libc.ts";
import type { OwnedDescriptors } from "./owned-descriptors.ts";
import type { Readiness } from "./readiness.ts";

/** Linux errno: Invalid argument. */
const EINVAL = 22;
/** sockaddr_storage, and the largest value that getsockopt(2) is asked for. */
const BUFFER_BYTES = 128;

export interface SocketKind {
  /** SOCK_STREAM or SOCK_DGRAM. */
  readonly type: number;
  /** Set at SOL_SOCKET before connecting. */
  readonly option: { readonly name: number; readonly value: Buffer };
}

/** What ends with the whole. */
export interface ConnectedSocket {
  close(): void;
}

export class ConnectedSockets<Socket extends ConnectedSocket> {
  readonly libc: Libc;
  readonly #readiness: Readiness;
  readonly #owned: OwnedDescriptors;
  readonly #open = new ByDescriptor<Socket>();
  /** For the calls of one turn: sockaddr, a value of getsockopt(2) and its length. */
  readonly sockaddr = Buffer.alloc(BUFFER_BYTES);
  readonly #value = Buffer.alloc(BUFFER_BYTES);
  readonly #valueBytes = Buffer.alloc(4);

  constructor(libc: Libc, readiness: Readiness, owned: OwnedDescriptors) {
    this.libc = libc;
    this.#readiness = readiness;
    this.#owned = owned;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * A socket whose connect is under way or done; not watched yet.
   * @throws the errno error of socket(2) or connect(2), a RangeError for a port that is none
   */
  connect({ type, option }: SocketKind, ip: string, family: 4 | 6, port: number): number {
    const libc = this.libc;
    // First, because a port that is none throws.
    const addressBytes = writeSockaddr(libc, this.sockaddr, family, ip, port);
    const fd = libc.socket(family === 4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) throw systemError("socket", libc.errno(), { ip, port });
    libc.setsockopt(fd, SOL_SOCKET, option.name, option.value, option.value.length);
    const errno = addressBytes === 0 ? EINVAL : this.#connect(fd, addressBytes);
    if (errno === 0) return fd;
    libc.close(fd);
    throw systemError("connect", errno, { ip, port });
  }

  /** @throws an errno error; the descriptor is closed then */
  watch(socket: Socket, fd: number, events: number, onReady: (events: number) => void): void {
    try {
      this.#readiness.watch(fd, events, onReady);
    } catch (error) {
      this.libc.close(fd);
      throw error;
    }
    this.#owned.add(fd);
    this.#open.set(fd, socket);
    if (this.#open.size === 1) this.#readiness.hold();
  }

  /** Closes the descriptor; does nothing for a socket that has ended. */
  end(socket: Socket, fd: number): void {
    // The number may be another socket's by now.
    if (this.#open.get(fd) !== socket) return;
    this.#open.take(fd);
    if (this.#open.size === 0) this.#readiness.release();
    this.#readiness.forget(fd);
    this.#owned.remove(fd);
    this.libc.close(fd);
  }

  /** Closes every socket and the Readiness. */
  close(): void {
    for (const socket of this.#open.values()) socket.close();
    this.#readiness.close();
  }

  /** The errno that the socket failed with, 0 for none; reading it clears it. */
  failureOf(fd: number): number {
    const value = this.option(fd, SOL_SOCKET, SO_ERROR, 4);
    return value === undefined ? this.libc.errno() : value.readInt32LE(0);
  }

  /** @returns memory that the next call uses again; undefined when the kernel does not give that many bytes */
  option(fd: number, level: number, name: number, sizeBytes: number): Buffer | undefined {
    this.#valueBytes.writeInt32LE(sizeBytes, 0);
    if (this.libc.getsockopt(fd, level, name, this.#value, this.#valueBytes) !== 0) return undefined;
    return this.#valueBytes.readInt32LE(0) < sizeBytes ? undefined : this.#value;
  }

  /** @returns 0 when the connect is under way or done. An interrupted connect goes on (connect(2), EINTR). */
  #connect(fd: number, addressBytes: number): number {
    if (this.libc.connect(fd, this.sockaddr, addressBytes) === 0) return 0;
    const errno = this.libc.errno();
    return errno === EINPROGRESS || errno === EINTR ? 0 : errno;
  }
}
