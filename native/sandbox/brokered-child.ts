/** The calls of one child that is brokered (broker.ts): each is judged by the child's list, made in its place, and answered. Linux seccomp_unotify(2). */
import { fstatSync, readlinkSync } from "node:fs";
import {
  AF_INET,
  AF_INET6,
  type Libc,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCK_STREAM,
} from "../libc.ts";
import { needNumber } from "./calls.ts";
import type { ChildMemory } from "./child-memory.ts";
import type { Arch } from "./image.ts";
import { HEADER_BYTES, isHarmlessControl, MAX_DATA_BYTES, parseHeader, parseVector, type Range } from "./message.ts";
import {
  ADDFD_BYTES,
  NOTIF_ADDFD,
  NOTIF_ID_VALID,
  NOTIF_RECV,
  NOTIF_SEND,
  Notification,
  Numbers,
  RESPONSE_BYTES,
  writeAddFd,
  writeResponse,
} from "./notification.ts";
import {
  copyIpv4,
  IPV4_BYTES,
  IPV6_BYTES,
  isIpv4,
  type Peer,
  type Protocol,
  parseSockaddr,
  type TargetList,
  writePeer,
} from "./peer.ts";

export interface Refusal {
  readonly protocol: Protocol;
  /** null: an address of another family, or none. */
  readonly peer: Peer | null;
}

export interface BrokeredChildOptions {
  readonly libc: Libc;
  readonly arch: Arch;
  readonly memory: ChildMemory;
  readonly listener: number;
  readonly targets: TargetList;
  readonly onRefused: (refusal: Refusal) => void;
}

/** errno(3) */
const EPERM = 1;
const EBADF = 9;
const EACCES = 13;
const EFAULT = 14;
const EINVAL = 22;
const EMFILE = 24;
const ENOSYS = 38;
const EMSGSIZE = 90;
const EINPROGRESS = 115;

const SOCK_TYPE_MASK = 0xf;
/** struct sockaddr_storage: longer ones are refused by the kernel, too. */
const MAX_ADDRESS_BYTES = 128;
/** Sockets of datagrams of one child that we hold a descriptor of. */
const MAX_SOCKETS = 4_096;
/** From how many on we look which of them the child has closed. */
const FIRST_SWEEP = 64;

/** As the kernel has it: what the call returns, or below 0 the number of an error. */
type Answer = number;

interface DatagramSocket {
  /** Ours. */
  readonly fd: number;
  readonly inode: number;
  readonly isIpv6: boolean;
}

export class BrokeredChild {
  readonly listener: number;
  readonly #options: BrokeredChildOptions;
  readonly #notification = new Notification();
  readonly #response = new Numbers(RESPONSE_BYTES);
  readonly #addFd = new Numbers(ADDFD_BYTES);
  readonly #id = new Numbers(8);
  readonly #name = Buffer.alloc(IPV6_BYTES);
  /** struct sockaddr_in */
  readonly #ipv4Name = Buffer.alloc(IPV4_BYTES);
  /** By the child's number. */
  readonly #sockets = new Map<number, DatagramSocket>();
  readonly #calls: Readonly<Record<number, () => Answer>>;
  #sweepAt = FIRST_SWEEP;

  constructor(options: BrokeredChildOptions) {
    this.#options = options;
    this.listener = options.listener;
    const number = (name: Parameters<typeof needNumber>[1]): number => needNumber(options.arch, name);
    this.#calls = {
      [number("connect")]: () => this.#connect(),
      [number("socket")]: () => this.#socket(),
      [number("sendto")]: () => this.#sendTo(),
      [number("sendmsg")]: () => this.#sendMessage(),
    };
  }

  /** Called when a listener is ready; a call that was interrupted meanwhile has no notification. */
  answerNext(): void {
    const { libc } = this.#options;
    this.#notification.clear();
    if (libc.ioctl(this.listener, NOTIF_RECV, this.#notification.bytes) !== 0) return;
    const answer = this.#calls[this.#notification.call]?.() ?? -ENOSYS;
    // A child that is gone needs no answer.
    libc.ioctl(this.listener, NOTIF_SEND, writeResponse(this.#response, this.#notification, answer));
  }

  close(): void {
    const { libc } = this.#options;
    for (const { fd } of this.#sockets.values()) libc.close(fd);
    this.#sockets.clear();
    libc.close(this.listener);
  }

  /** connect(fd, address, length). For IPv4 no object is made on the way: each check needs a connection, and this thread makes all of them. */
  #connect(): Answer {
    const call = this.#notification;
    const { memory, targets } = this.#options;
    const fd = call.int(0);
    const bytes = call.int(2);
    if (bytes < 0 || bytes > MAX_ADDRESS_BYTES) return this.#refuse("tcp", null);
    if (!memory.readFirst(call.pid, call.int(1), call.high(1), bytes)) return -EFAULT;
    const address = memory.first;
    // Whether the child still waits is seen when it is given the socket.
    if (bytes >= IPV4_BYTES && isIpv4(address) && targets.hasIpv4(address, "tcp") && !targets.hasIpv4(address, "udp")) {
      copyIpv4(this.#ipv4Name, address);
      return this.#connectStream(fd, AF_INET, this.#ipv4Name, IPV4_BYTES);
    }
    return this.#connectTo(fd, parseSockaddr(address.subarray(0, bytes)));
  }

  #connectTo(fd: number, peer: Peer | null): Answer {
    const protocol = this.#protocolOf(peer, fd);
    if (peer === null || protocol === null) return this.#refuse("tcp", peer);
    if (protocol === "udp") return this.#isWaiting() ? this.#connectDatagrams(fd, peer) : -EFAULT;
    const isIpv6 = peer.ip.length === 16;
    const bytes = writePeer(this.#name, peer, isIpv6);
    return this.#connectStream(fd, isIpv6 ? AF_INET6 : AF_INET, this.#name, bytes);
  }

  /** Where one address and port is on the list for both, the socket says which is meant. */
  #protocolOf(peer: Peer | null, fd: number): Protocol | null {
    if (peer === null) return null;
    const { targets } = this.#options;
    const [isTcp, isUdp] = [targets.has(peer, "tcp"), targets.has(peer, "udp")];
    if (isTcp && isUdp) return this.#isOpen(fd) ? "udp" : "tcp";
    return isTcp ? "tcp" : isUdp ? "udp" : null;
  }

  #connectStream(newFd: number, family: number, name: Buffer, nameBytes: number): Answer {
    const { libc } = this.#options;
    const fd = libc.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -libc.errno();
    try {
      const errno = libc.connect(fd, name, nameBytes) === 0 ? 0 : libc.errno();
      if (errno !== 0 && errno !== EINPROGRESS) return -errno;
      // SOCK_CLOEXEC is O_CLOEXEC (socket(2)).
      const added = this.#give(fd, newFd, SOCK_CLOEXEC);
      return added < 0 ? added : -errno;
    } finally {
      libc.close(fd);
    }
  }

  #connectDatagrams(fd: number, peer: Peer): Answer {
    const { libc } = this.#options;
    const socket = this.#sockets.get(fd);
    if (socket === undefined) return -EBADF;
    const bytes = writePeer(this.#name, peer, socket.isIpv6);
    if (bytes === 0) return -EINVAL;
    return libc.connect(socket.fd, this.#name, bytes) === 0 ? 0 : -libc.errno();
  }

  /** socket(family, type, protocol), of datagrams */
  #socket(): Answer {
    const { libc } = this.#options;
    const [family, type, protocol] = [0, 1, 2].map((index) => this.#notification.int(index)) as [
      number,
      number,
      number,
    ];
    const isInternet = family === AF_INET || family === AF_INET6;
    if (!isInternet || (type & SOCK_TYPE_MASK) !== SOCK_DGRAM) return -EPERM;
    this.#sweep();
    if (this.#sockets.size >= MAX_SOCKETS) return -EMFILE;
    const fd = libc.socket(family, SOCK_DGRAM | SOCK_CLOEXEC | (type & SOCK_NONBLOCK), protocol);
    if (fd < 0) return -libc.errno();
    const installed = this.#give(fd, null, type & SOCK_CLOEXEC);
    if (installed < 0) {
      libc.close(fd);
      return installed;
    }
    const before = this.#sockets.get(installed);
    if (before !== undefined) libc.close(before.fd);
    this.#sockets.set(installed, { fd, inode: fstatSync(fd).ino, isIpv6: family === AF_INET6 });
    return installed;
  }

  /** sendto(fd, data, length, flags, address, length) */
  #sendTo(): Answer {
    const call = this.#notification;
    const peer = this.#addressAt(4);
    if (peer === undefined) return -EFAULT;
    const length = call.word(2);
    if (length > MAX_DATA_BYTES) return -EMSGSIZE;
    const data: Range = { at: call.word(1), bytes: Number(length) };
    return this.#send(call.int(0), { data: [data], peer, control: null, flags: call.int(3) });
  }

  /** sendmsg(fd, message, flags) */
  #sendMessage(): Answer {
    const { memory } = this.#options;
    const call = this.#notification;
    const { pid } = call;
    const [header] = memory.readParts(pid, [{ at: call.word(1), bytes: HEADER_BYTES }]) ?? [];
    if (header === undefined) return -EFAULT;
    const message = parseHeader(header);
    if (message === null) return -EMSGSIZE;
    const { name, vector, control } = message;
    const parts = memory.readParts(pid, [vector, name ?? NOTHING, control ?? NOTHING]);
    if (parts === null) return -EFAULT;
    const [pieces = EMPTY, address = EMPTY, controls = EMPTY] = parts;
    const data = parseVector(pieces);
    if (data === null) return -EMSGSIZE;
    if (!isHarmlessControl(controls)) return -EPERM;
    const peer = name === null ? undefined : parseSockaddr(address);
    return this.#send(call.int(0), { data, peer, control: control === null ? null : controls, flags: call.int(2) });
  }

  /** @param peer undefined: where the socket is connected to */
  #send(
    fd: number,
    {
      data,
      peer,
      control,
      flags,
    }: { data: readonly Range[]; peer: Peer | null | undefined; control: Buffer | null; flags: number },
  ): Answer {
    const { libc, memory, targets } = this.#options;
    const socket = this.#sockets.get(fd);
    if (socket === undefined) return -EBADF;
    if ((flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL)) !== 0) return -EINVAL;
    if (peer !== undefined && (peer === null || !targets.has(peer, "udp"))) return this.#refuse("udp", peer);
    const nameBytes = peer === undefined ? 0 : writePeer(this.#name, peer, socket.isIpv6);
    if (peer !== undefined && nameBytes === 0) return -EINVAL;
    const dataBytes = memory.readData(this.#notification.pid, data);
    if (dataBytes === null || !this.#isWaiting()) return -EFAULT;
    const name = peer === undefined ? null : this.#name.subarray(0, nameBytes);
    const sent = memory.send(socket.fd, dataBytes, name, control, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -libc.errno() : sent;
  }

  #refuse(protocol: Protocol, peer: Peer | null): Answer {
    if (!this.#isWaiting()) return -EFAULT;
    this.#options.onRefused({ protocol, peer });
    // As Landlock has it.
    return -EACCES;
  }

  /** Of arguments that name it and its length. @returns null for none that we know; undefined when it cannot be read */
  #addressAt(index: number): Peer | null | undefined {
    const { memory } = this.#options;
    const call = this.#notification;
    const bytes = call.int(index + 1);
    if (bytes < 0 || bytes > MAX_ADDRESS_BYTES) return null;
    if (!memory.readFirst(call.pid, call.int(index), call.high(index), bytes)) return undefined;
    return parseSockaddr(memory.first.subarray(0, bytes));
  }

  /** What was read is the child's only if the child still waits: a process that has ended leaves its number to another. */
  #isWaiting(): boolean {
    return this.#options.libc.ioctl(this.listener, NOTIF_ID_VALID, this.#notification.writeId(this.#id)) === 0;
  }

  /** @returns its number in the child */
  #give(fd: number, newFd: number | null, flags: number): Answer {
    const { libc } = this.#options;
    const wanted = writeAddFd(this.#addFd, this.#notification, fd, newFd, flags);
    const added = libc.ioctl(this.listener, NOTIF_ADDFD, wanted);
    return added < 0 ? -libc.errno() : added;
  }

  /** Whether a number of the child's is a socket of datagrams that we made. */
  #isOpen(fd: number): boolean {
    const socket = this.#sockets.get(fd);
    if (socket === undefined) return false;
    try {
      return readlinkSync(`/proc/${this.#notification.pid}/fd/${fd}`) === `socket:[${socket.inode}]`;
    } catch {
      return false;
    }
  }

  /** Closes ours of what the child has closed, each time that there are twice as many as were left by the last look. */
  #sweep(): void {
    if (this.#sockets.size < this.#sweepAt) return;
    for (const [fd, socket] of this.#sockets) {
      if (this.#isOpen(fd)) continue;
      this.#sockets.delete(fd);
      this.#options.libc.close(socket.fd);
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#sockets.size * 2);
  }
}

const EMPTY = Buffer.alloc(0);
const NOTHING: Range = { at: 0n, bytes: 0 };
