/**
 * ICMP sockets: unprivileged datagram sockets (Linux `net.ipv4.ping_group_range`), else raw ones (CAP_NET_RAW). One carries many
 * echoes; what they mean is the caller's. Times are the kernel's: its clock just before sending, its timestamp of arrival.
 *
 * On a datagram socket the kernel sets identifier and checksum and gives only replies to it; ICMP errors wait in the socket's error queue (ip(7),
 * IP_RECVERR). A raw socket receives all of the host's ICMP, filtered here by type; IPv4 comes with its IP header.
 */
import {
  AF_INET,
  AF_INET6,
  CLOCK_REALTIME,
  EAGAIN,
  EINTR,
  EPOLLIN,
  type Libc,
  MSG_DONTWAIT,
  MSG_ERRQUEUE,
  SO_RCVBUF,
  SO_TIMESTAMPNS,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCK_RAW,
  SOL_SOCKET,
  systemError,
  writeSockaddr,
} from "./libc.ts";
import type { Readiness } from "./readiness.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";

export type IcmpSocketKind = "datagram" | "raw";

export interface IcmpListener {
  /** @param message from the ICMP header on, or from the IP header on a raw IPv4 socket; valid during the call only */
  onMessage(message: Uint8Array, arrivedAtNs: bigint): void;
  /** An error about a packet of ours. @param quoted our packet from its ICMP header on, as far as it came back */
  onError(errno: number, quoted: Uint8Array, destination: Uint8Array): void;
}

export interface IcmpSocket {
  readonly kind: IcmpSocketKind;
  readonly family: 4 | 6;
  /** @returns the kernel's clock just before, ns since 1970. @throws an errno error */
  send(message: Uint8Array, ip: string): bigint;
  close(): void;
}

const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
const SOL_IP = 0;
const SOL_IPV6 = 41;
const SOL_RAW = 255;
const IP_RECVERR = 11;
const IPV6_RECVERR = 25;
/** linux/icmp.h, linux/icmpv6.h: a set bit is a type that is not wanted. */
const ICMP_FILTER = 1;
const ICMPV6_FILTER = 1;
const ICMPV6_FILTER_BYTES = 32;
/** Echo reply, unreachable, time exceeded, parameter problem. */
const WANTED_ICMP = [0, 3, 11, 12];
const WANTED_ICMPV6 = [129, 1, 2, 3, 4];

/** Answers to thousands of echoes that were sent in one burst; the kernel caps it at net.core.rmem_max. */
const RECEIVE_BUFFER_BYTES = 1_048_576;
/** Messages read in one turn of the event loop. */
const MESSAGES_PER_TURN = 512;
/** Errors that Linux's ICMP handlers put upon a socket (net/ipv4/icmp.c, net/ipv6/icmp.c): they may be another packet's. */
const QUEUED_ERRORS = new Set([13, 71, 90, 92, 101, 111, 112, 113]);
/** How often a send is repeated that only reported another packet's error. */
const RETRIES_AFTER_QUEUED = 4;

/** @throws an errno error: EACCES or EPERM where it is not permitted, EAFNOSUPPORT without the family */
export function openIcmpSocket(
  libc: Libc,
  readiness: Readiness,
  kind: IcmpSocketKind,
  family: 4 | 6,
  listener: IcmpListener,
): IcmpSocket {
  const domain = family === 4 ? AF_INET : AF_INET6;
  const protocol = family === 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
  const type = (kind === "datagram" ? SOCK_DGRAM : SOCK_RAW) | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const fd = libc.socket(domain, type, protocol);
  if (fd < 0) throw systemError("socket", libc.errno());
  try {
    return new EpollIcmpSocket(libc, readiness, kind, family, listener, fd);
  } catch (error) {
    libc.close(fd);
    throw error;
  }
}

class EpollIcmpSocket implements IcmpSocket {
  readonly kind: IcmpSocketKind;
  readonly family: 4 | 6;
  readonly #libc: Libc;
  readonly #readiness: Readiness;
  readonly #listener: IcmpListener;
  readonly #fd: number;
  readonly #received: ReceiveBuffer;
  readonly #sockaddr = Buffer.alloc(128);
  readonly #timespec = Buffer.alloc(16);
  #isOpen = true;

  constructor(
    libc: Libc,
    readiness: Readiness,
    kind: IcmpSocketKind,
    family: 4 | 6,
    listener: IcmpListener,
    fd: number,
  ) {
    this.#libc = libc;
    this.#readiness = readiness;
    this.kind = kind;
    this.family = family;
    this.#listener = listener;
    this.#fd = fd;
    this.#received = new ReceiveBuffer(libc);
    this.#prepare();
    readiness.watch(fd, EPOLLIN, () => this.#read());
  }

  send(message: Uint8Array, ip: string): bigint {
    // A raw IPv6 socket takes the port for the protocol (net/ipv6/raw.c); zero means its own.
    const addressBytes = writeSockaddr(this.#libc, this.#sockaddr, this.family, ip, 0);
    for (let attempt = 0; ; attempt++) {
      const sentAtNs = this.#nowNs();
      const sent = this.#libc.sendto(this.#fd, message, message.length, MSG_DONTWAIT, this.#sockaddr, addressBytes);
      if (sent >= 0) return sentAtNs;
      const errno = this.#libc.errno();
      if (errno === EINTR) continue;
      const isAnothers = QUEUED_ERRORS.has(errno) && attempt < RETRIES_AFTER_QUEUED && this.#readErrors() > 0;
      if (!isAnothers) throw systemError("sendto", errno, { ip });
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#readiness.unwatch(this.#fd);
    this.#libc.close(this.#fd);
  }

  #prepare(): void {
    this.#set(SOL_SOCKET, SO_TIMESTAMPNS, numberOption(1));
    this.#set(SOL_SOCKET, SO_RCVBUF, numberOption(RECEIVE_BUFFER_BYTES));
    if (this.kind === "datagram") {
      if (this.family === 4) this.#set(SOL_IP, IP_RECVERR, numberOption(1));
      else this.#set(SOL_IPV6, IPV6_RECVERR, numberOption(1));
    } else if (this.family === 4) this.#set(SOL_RAW, ICMP_FILTER, filterOf(WANTED_ICMP, 4));
    else this.#set(IPPROTO_ICMPV6, ICMPV6_FILTER, filterOf(WANTED_ICMPV6, ICMPV6_FILTER_BYTES));
  }

  /** None of them is vital: without timestamps our own clock counts, without filters we look at more messages. */
  #set(level: number, name: number, value: Buffer): void {
    this.#libc.setsockopt(this.#fd, level, name, value, value.length);
  }

  #read(): void {
    if (this.kind === "datagram") this.#readErrors();
    for (let count = 0; count < MESSAGES_PER_TURN && this.#isOpen; count++) {
      const message = this.#receive(0);
      if (message === undefined) return;
      this.#listener.onMessage(message, this.#received.arrivedAtNs() ?? this.#nowNs());
    }
  }

  /** @returns how many there were */
  #readErrors(): number {
    for (let count = 0; ; count++) {
      const quoted = count < MESSAGES_PER_TURN && this.#isOpen ? this.#receive(MSG_ERRQUEUE) : undefined;
      if (quoted === undefined) return count;
      const errno = this.#received.queuedErrno();
      if (errno !== undefined) this.#listener.onError(errno, quoted, this.#received.sender(this.family));
    }
  }

  #receive(flags: number): Uint8Array | undefined {
    for (let attempt = 0; attempt <= RETRIES_AFTER_QUEUED; attempt++) {
      const received = this.#libc.recvmsg(this.#fd, this.#received.header(), flags | MSG_DONTWAIT);
      if (received >= 0) return this.#received.message(received);
      // Anything else is an error about another packet: returned here once, and kept in the error queue.
      if (flags !== 0 || this.#libc.errno() === EAGAIN) return undefined;
    }
    return undefined;
  }

  #nowNs(): bigint {
    this.#libc.clock_gettime(CLOCK_REALTIME, this.#timespec);
    return this.#timespec.readBigInt64LE(0) * 1_000_000_000n + this.#timespec.readBigInt64LE(8);
  }
}

function numberOption(value: number): Buffer {
  const option = Buffer.alloc(4);
  option.writeInt32LE(value);
  return option;
}

function filterOf(wanted: readonly number[], sizeBytes: number): Buffer {
  const filter = Buffer.alloc(sizeBytes, 0xff);
  for (const type of wanted) filter[type >> 3] = (filter[type >> 3] ?? 0) & ~(1 << (type & 7));
  return filter;
}
