/**
 * Listening sockets by system calls, for connections of one request and one answer. The target shares the processors with the prober that is
 * measured: on Node's own sockets a request takes five times the processor time. The kernel reports a connection when its first bytes
 * are there (TCP_DEFER_ACCEPT of tcp(7)), so one connection is four calls: accept4, recv, send, close.
 */
import { createRequire } from "node:module";
import {
  AF_INET,
  EPOLLIN,
  type Libc,
  loadLibc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOCKADDR_BYTES,
  systemError,
  writeSockaddr,
} from "../../native/libc.ts";
import { openReadiness, type Readiness } from "../../native/readiness.ts";

/**
 * @param connection to answer(), once
 * @param request its first bytes, valid during the call only
 */
export type OnRequest = (connection: number, request: Buffer) => void;

/** Values of Linux's headers (netinet/in.h, netinet/tcp.h). */
const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;
/** How long the kernel waits for the first bytes, s. */
const DEFER_S = 5;
const BACKLOG = 4_096;
const REQUEST_BYTES = 65_536;
/** Connections of one address before the others have their turn. */
const ACCEPTS_PER_TURN = 64;

interface ServerCalls {
  bind(fd: number, address: Uint8Array, addressBytes: number): number;
  listen(fd: number, backlog: number): number;
  accept4(fd: number, address: null, addressBytes: null, flags: number): number;
}

function loadServerCalls(): ServerCalls {
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  return {
    bind: library.func("int bind(int, uint8_t *, int)"),
    listen: library.func("int listen(int, int)"),
    accept4: library.func("int accept4(int, void *, void *, int)"),
  };
}

export class NativeListener {
  readonly #libc: Libc;
  readonly #calls = loadServerCalls();
  readonly #readiness: Readiness;
  readonly #onRequest: OnRequest;
  readonly #request = Buffer.allocUnsafeSlow(REQUEST_BYTES);

  private constructor(libc: Libc, readiness: Readiness, onRequest: OnRequest) {
    this.#libc = libc;
    this.#readiness = readiness;
    this.#onRequest = onRequest;
  }

  /** It keeps the process alive. Null where there is no native way. */
  static async open(onRequest: OnRequest): Promise<NativeListener | null> {
    const libc = loadLibc();
    const readiness = libc === null ? null : await openReadiness(libc);
    if (libc === null || readiness === null) return null;
    readiness.hold();
    return new NativeListener(libc, readiness, onRequest);
  }

  /**
   * @param host an IPv4 address
   * @param port 0: a free one
   * @returns the port
   * @throws an errno error
   */
  listen(host: string, port: number): number {
    const address = Buffer.alloc(SOCKADDR_BYTES);
    const addressBytes = writeSockaddr(this.#libc, address, 4, host, port);
    const fd = this.#libc.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    this.#demand("socket", fd);
    this.#demand("setsockopt", this.#libc.setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, int32(DEFER_S), 4));
    this.#demand("bind", this.#calls.bind(fd, address, addressBytes));
    this.#demand("listen", this.#calls.listen(fd, BACKLOG));
    this.#demand("getsockname", this.#libc.getsockname(fd, address, int32(address.length)));
    this.#readiness.watch(fd, EPOLLIN, () => this.#accept(fd));
    return address.readUInt16BE(2);
  }

  /** Sends and closes. A peer that has gone meanwhile is none of our business. */
  answer(connection: number, bytes: Buffer): void {
    this.#libc.send(connection, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    this.#libc.close(connection);
  }

  #accept(fd: number): void {
    for (let accepts = 0; accepts < ACCEPTS_PER_TURN; accepts++) {
      const connection = this.#calls.accept4(fd, null, null, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (connection < 0) return;
      const length = this.#libc.recv(connection, this.#request, REQUEST_BYTES, MSG_DONTWAIT);
      if (length > 0) this.#onRequest(connection, this.#request.subarray(0, length));
      else this.#libc.close(connection);
    }
  }

  #demand(syscall: string, result: number): void {
    if (result < 0) throw systemError(syscall, this.#libc.errno());
  }
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
