/**
 * A broker of network connections: sandboxed children cannot connect by themselves; the kernel stops the call and notifies us
 * (seccomp_unotify(2)), and we make the connection where the child's list allows it. The address is copied from the child's memory once, and the
 * socket is a new one of ours, which the child gets when it is connected (SECCOMP_IOCTL_NOTIF_ADDFD). So nothing that the child does to its memory
 * or to its sockets meanwhile changes where the connection goes, and no call of ours can be made to wait.
 *
 * Sockets of datagrams are made here, too, and we keep a second descriptor of each: what is sent to a name is copied, judged and sent by us.
 */
import { EPOLLERR, EPOLLHUP, EPOLLIN, type Libc, MSG_DONTWAIT, SOL_SOCKET } from "../libc.ts";
import type { Readiness } from "../readiness.ts";
import { BrokeredChild, type Refusal } from "./brokered-child.ts";
import { ChildMemory } from "./child-memory.ts";
import type { Arch } from "./image.ts";
import { HEADER_BYTES, IOVEC_BYTES } from "./message.ts";
import { NOTIF_SET_FLAGS, SYNC_WAKE_UP } from "./notification.ts";
import { type Target, TargetList } from "./peer.ts";

/** Identifies the child that hands over its listener; it was made for that one child. */
export const TOKEN_BYTES = 16;
/** struct cmsghdr with one descriptor: its length, and the room that it takes. */
const CMSG_BYTES = 20;
const CMSG_SPACE = 24;
const SCM_RIGHTS = 1;
const MSG_CMSG_CLOEXEC = 0x4000_0000;
/** Listeners whose child was not announced yet: that comes by another way. */
const MAX_UNKNOWN = 64;

export interface BrokerDeps {
  readonly libc: Libc;
  readonly readiness: Pick<Readiness, "watch" | "unwatch">;
  readonly arch: Arch;
  /** Our end of the socket pair over which children hand us their listeners. */
  readonly inbox: number;
  /** A child tried to reach what is not on its list. */
  readonly onRefused: (token: string, refusal: Refusal) => void;
}

export class Broker {
  readonly #deps: BrokerDeps;
  readonly #inbox: Inbox;
  readonly #memory: ChildMemory;
  /** By token: children that were announced but have not handed over a listener, and listeners whose child was not announced. */
  readonly #announced = new Map<string, TargetList>();
  readonly #unknown = new Map<string, number>();
  readonly #children = new Map<string, BrokeredChild>();

  /** @throws an errno error */
  constructor(deps: BrokerDeps) {
    this.#deps = deps;
    this.#inbox = new Inbox(deps.libc, deps.inbox);
    this.#memory = new ChildMemory(deps.libc);
    deps.readiness.watch(deps.inbox, EPOLLIN, () => this.#receive());
  }

  /** Before the child is started. @param token hexadecimal */
  announce(token: string, targets: readonly Target[]): void {
    const list = new TargetList(targets);
    const listener = this.#unknown.get(token);
    this.#unknown.delete(token);
    if (listener === undefined) this.#announced.set(token, list);
    else this.#take(token, listener, list);
  }

  /** The child has ended. */
  forget(token: string): void {
    // What it handed over is there, and would wait for an announcement that never comes.
    this.#receive();
    this.#announced.delete(token);
    this.#end(token);
  }

  close(): void {
    for (const token of [...this.#children.keys()]) this.#end(token);
    for (const listener of this.#unknown.values()) this.#deps.libc.close(listener);
    this.#unknown.clear();
    this.#deps.readiness.unwatch(this.#deps.inbox);
  }

  #receive(): void {
    for (let got = this.#inbox.next(); got !== null; got = this.#inbox.next()) {
      const { token, listener } = got;
      const list = this.#announced.get(token);
      this.#announced.delete(token);
      if (list !== undefined) this.#take(token, listener, list);
      else if (this.#unknown.size < MAX_UNKNOWN) this.#unknown.set(token, listener);
      // Its calls fail with ENOSYS then.
      else this.#deps.libc.close(listener);
    }
  }

  #take(token: string, listener: number, targets: TargetList): void {
    const { libc, arch, readiness, onRefused } = this.#deps;
    const own = { libc, arch, memory: this.#memory, listener, targets };
    const child = new BrokeredChild({ ...own, onRefused: (refusal) => onRefused(token, refusal) });
    this.#children.set(token, child);
    // Older kernels do not know the flag and choose processors by themselves, which costs more.
    libc.ioctl(listener, NOTIF_SET_FLAGS, SYNC_WAKE_UP);
    // One call a time: the next one of the same child waits until the others have had their turn.
    readiness.watch(listener, EPOLLIN, (events) => {
      if ((events & EPOLLIN) !== 0) child.answerNext();
      // Nothing is left that the filter applies to.
      else if ((events & (EPOLLHUP | EPOLLERR)) !== 0) this.#end(token);
    });
  }

  #end(token: string): void {
    const child = this.#children.get(token);
    if (child === undefined) return;
    this.#children.delete(token);
    this.#deps.readiness.unwatch(child.listener);
    child.close();
  }
}

/** Messages of a token and one descriptor. */
class Inbox {
  readonly #libc: Libc;
  readonly #fd: number;
  /** struct msghdr, struct iovec, a token, a control buffer; so large that V8 never moves it. */
  readonly #memory = Buffer.allocUnsafeSlow(256).fill(0);
  readonly #vectorAt = HEADER_BYTES + 8;
  readonly #tokenAt = this.#vectorAt + IOVEC_BYTES;
  readonly #controlAt = this.#tokenAt + TOKEN_BYTES;
  readonly #base: bigint;

  constructor(libc: Libc, fd: number) {
    this.#libc = libc;
    this.#fd = fd;
    this.#base = libc.addressOf(this.#memory);
  }

  /** @returns null when there is none for now */
  next(): { readonly token: string; readonly listener: number } | null {
    const memory = this.#memory;
    const at = (offset: number): bigint => this.#base + BigInt(offset);
    for (;;) {
      memory.fill(0);
      memory.writeBigUInt64LE(at(this.#vectorAt), 16);
      memory.writeBigUInt64LE(1n, 24);
      memory.writeBigUInt64LE(at(this.#controlAt), 32);
      memory.writeBigUInt64LE(BigInt(CMSG_SPACE), 40);
      memory.writeBigUInt64LE(at(this.#tokenAt), this.#vectorAt);
      memory.writeBigUInt64LE(BigInt(TOKEN_BYTES), this.#vectorAt + 8);
      const got = Number(this.#libc.recvmsg(this.#fd, memory, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
      if (got < 0) return null;
      const control = memory.subarray(this.#controlAt);
      const hasDescriptor =
        memory.readBigUInt64LE(40) >= BigInt(CMSG_BYTES) &&
        control.readBigUInt64LE(0) === BigInt(CMSG_BYTES) &&
        control.readInt32LE(8) === SOL_SOCKET &&
        control.readInt32LE(12) === SCM_RIGHTS;
      if (!hasDescriptor) continue;
      const token = memory.toString("hex", this.#tokenAt, this.#tokenAt + TOKEN_BYTES);
      return { token, listener: control.readInt32LE(16) };
    }
  }
}

/** @returns the control buffer that carries one descriptor, and where its number is to be written into it */
export function descriptorControl(): { readonly bytes: Buffer; readonly descriptorAt: number } {
  const bytes = Buffer.alloc(CMSG_SPACE);
  bytes.writeBigUInt64LE(BigInt(CMSG_BYTES), 0);
  bytes.writeInt32LE(SOL_SOCKET, 8);
  bytes.writeInt32LE(SCM_RIGHTS, 12);
  return { bytes, descriptorAt: 16 };
}
