/**
 * Copies of another process' memory, and what is sent from them. One at a time: the next copy is written over the last. Where a container's profile
 * refuses process_vm_readv(2), as Podman's does, the memory is read from /proc (proc_pid_mem(5)), under the same rights.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { Libc } from "../libc.ts";
import { HEADER_BYTES, IOVEC_BYTES, MAX_DATA_BYTES, type Range } from "./message.ts";
import { IPV6_BYTES } from "./peer.ts";

/** Header, vector, name and control of a message: less than 64 pieces of 16 bytes, 128 and 512. */
const PARTS_BYTES = 4_096;
const MAX_RANGES = 64;
const CONTROL_BYTES = 512;
/** errno(3) of what a seccomp profile refuses: EPERM, ENOSYS. */
const REFUSED: readonly number[] = [1, 38];
const HEADER_AT = 0;
const VECTOR_AT = HEADER_AT + HEADER_BYTES + 8;
const NAME_AT = VECTOR_AT + IOVEC_BYTES;
const CONTROL_AT = NAME_AT + 32;

/** Of one thread. */
export class ChildMemory {
  readonly #libc: Libc;
  readonly #parts: Area;
  readonly #data: Area;
  /** struct msghdr, one struct iovec, a name, a control buffer. So large that V8 never moves it. */
  readonly #message = Buffer.allocUnsafeSlow(1_024).fill(0);
  readonly #messageAt: bigint;

  constructor(libc: Libc) {
    this.#libc = libc;
    this.#parts = new Area(libc, PARTS_BYTES);
    this.#data = new Area(libc, MAX_DATA_BYTES);
    this.#messageAt = libc.addressOf(this.#message);
  }

  /** @returns one after the other, in memory of their own; null when the process has not all of them */
  readParts(pid: number, ranges: readonly Range[]): readonly Buffer[] | null {
    const all = this.#parts.read(pid, ranges);
    if (all === null) return null;
    let at = 0;
    return ranges.map(({ bytes }) => {
      const part = Buffer.from(all.subarray(at, at + bytes));
      at += bytes;
      return part;
    });
  }

  /** What readFirst() read, from its first byte on, until the next copy. */
  get first(): Buffer {
    return this.#parts.bytes;
  }

  /** @param low, high of the address. @returns false when the process has not all of them */
  readFirst(pid: number, low: number, high: number, bytes: number): boolean {
    return this.#parts.readOne(pid, low, high, bytes);
  }

  /** For send(). @returns how many bytes; null when the process has not all of them */
  readData(pid: number, ranges: readonly Range[]): number | null {
    return this.#data.read(pid, ranges)?.length ?? null;
  }

  /**
   * Sends what readData() read.
   * @param name as the socket's family has it; null: where the socket is connected to
   * @returns as sendmsg(2)
   */
  send(fd: number, dataBytes: number, name: Buffer | null, control: Buffer | null, flags: number): number {
    const out = this.#message;
    name?.copy(out, NAME_AT, 0, IPV6_BYTES);
    control?.copy(out, CONTROL_AT, 0, CONTROL_BYTES);
    out.writeBigUInt64LE(name === null ? 0n : this.#messageAt + BigInt(NAME_AT), HEADER_AT);
    out.writeUInt32LE(name?.length ?? 0, HEADER_AT + 8);
    out.writeBigUInt64LE(this.#messageAt + BigInt(VECTOR_AT), HEADER_AT + 16);
    out.writeBigUInt64LE(1n, HEADER_AT + 24);
    out.writeBigUInt64LE(control === null ? 0n : this.#messageAt + BigInt(CONTROL_AT), HEADER_AT + 32);
    out.writeBigUInt64LE(BigInt(control?.length ?? 0), HEADER_AT + 40);
    out.writeBigUInt64LE(this.#data.address, VECTOR_AT);
    out.writeBigUInt64LE(BigInt(dataBytes), VECTOR_AT + 8);
    return Number(this.#libc.sendmsg(fd, out, flags));
  }
}

class Area {
  readonly address: bigint;
  readonly bytes: Buffer;
  readonly #libc: Libc;
  /** struct iovec, in a row: where, and how many bytes. */
  readonly #local = new BigUint64Array(2);
  readonly #remote = new BigUint64Array(MAX_RANGES * 2);
  readonly #localBytes = new Uint8Array(this.#local.buffer);
  readonly #remoteBytes = new Uint8Array(this.#remote.buffer);
  readonly #localNumbers = new Uint32Array(this.#local.buffer);
  readonly #remoteNumbers = new Uint32Array(this.#remote.buffer);
  /** Whether the call is not refused here. */
  #copies = true;

  constructor(libc: Libc, size: number) {
    this.#libc = libc;
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.address = libc.addressOf(this.bytes);
  }

  /** As read() of one range, and makes no object. @param low, high of the address */
  readOne(pid: number, low: number, high: number, bytes: number): boolean {
    const local = this.#localNumbers;
    const remote = this.#remoteNumbers;
    this.#local[0] = this.address;
    local[2] = bytes;
    local[3] = 0;
    remote[0] = low;
    remote[1] = high;
    remote[2] = bytes;
    remote[3] = 0;
    if (this.#copies && bytes > 0 && bytes <= this.bytes.length) {
      const got = this.#libc.process_vm_readv(pid, this.#localBytes, 1, this.#remoteBytes, 1, 0);
      if (Number(got) === bytes) return true;
    }
    // Says why not, or reads it in another way.
    return this.read(pid, [{ at: this.#remote[0] ?? 0n, bytes }]) !== null;
  }

  read(pid: number, ranges: readonly Range[]): Buffer | null {
    if (ranges.length > MAX_RANGES) return null;
    let sum = 0;
    ranges.forEach(({ at, bytes }, index) => {
      this.#remote[index * 2] = at;
      this.#remote[index * 2 + 1] = BigInt(bytes);
      sum += bytes;
    });
    if (sum > this.bytes.length) return null;
    this.#local[0] = this.address;
    this.#local[1] = BigInt(sum);
    if (sum === 0) return this.bytes.subarray(0, 0);
    const got = this.#copies
      ? Number(this.#libc.process_vm_readv(pid, this.#localBytes, 1, this.#remoteBytes, ranges.length, 0))
      : -1;
    if (got === sum) return this.bytes.subarray(0, sum);
    if (got >= 0 || (this.#copies && !REFUSED.includes(this.#libc.errno()))) return null;
    const isRead = this.#readFile(pid, ranges);
    // From now on without the call: what refuses it once refuses it always, and another process' memory may be closed to us for good.
    if (isRead) this.#copies = false;
    return isRead ? this.bytes.subarray(0, sum) : null;
  }

  #readFile(pid: number, ranges: readonly Range[]): boolean {
    let file: number | undefined;
    try {
      file = openSync(`/proc/${pid}/mem`, "r");
      let to = 0;
      for (const { at, bytes } of ranges) {
        if (bytes > 0 && readSync(file, this.bytes, to, bytes, at) !== bytes) return false;
        to += bytes;
      }
      return true;
    } catch {
      return false;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}
