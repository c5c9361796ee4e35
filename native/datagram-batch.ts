/** What recvmmsg(2) fills, on 64-bit little-endian Linux: an array of struct mmsghdr, each with one iovec and room for a time stamp. */
import { CLOCK_REALTIME, type Libc, MSG_DONTWAIT, SO_TIMESTAMPNS, SOL_SOCKET } from "./libc.ts";

/** Datagrams received at once; a socket that has more is reported again. */
const BATCH = 8;
/** No UDP datagram is longer; pages that nothing was ever written to cost nothing. */
const DATA_BYTES = 65_536;
/** struct mmsghdr: a struct msghdr of 56 bytes, the length, 4 bytes of padding. */
const HEADER_BYTES = 64;
const LENGTH_OFFSET = 56;
/** In struct msghdr. */
const IOVEC_OFFSET = 16;
const IOVEC_COUNT_OFFSET = 24;
const CONTROL_OFFSET = 32;
const CONTROL_LENGTH_OFFSET = 40;
const IOVEC_BYTES = 16;
/** struct cmsghdr (length, level, type: 16 bytes) and a struct timespec. */
const CONTROL_BYTES = 32;
const CMSG_LEVEL_OFFSET = 8;
const CMSG_TYPE_OFFSET = 12;
const TIMESPEC_OFFSET = 16;
/** An older arrival than this is a clock that was set, ms. */
const OLDEST_MS = 60_000;

/** Of one thread; all its sockets receive into the same memory, one after the other. */
export class DatagramBatch {
  readonly #libc: Libc;
  /** One piece, so large that V8 never moves it; the headers hold addresses into it. */
  readonly #memory = Buffer.allocUnsafeSlow(BATCH * (HEADER_BYTES + IOVEC_BYTES + CONTROL_BYTES + DATA_BYTES));
  readonly #headers: Buffer;
  readonly #view: DataView;
  readonly #controlsAt = BATCH * (HEADER_BYTES + IOVEC_BYTES);
  readonly #dataAt = BATCH * (HEADER_BYTES + IOVEC_BYTES + CONTROL_BYTES);
  readonly #clock = Buffer.alloc(128);
  readonly #clockView = new DataView(this.#clock.buffer, this.#clock.byteOffset, this.#clock.byteLength);

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#headers = this.#memory.subarray(0, BATCH * HEADER_BYTES);
    this.#view = new DataView(this.#memory.buffer, this.#memory.byteOffset, this.#memory.byteLength);
    this.#memory.fill(0, 0, this.#dataAt);
    const base = libc.addressOf(this.#memory);
    for (let index = 0; index < BATCH; index++) {
      const iovecAt = BATCH * HEADER_BYTES + index * IOVEC_BYTES;
      this.#view.setBigUint64(iovecAt, base + BigInt(this.#dataAt + index * DATA_BYTES), true);
      this.#view.setBigUint64(iovecAt + 8, BigInt(DATA_BYTES), true);
      const headerAt = index * HEADER_BYTES;
      this.#view.setBigUint64(headerAt + IOVEC_OFFSET, base + BigInt(iovecAt), true);
      this.#view.setBigUint64(headerAt + IOVEC_COUNT_OFFSET, 1n, true);
      const controlAt = this.#controlsAt + index * CONTROL_BYTES;
      this.#view.setBigUint64(headerAt + CONTROL_OFFSET, base + BigInt(controlAt), true);
      this.#view.setUint32(headerAt + CONTROL_LENGTH_OFFSET, CONTROL_BYTES, true);
    }
  }

  /** What has arrived, without waiting. @returns how many datagrams; -1 when errno says why there is none */
  receive(fd: number): number {
    return this.#libc.recvmmsg(fd, this.#headers, BATCH, MSG_DONTWAIT, null);
  }

  /** Valid until the next receive(). */
  datagram(index: number): Buffer {
    const lengthBytes = this.#view.getUint32(index * HEADER_BYTES + LENGTH_OFFSET, true);
    const at = this.#dataAt + index * DATA_BYTES;
    return this.#memory.subarray(at, at + lengthBytes);
  }

  /**
   * How long ago it arrived by the kernel's clock, ms; 0 where the kernel did not say. Once for each datagram: makes its header ready for the
   * next receive().
   */
  takeAgeMs(index: number): number {
    const headerAt = index * HEADER_BYTES;
    const controlBytes = this.#view.getUint32(headerAt + CONTROL_LENGTH_OFFSET, true);
    this.#view.setUint32(headerAt + CONTROL_LENGTH_OFFSET, CONTROL_BYTES, true);
    if (controlBytes < CONTROL_BYTES) return 0;
    const at = this.#controlsAt + index * CONTROL_BYTES;
    const isTime =
      this.#view.getInt32(at + CMSG_LEVEL_OFFSET, true) === SOL_SOCKET &&
      this.#view.getInt32(at + CMSG_TYPE_OFFSET, true) === SO_TIMESTAMPNS;
    if (!isTime) return 0;
    this.#libc.clock_gettime(CLOCK_REALTIME, this.#clock);
    // A timespec's low halves: seconds of a difference, and ns below 2^30.
    const seconds = (this.#clockView.getUint32(0, true) - this.#view.getUint32(at + TIMESPEC_OFFSET, true)) | 0;
    const ns = this.#clockView.getUint32(8, true) - this.#view.getUint32(at + TIMESPEC_OFFSET + 8, true);
    const ageMs = seconds * 1_000 + ns / 1_000_000;
    return ageMs > 0 && ageMs < OLDEST_MS ? ageMs : 0;
  }
}
