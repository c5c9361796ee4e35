/**
 * The C library's socket calls, by FFI, on 64-bit little-endian Linux. Nothing here judges: numbers in, numbers out.
 * Elsewhere, or where koffi does not load, there is none, and callers use their twins in Node's own modules.
 */
import { createRequire } from "node:module";
import { getSystemErrorName } from "node:util";

/** Values of Linux's headers on x86-64 and arm64 (bits/socket.h, sys/epoll.h, asm-generic/socket.h, linux/in.h, in6.h, icmp.h). */
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const SOCK_NONBLOCK = 0x800;
export const SOCK_CLOEXEC = 0x8_0000;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLLIN = 1;
export const EPOLLOUT = 4;
export const EPOLLERR = 8;
export const EPOLLHUP = 0x10;
export const EPOLLRDHUP = 0x2000;
export const EPOLLET = 0x8000_0000;
export const SOL_SOCKET = 1;
export const SO_ERROR = 4;
export const SO_RCVBUF = 8;
export const SO_LINGER = 13;
/** The kernel's time of arrival, as a control message of two 64-bit numbers. */
export const SO_TIMESTAMPNS = 35;
export const MSG_DONTWAIT = 0x40;
export const MSG_ERRQUEUE = 0x2000;
export const MSG_NOSIGNAL = 0x4000;
export const CLOCK_REALTIME = 0;
export const CLOCK_THREAD_CPUTIME_ID = 3;

/** errno(3) of Linux on the same machines. */
export const EINTR = 4;
export const EAGAIN = 11;
export const EPIPE = 32;
export const EINPROGRESS = 115;
export const ECONNRESET = 104;

/** struct epoll_event is packed on x86-64 only (sys/epoll.h). */
export const EPOLL_EVENT_BYTES = process.arch === "x64" ? 12 : 16;
export const EPOLL_DATA_OFFSET = EPOLL_EVENT_BYTES - 8;

/** sizeof(struct sockaddr_in6); an IPv4 address takes 16 of it. */
export const SOCKADDR_BYTES = 28;

/** Each returns what C returns: -1 means that errno() says why. */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  connect(fd: number, address: Uint8Array, addressBytes: number): number;
  close(fd: number): number;
  dup3(from: number, to: number, flags: number): number;
  getsockopt(fd: number, level: number, name: number, value: Uint8Array, valueBytes: Uint8Array): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array, valueBytes: number): number;
  sendto(
    fd: number,
    data: Uint8Array,
    dataBytes: number,
    flags: number,
    address: Uint8Array,
    addressBytes: number,
  ): number;
  send(fd: number, data: Uint8Array, dataBytes: number, flags: number): number;
  sendmsg(fd: number, header: Uint8Array, flags: number): number;
  recv(fd: number, data: Uint8Array, dataBytes: number, flags: number): number;
  recvmsg(fd: number, header: Uint8Array, flags: number): number;
  /** @param timeout always null: it waits for nothing */
  recvmmsg(fd: number, headers: Uint8Array, count: number, flags: number, timeout: null): number;
  /** @param pair two 32-bit numbers, filled */
  socketpair(domain: number, type: number, protocol: number, pair: Uint8Array): number;
  /** @param argument a structure, or a number where the request takes one */
  ioctl(fd: number, request: number, argument: Uint8Array | bigint): number;
  /** Copies from another process; both sides are arrays of struct iovec. @returns bytes */
  process_vm_readv(
    pid: number,
    local: Uint8Array,
    localCount: number,
    remote: Uint8Array,
    remoteCount: number,
    flags: number,
  ): number;
  getsockname(fd: number, address: Uint8Array, addressBytes: Uint8Array): number;
  epoll_create1(flags: number): number;
  epoll_ctl(epoll: number, operation: number, fd: number, event: Uint8Array): number;
  epoll_wait(epoll: number, events: Uint8Array, maxEvents: number, timeoutMs: number): number;
  eventfd(value: number, flags: number): number;
  inet_pton(family: number, text: string, bytes: Uint8Array): number;
  /** Writes text that ends in a zero byte. @returns 0 when there was no room */
  inet_ntop(family: number, bytes: Uint8Array, text: Uint8Array, textBytes: number): bigint | number;
  clock_gettime(clock: number, timespec: Uint8Array): number;
  /** Ends the process at once, whatever its threads do. */
  _exit(code: number): void;
  errno(): number;
  /** Where a buffer's bytes lie. Only for buffers of 128 bytes and more: V8 moves small ones. */
  addressOf(buffer: Uint8Array): bigint;
}

const SIGNATURES: Readonly<Record<Exclude<keyof Libc, "errno" | "addressOf">, string>> = {
  socket: "int socket(int, int, int)",
  connect: "int connect(int, uint8_t *, int)",
  close: "int close(int)",
  dup3: "int dup3(int, int, int)",
  getsockopt: "int getsockopt(int, int, int, uint8_t *, uint8_t *)",
  setsockopt: "int setsockopt(int, int, int, uint8_t *, int)",
  sendto: "int64_t sendto(int, uint8_t *, size_t, int, uint8_t *, int)",
  send: "int64_t send(int, uint8_t *, size_t, int)",
  sendmsg: "int64_t sendmsg(int, uint8_t *, int)",
  recv: "int64_t recv(int, uint8_t *, size_t, int)",
  recvmsg: "int64_t recvmsg(int, uint8_t *, int)",
  recvmmsg: "int recvmmsg(int, uint8_t *, unsigned int, int, void *)",
  socketpair: "int socketpair(int, int, int, uint8_t *)",
  ioctl: "int ioctl(int, unsigned long, uint8_t *)",
  process_vm_readv: "int64_t process_vm_readv(int, uint8_t *, unsigned long, uint8_t *, unsigned long, unsigned long)",
  getsockname: "int getsockname(int, uint8_t *, uint8_t *)",
  epoll_create1: "int epoll_create1(int)",
  epoll_ctl: "int epoll_ctl(int, int, int, uint8_t *)",
  epoll_wait: "int epoll_wait(int, uint8_t *, int, int)",
  eventfd: "int eventfd(unsigned int, int)",
  inet_pton: "int inet_pton(int, const char *, uint8_t *)",
  inet_ntop: "uintptr_t inet_ntop(int, uint8_t *, uint8_t *, unsigned int)",
  clock_gettime: "int clock_gettime(int, uint8_t *)",
  _exit: "void _exit(int)",
};

let loaded: Libc | null | undefined;

/** Null where there is none. */
export function loadLibc(): Libc | null {
  loaded ??= load();
  return loaded;
}

function load(): Libc | null {
  if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64")) return null;
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    // The process itself: Node is linked to glibc or musl, whichever is here.
    const library = koffi.load(null);
    const calls = Object.entries(SIGNATURES).map(([name, signature]) => [name, library.func(signature)]);
    return {
      ...(Object.fromEntries(calls) as Omit<Libc, "errno" | "addressOf">),
      errno: () => koffi.errno(),
      addressOf: (buffer) => koffi.address(buffer),
    };
  } catch {
    return null;
  }
}

/** A failed call as Node words its own. */
export function systemError(syscall: string, errno: number, where: { ip?: string; port?: number } = {}): Error {
  const code = codeOf(errno);
  const { ip, port } = where;
  const peer =
    ip === undefined ? "" : ` ${port === undefined ? ip : ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`}`;
  return Object.assign(new Error(`${syscall} ${code}${peer}`), {
    errno: -errno,
    code,
    syscall,
    ...(ip === undefined ? {} : { address: ip }),
    ...(port === undefined ? {} : { port }),
  });
}

/** `ECONNREFUSED` for 111. */
function codeOf(errno: number): string {
  return errno > 0 ? getSystemErrorName(-errno) : "EUNKNOWN";
}

/**
 * Writes a struct sockaddr_in or sockaddr_in6 (in.h, in6.h).
 * @param address at least SOCKADDR_BYTES, flow label and scope left zero
 * @returns its length; 0 when the text is no address of that family
 */
export function writeSockaddr(libc: Libc, address: Buffer, family: 4 | 6, ip: string, port: number): number {
  address.writeUInt16LE(family === 4 ? AF_INET : AF_INET6, 0);
  address.writeUInt16BE(port, 2);
  const isAddress = libc.inet_pton(family === 4 ? AF_INET : AF_INET6, ip, address.subarray(family === 4 ? 4 : 8)) === 1;
  return isAddress ? (family === 4 ? 16 : SOCKADDR_BYTES) : 0;
}
