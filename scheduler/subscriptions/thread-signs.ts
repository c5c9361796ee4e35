/** Shared memory in which the thread of syncs shows its progress: the main thread can read it while the other one computes. */
import { readlinkSync } from "node:fs";

/** Int32: beats, the kernel's id of the thread. */
const SIZE_BYTES = 8;
const BEATS = 0;
const THREAD_ID = 1;

export class ThreadSigns {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory = new SharedArrayBuffer(SIZE_BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** The thread of syncs calls it at each pause. */
  beat(): void {
    Atomics.add(this.#words, BEATS, 1);
  }

  /** The thread of syncs stores its kernel id. */
  sign(): void {
    Atomics.store(this.#words, THREAD_ID, ownThreadId());
  }

  get beats(): number {
    return Atomics.load(this.#words, BEATS);
  }

  /** 0 when it is not known. */
  get threadId(): number {
    return Atomics.load(this.#words, THREAD_ID);
  }
}

/** The calling thread's, as the kernel numbers it (proc(5), /proc/thread-self); 0 without /proc. */
function ownThreadId(): number {
  try {
    return Number(/\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
