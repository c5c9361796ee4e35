/**
 * The sockets that a thread has opened by native calls, in memory that outlives the thread: when it is terminated, Node closes the sockets
 * that Node opened, but not these. One bit each; written by the thread, read by the thread that cleans up after it.
 */
import type { Libc } from "./libc.ts";

/** Linux's usual hard limit of descriptors (RLIM_NOFILE); numbers above it are not tracked. */
const LIMIT = 1_048_576;
const WORD_BITS = 32;

export class OwnedDescriptors {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory = new SharedArrayBuffer(LIMIT / 8)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** Called after opening. A thread that ends in between leaks the descriptor, which is better than to close another's. */
  add(fd: number): void {
    const word = fd >>> 5;
    if (word < this.#words.length) this.#words[word] = (this.#words[word] ?? 0) | (1 << (fd % WORD_BITS));
  }

  /** Before it is closed: afterwards the number may be another's. */
  remove(fd: number): void {
    const word = fd >>> 5;
    if (word < this.#words.length) this.#words[word] = (this.#words[word] ?? 0) & ~(1 << (fd % WORD_BITS));
  }

  /** Once the thread has ended. @returns how many there were */
  closeAll(libc: Pick<Libc, "close">): number {
    let closed = 0;
    for (const [word, bits] of this.#words.entries()) {
      if (bits === 0) continue;
      for (let bit = 0; bit < WORD_BITS; bit++) {
        if ((bits & (1 << bit)) === 0) continue;
        const fd = word * WORD_BITS + bit;
        this.remove(fd);
        libc.close(fd);
        closed++;
      }
    }
    return closed;
  }
}
