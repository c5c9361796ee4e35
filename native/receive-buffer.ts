/** What recvmsg(2) fills, on 64-bit little-endian Linux: struct msghdr, one iovec, the sender, control messages. */
import { type Libc, SO_TIMESTAMPNS, SOL_SOCKET } from "./libc.ts";

/** An echo reply is 16 bytes and an IP header; an ICMP error quotes at most 1,280 (RFC 4443 section 2.4). */
const DATA_BYTES = 2_048;
const NAME_BYTES = 128;
const CONTROL_BYTES = 512;
/** struct msghdr and struct iovec (bits/socket.h, bits/types/struct_iovec.h). */
const HEADER_BYTES = 56;
const IOVEC_BYTES = 16;
const NAME_LENGTH_OFFSET = 8;
const CONTROL_LENGTH_OFFSET = 40;
const FLAGS_OFFSET = 48;
/** struct cmsghdr: a 64-bit length, level, type; then the data, each message aligned to 8 (cmsg(3)). */
const CMSG_HEADER_BYTES = 16;
const CMSG_ALIGNMENT = 8;
const SOL_IP = 0;
const SOL_IPV6 = 41;
const IP_RECVERR = 11;
const IPV6_RECVERR = 25;
/** struct sock_extended_err (linux/errqueue.h): errno, origin, type, code … */
const EXTENDED_ERROR_BYTES = 16;
/** SO_EE_ORIGIN_LOCAL 1, SO_EE_ORIGIN_ICMP 2, SO_EE_ORIGIN_ICMP6 3. */
const ORIGIN_OFFSET = 4;
const LAST_ORIGIN = 3;

export class ReceiveBuffer {
  /** One piece, so large that V8 never moves it; the header holds addresses into it. */
  readonly #memory = Buffer.alloc(HEADER_BYTES + 8 + IOVEC_BYTES + NAME_BYTES + CONTROL_BYTES + DATA_BYTES);
  readonly #header = this.#memory.subarray(0, HEADER_BYTES);
  readonly #name: Buffer;
  readonly #control: Buffer;
  readonly #data: Buffer;

  constructor(libc: Pick<Libc, "addressOf">) {
    const iovecAt = HEADER_BYTES + 8;
    const nameAt = iovecAt + IOVEC_BYTES;
    const controlAt = nameAt + NAME_BYTES;
    const dataAt = controlAt + CONTROL_BYTES;
    this.#name = this.#memory.subarray(nameAt, controlAt);
    this.#control = this.#memory.subarray(controlAt, dataAt);
    this.#data = this.#memory.subarray(dataAt);
    const base = libc.addressOf(this.#memory);
    this.#memory.writeBigUInt64LE(base + BigInt(dataAt), iovecAt);
    this.#memory.writeBigUInt64LE(BigInt(DATA_BYTES), iovecAt + 8);
    this.#header.writeBigUInt64LE(base + BigInt(nameAt), 0);
    this.#header.writeBigUInt64LE(base + BigInt(iovecAt), 16);
    this.#header.writeBigUInt64LE(1n, 24);
    this.#header.writeBigUInt64LE(base + BigInt(controlAt), 32);
  }

  /** The struct msghdr for the next recvmsg(). */
  header(): Buffer {
    this.#header.writeUInt32LE(NAME_BYTES, NAME_LENGTH_OFFSET);
    this.#header.writeBigUInt64LE(BigInt(CONTROL_BYTES), CONTROL_LENGTH_OFFSET);
    this.#header.writeUInt32LE(0, FLAGS_OFFSET);
    return this.#header;
  }

  /** The bytes received; valid until the next recvmsg(). */
  message(lengthBytes: number): Uint8Array {
    return this.#data.subarray(0, Math.min(lengthBytes, DATA_BYTES));
  }

  /** The address in the sender's sockaddr: who sent it, or where a packet of ours was sent to, on the error queue. */
  sender(family: 4 | 6): Uint8Array {
    return family === 4 ? this.#name.subarray(4, 8) : this.#name.subarray(8, 24);
  }

  /** The kernel's timestamp, ns since 1970; undefined when it gave none. */
  arrivedAtNs(): bigint | undefined {
    const timespec = this.#find((level, type) => level === SOL_SOCKET && type === SO_TIMESTAMPNS);
    if (timespec === undefined || timespec.length < 16) return undefined;
    return timespec.readBigInt64LE(0) * 1_000_000_000n + timespec.readBigInt64LE(8);
  }

  /** The errno of a message from the error queue; undefined when it is something else (a transmit timestamp). */
  queuedErrno(): number | undefined {
    const error = this.#find(
      (level, type) => (level === SOL_IP && type === IP_RECVERR) || (level === SOL_IPV6 && type === IPV6_RECVERR),
    );
    if (error === undefined || error.length < EXTENDED_ERROR_BYTES) return undefined;
    const origin = error[ORIGIN_OFFSET] ?? 0;
    return origin >= 1 && origin <= LAST_ORIGIN ? error.readUInt32LE(0) : undefined;
  }

  #find(isWanted: (level: number, type: number) => boolean): Buffer | undefined {
    const end = Math.min(CONTROL_BYTES, Number(this.#header.readBigUInt64LE(CONTROL_LENGTH_OFFSET)));
    for (let at = 0; at + CMSG_HEADER_BYTES <= end; ) {
      const lengthBytes = Number(this.#control.readBigUInt64LE(at));
      if (lengthBytes < CMSG_HEADER_BYTES || at + lengthBytes > end) return undefined;
      if (isWanted(this.#control.readInt32LE(at + 8), this.#control.readInt32LE(at + 12))) {
        return this.#control.subarray(at + CMSG_HEADER_BYTES, at + lengthBytes);
      }
      at += Math.ceil(lengthBytes / CMSG_ALIGNMENT) * CMSG_ALIGNMENT;
    }
    return undefined;
  }
}
