/**
 * What the kernel tells of a system call that a filter returned SECCOMP_RET_USER_NOTIF for, and what it is answered: the structures of
 * seccomp_unotify(2) and linux/seccomp.h, the same on x86-64 and arm64. Pure.
 */

/** _IOWR('!', 0, struct seccomp_notif), _IOWR('!', 1, struct seccomp_notif_resp), _IOW('!', 2, __u64), _IOW('!', 3, struct seccomp_notif_addfd). */
export const NOTIF_RECV = 0xc050_2100;
export const NOTIF_SEND = 0xc018_2101;
export const NOTIF_ID_VALID = 0x4008_2102;
export const NOTIF_ADDFD = 0x4018_2103;
/** _IOW('!', 4, __u64), Linux 6.6: the argument is the flags. SYNC_WAKE_UP: who is told, and who is answered, goes on at the processor of the other, who waits now. */
export const NOTIF_SET_FLAGS = 0x4008_2104;
export const SYNC_WAKE_UP = 1n;

/** struct seccomp_notif: id, pid, flags, then struct seccomp_data. */
export const NOTIF_BYTES = 80;
const PID_AT = 8;
const NR_AT = 16;
const ARGS_AT = 32;
/** struct seccomp_notif_resp: id, val, error, flags. */
export const RESPONSE_BYTES = 24;
/** struct seccomp_notif_addfd: id, flags, srcfd, newfd, newfd_flags. */
export const ADDFD_BYTES = 24;
const ADDFD_FLAG_SETFD = 1;

/** A view of the bytes of the last notification; valid until the next one is received into them. */
export class Notification {
  readonly bytes = Buffer.alloc(NOTIF_BYTES);
  readonly #words = new BigUint64Array(this.bytes.buffer, this.bytes.byteOffset, NOTIF_BYTES / 8);
  readonly #numbers = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, NOTIF_BYTES / 4);

  /** As the kernel wants it before it writes the next one. */
  clear(): void {
    this.#words.fill(0n);
  }

  /** Of the thread that waits, in our numbering; 0 when it is not visible to us. */
  get pid(): number {
    return (this.#numbers[PID_AT / 4] ?? 0) >>> 0;
  }

  get call(): number {
    return this.#numbers[NR_AT / 4] ?? 0;
  }

  /** The low 32 bits, signed: what the kernel takes of an int. */
  int(index: number): number {
    return this.#numbers[ARGS_AT / 4 + index * 2] ?? 0;
  }

  word(index: number): bigint {
    return this.#words[ARGS_AT / 8 + index] ?? 0n;
  }

  writeId(out: Buffer): Buffer {
    this.bytes.copy(out, 0, 0, 8);
    return out;
  }
}

/** @param errno 0: the call returns the value */
export function writeResponse(out: Buffer, notification: Notification, value: number, errno: number): Buffer {
  notification.writeId(out);
  out.writeBigInt64LE(BigInt(value), 8);
  out.writeInt32LE(-errno, 16);
  out.writeUInt32LE(0, 20);
  return out;
}

/** @param newFd the number that it replaces; null: the lowest free one */
export function writeAddFd(
  out: Buffer,
  notification: Notification,
  { fd, newFd, flags }: { readonly fd: number; readonly newFd: number | null; readonly flags: number },
): Buffer {
  notification.writeId(out);
  out.writeUInt32LE(newFd === null ? 0 : ADDFD_FLAG_SETFD, 8);
  out.writeInt32LE(fd, 12);
  out.writeInt32LE(newFd ?? 0, 16);
  out.writeUInt32LE(flags, 20);
  return out;
}
