/**
 * Readiness of file descriptors for a thread that has no other work: it waits in the kernel. A wake-up by Node's event loop (readiness.ts) costs
 * several times what is done then, and while thousands of checks run nearly every call of a core is a wake-up of its own.
 *
 * The thread's event loop stands still meanwhile. So a sender of a message rings the thread's bell, an eventfd(2), and the wait ends.
 */
import { readSync, writeSync } from "node:fs";
import {
  EPOLL_CTL_ADD,
  EPOLL_CTL_DEL,
  EPOLL_DATA_OFFSET,
  EPOLL_EVENT_BYTES,
  EPOLLIN,
  type Libc,
  SOCK_CLOEXEC,
  systemError,
} from "../libc.ts";
import type { Readiness } from "../readiness.ts";

/** Descriptors of one epoll_wait(2). */
const EVENTS_PER_CALL = 64;
const COUNTER_BYTES = 8;

interface Watched {
  readonly generation: number;
  readonly onReady: (events: number) => void;
}

/** Ends the wait of the thread that the bell belongs to. */
export function ring(bell: number): void {
  const one = Buffer.alloc(COUNTER_BYTES);
  one.writeBigUInt64LE(1n, 0);
  writeSync(bell, one);
}

export class WaitingLoop implements Pick<Readiness, "watch" | "unwatch"> {
  readonly #libc: Libc;
  readonly #bell: number;
  readonly #epoll: number;
  readonly #watched = new Map<number, Watched>();
  readonly #events = Buffer.alloc(EVENTS_PER_CALL * EPOLL_EVENT_BYTES);
  readonly #numbers = new Int32Array(this.#events.buffer, this.#events.byteOffset, this.#events.length / 4);
  readonly #event = Buffer.alloc(EPOLL_EVENT_BYTES);
  readonly #counter = Buffer.alloc(COUNTER_BYTES);
  #generation = 0;
  #hasRung = false;

  /**
   * @param bell an eventfd(2) of the caller's that does not wait
   * @throws an errno error
   */
  constructor(libc: Libc, bell: number) {
    this.#libc = libc;
    this.#bell = bell;
    this.#epoll = libc.epoll_create1(SOCK_CLOEXEC);
    if (this.#epoll < 0) throw systemError("epoll_create1", libc.errno());
    this.watch(bell, EPOLLIN, () => {
      readSync(this.#bell, this.#counter);
      this.#hasRung = true;
    });
  }

  watch(fd: number, mask: number, onReady: (events: number) => void): void {
    this.#generation = (this.#generation + 1) >>> 0;
    const event = this.#event;
    event.writeUInt32LE(mask, 0);
    event.writeInt32LE(fd, EPOLL_DATA_OFFSET);
    event.writeUInt32LE(this.#generation, EPOLL_DATA_OFFSET + 4);
    if (this.#libc.epoll_ctl(this.#epoll, EPOLL_CTL_ADD, fd, event) !== 0) {
      throw systemError("epoll_ctl", this.#libc.errno());
    }
    this.#watched.set(fd, { generation: this.#generation, onReady });
  }

  unwatch(fd: number): void {
    if (this.#watched.delete(fd)) this.#libc.epoll_ctl(this.#epoll, EPOLL_CTL_DEL, fd, this.#event);
  }

  /** Waits, and calls back for what is ready, until the bell rings, or nothing was ready for that long, or there were so many wake-ups. */
  wait(idleMs: number, mostWakes: number): void {
    this.#hasRung = false;
    for (let wakes = 0; wakes < mostWakes && !this.#hasRung; wakes++) {
      const count = this.#libc.epoll_wait(this.#epoll, this.#events, EVENTS_PER_CALL, idleMs);
      // Nothing was ready, or a signal came.
      if (count <= 0) return;
      for (let index = 0; index < count; index++) this.#tell((index * EPOLL_EVENT_BYTES) / 4);
    }
  }

  close(): void {
    this.#watched.clear();
    this.#libc.close(this.#epoll);
  }

  /** @param at the index of the event's first number */
  #tell(at: number): void {
    const numbers = this.#numbers;
    const found = this.#watched.get(numbers[at + EPOLL_DATA_OFFSET / 4] ?? -1);
    // A descriptor closed and opened anew by a listener earlier in this batch is another one.
    if (found === undefined || (numbers[at + EPOLL_DATA_OFFSET / 4 + 1] ?? 0) >>> 0 !== found.generation) return;
    found.onReady((numbers[at] ?? 0) >>> 0);
  }
}
