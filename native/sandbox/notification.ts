/**
 * The kernel's notification of a system call that a filter returned SECCOMP_RET_USER_NOTIF for, and the answer: the structures of
 * seccomp_unotify(2) and linux/seccomp.h, the same on x86-64 and arm64. Pure.
 */

/** _IOWR('!', 0, struct seccomp_notif), _IOWR('!', 1, struct seccomp_notif_resp), _IOW('!', 2, __u64), _IOW('!', 3, struct seccomp_notif_addfd). */
export const NOTIF_RECV = 0xc050_2100;
export const NOTIF_SEND = 0xc018_2101;
export const NOTIF_ID_VALID = 0x4008_2102;
export const NOTIF_ADDFD = 0x4018_2103;
/** _IOW('!', 4, __u64), Linux 6.6: the argument is the flags. SYNC_WAKE_UP: the process that is notified or answered runs on the processor of the other, which waits. */
export const NOTIF_SET_FLAGS = 0x4008_2104;
export const SYNC_WAKE_UP = 1n;

/** struct seccomp_notif: id, pid, flags, then struct seccomp_data. */
const NOTIF_BYTES = 80;
const PID_AT = 8;
const NR_AT = 16;
const ARGS_AT = 32;
/** struct seccomp_notif_resp: id, val, error, flags. */
export const RESPONSE_BYTES = 24;
/** struct seccomp_notif_addfd: id, flags, srcfd, newfd, newfd_flags. */
export const ADDFD_BYTES = 24;
const ADDFD_FLAG_SETFD = 1;

/** Memory for one of the kernel's structures, as 32-bit numbers: writing a Buffer's numbers costs several times that, and each connection needs a dozen. */
export class Numbers {
  readonly numbers: Int32Array;
  readonly bytes: Uint8Array;

  /** @param bytes a multiple of 4 */
  constructor(bytes: number) {
    this.numbers = new Int32Array(bytes / 4);
    this.bytes = new Uint8Array(this.numbers.buffer);
  }
}

/** A view of the bytes of the last notification; valid until the next one is received into them. */
export class Notification {
  readonly bytes = Buffer.alloc(NOTIF_BYTES);
  readonly #words = new BigUint64Array(this.bytes.buffer, this.bytes.byteOffset, NOTIF_BYTES / 8);
  readonly #numbers = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, NOTIF_BYTES / 4);

  /** As the kernel wants it before it writes the next one. */
  clear(): void {
    this.#numbers.fill(0);
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

  /** The high 32 bits, signed. */
  high(index: number): number {
    return this.#numbers[ARGS_AT / 4 + index * 2 + 1] ?? 0;
  }

  word(index: number): bigint {
    return this.#words[ARGS_AT / 8 + index] ?? 0n;
  }

  writeId({ numbers, bytes }: Numbers): Uint8Array {
    numbers[0] = this.#numbers[0] ?? 0;
    numbers[1] = this.#numbers[1] ?? 0;
    return bytes;
  }
}

/** @param result as the kernel has it: what the call returns, or the number of an error below 0. @returns the bytes of `out` */
export function writeResponse(out: Numbers, notification: Notification, result: number): Uint8Array {
  const { numbers } = out;
  numbers[2] = Math.max(0, result);
  numbers[3] = 0;
  numbers[4] = Math.min(0, result);
  numbers[5] = 0;
  return notification.writeId(out);
}

/** @param newFd the number that it replaces; null: the lowest free one. @returns the bytes of `out` */
export function writeAddFd(
  out: Numbers,
  notification: Notification,
  fd: number,
  newFd: number | null,
  flags: number,
): Uint8Array {
  const { numbers } = out;
  numbers[2] = newFd === null ? 0 : ADDFD_FLAG_SETFD;
  numbers[3] = fd;
  numbers[4] = newFd ?? 0;
  numbers[5] = flags;
  return notification.writeId(out);
}
