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
  RESPONSE_BYTES,
  writeAddFd,
  writeResponse,
} from "./notification.ts";
import { IPV6_BYTES, type Peer, type Protocol, parseSockaddr, type TargetList, writePeer } from "./peer.ts";

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

/** What the call returns: a value, or the number of an error. */
type Answer = { readonly value: number } | { readonly errno: number };

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
  readonly #response = Buffer.alloc(RESPONSE_BYTES);
  readonly #addFd = Buffer.alloc(ADDFD_BYTES);
  readonly #id = Buffer.alloc(8);
  readonly #name = Buffer.alloc(IPV6_BYTES);
  /** By the child's number. */
  readonly #sockets = new Map<number, DatagramSocket>();
  readonly #calls: Readonly<Record<number, () => Answer | null>>;
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

  /** Of a listener that is ready: one whose call was interrupted meanwhile has nothing to tell. */
  answerNext(): void {
    const { libc } = this.#options;
    this.#notification.clear();
    if (libc.ioctl(this.listener, NOTIF_RECV, this.#notification.bytes) !== 0) return;
    const answer = this.#calls[this.#notification.call]?.() ?? { errno: ENOSYS };
    const [value, errno] = "value" in answer ? [answer.value, 0] : [0, answer.errno];
    // A child that is gone needs no answer.
    libc.ioctl(this.listener, NOTIF_SEND, writeResponse(this.#response, this.#notification, value, errno));
  }

  close(): void {
    const { libc } = this.#options;
    for (const { fd } of this.#sockets.values()) libc.close(fd);
    this.#sockets.clear();
    libc.close(this.listener);
  }

  /** connect(fd, address, length) */
  #connect(): Answer {
    const peer = this.#addressAt(this.#notification.word(1), this.#notification.int(2));
    if (peer === undefined) return { errno: EFAULT };
    const fd = this.#notification.int(0);
    const protocol = this.#protocolOf(peer, fd);
    // Whether the child still waits is seen when it is given the socket.
    if (peer !== null && protocol === "tcp") return this.#connectStream(fd, peer);
    if (peer === null || protocol === null) return this.#refuse("tcp", peer);
    return this.#isWaiting() ? this.#connectDatagrams(fd, peer) : { errno: EFAULT };
  }

  /** Where one address and port is on the list for both, the socket says which is meant. */
  #protocolOf(peer: Peer | null, fd: number): Protocol | null {
    if (peer === null) return null;
    const { targets } = this.#options;
    const [isTcp, isUdp] = [targets.has(peer, "tcp"), targets.has(peer, "udp")];
    if (isTcp && isUdp) return this.#isOpen(fd) ? "udp" : "tcp";
    return isTcp ? "tcp" : isUdp ? "udp" : null;
  }

  #connectStream(newFd: number, peer: Peer): Answer {
    const { libc } = this.#options;
    const isIpv6 = peer.ip.length === 16;
    const type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const fd = libc.socket(isIpv6 ? AF_INET6 : AF_INET, type, 0);
    if (fd < 0) return { errno: libc.errno() };
    try {
      const bytes = writePeer(this.#name, peer, isIpv6);
      const errno = libc.connect(fd, this.#name, bytes) === 0 ? 0 : libc.errno();
      if (errno !== 0 && errno !== EINPROGRESS) return { errno };
      // SOCK_CLOEXEC is O_CLOEXEC (socket(2)).
      const added = this.#give({ fd, newFd, flags: SOCK_CLOEXEC });
      if ("errno" in added) return added;
      return errno === 0 ? { value: 0 } : { errno };
    } finally {
      libc.close(fd);
    }
  }

  #connectDatagrams(fd: number, peer: Peer): Answer {
    const { libc } = this.#options;
    const socket = this.#sockets.get(fd);
    if (socket === undefined) return { errno: EBADF };
    const bytes = writePeer(this.#name, peer, socket.isIpv6);
    if (bytes === 0) return { errno: EINVAL };
    return libc.connect(socket.fd, this.#name, bytes) === 0 ? { value: 0 } : { errno: libc.errno() };
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
    if (!isInternet || (type & SOCK_TYPE_MASK) !== SOCK_DGRAM) return { errno: EPERM };
    this.#sweep();
    if (this.#sockets.size >= MAX_SOCKETS) return { errno: EMFILE };
    const fd = libc.socket(family, SOCK_DGRAM | SOCK_CLOEXEC | (type & SOCK_NONBLOCK), protocol);
    if (fd < 0) return { errno: libc.errno() };
    const installed = this.#give({ fd, newFd: null, flags: type & SOCK_CLOEXEC });
    if ("errno" in installed) {
      libc.close(fd);
      return installed;
    }
    const before = this.#sockets.get(installed.value);
    if (before !== undefined) libc.close(before.fd);
    this.#sockets.set(installed.value, { fd, inode: fstatSync(fd).ino, isIpv6: family === AF_INET6 });
    return installed;
  }

  /** sendto(fd, data, length, flags, address, length) */
  #sendTo(): Answer {
    const call = this.#notification;
    const peer = this.#addressAt(call.word(4), call.int(5));
    if (peer === undefined) return { errno: EFAULT };
    const length = call.word(2);
    if (length > MAX_DATA_BYTES) return { errno: EMSGSIZE };
    const data: Range = { at: call.word(1), bytes: Number(length) };
    return this.#send(call.int(0), { data: [data], peer, control: null, flags: call.int(3) });
  }

  /** sendmsg(fd, message, flags) */
  #sendMessage(): Answer {
    const { memory } = this.#options;
    const call = this.#notification;
    const { pid } = call;
    const [header] = memory.readParts(pid, [{ at: call.word(1), bytes: HEADER_BYTES }]) ?? [];
    if (header === undefined) return { errno: EFAULT };
    const message = parseHeader(header);
    if (message === null) return { errno: EMSGSIZE };
    const { name, vector, control } = message;
    const parts = memory.readParts(pid, [vector, name ?? NOTHING, control ?? NOTHING]);
    if (parts === null) return { errno: EFAULT };
    const [pieces = EMPTY, address = EMPTY, controls = EMPTY] = parts;
    const data = parseVector(pieces);
    if (data === null) return { errno: EMSGSIZE };
    if (!isHarmlessControl(controls)) return { errno: EPERM };
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
    if (socket === undefined) return { errno: EBADF };
    if ((flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL)) !== 0) return { errno: EINVAL };
    if (peer !== undefined && (peer === null || !targets.has(peer, "udp"))) return this.#refuse("udp", peer);
    const nameBytes = peer === undefined ? 0 : writePeer(this.#name, peer, socket.isIpv6);
    if (peer !== undefined && nameBytes === 0) return { errno: EINVAL };
    const dataBytes = memory.readData(this.#notification.pid, data);
    if (dataBytes === null || !this.#isWaiting()) return { errno: EFAULT };
    const name = peer === undefined ? null : this.#name.subarray(0, nameBytes);
    const sent = memory.send(socket.fd, dataBytes, name, control, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? { errno: libc.errno() } : { value: sent };
  }

  #refuse(protocol: Protocol, peer: Peer | null): Answer {
    if (!this.#isWaiting()) return { errno: EFAULT };
    this.#options.onRefused({ protocol, peer });
    // As Landlock has it.
    return { errno: EACCES };
  }

  /** @returns null for none that we know; undefined when it cannot be read */
  #addressAt(at: bigint, bytes: number): Peer | null | undefined {
    if (bytes < 0 || bytes > MAX_ADDRESS_BYTES) return null;
    const address = this.#options.memory.readPart(this.#notification.pid, { at, bytes });
    return address === null ? undefined : parseSockaddr(address);
  }

  /** What was read is the child's only if the child still waits: a process that has ended leaves its number to another. */
  #isWaiting(): boolean {
    return this.#options.libc.ioctl(this.listener, NOTIF_ID_VALID, this.#notification.writeId(this.#id)) === 0;
  }

  /** @returns its number in the child */
  #give(what: { readonly fd: number; readonly newFd: number | null; readonly flags: number }): Answer {
    const { libc } = this.#options;
    const added = libc.ioctl(this.listener, NOTIF_ADDFD, writeAddFd(this.#addFd, this.#notification, what));
    return added < 0 ? { errno: libc.errno() } : { value: added };
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
