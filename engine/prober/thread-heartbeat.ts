/** Shared memory in which a prober's thread reports to the main thread: it stays readable when the thread hangs or has died. */

/** Int32: beats, thread id; Float64 at byte 8: the check that was last about to do something, and which of its configs. */
const SIZE_BYTES = 24;
const BEATS = 0;
const THREAD_ID = 1;
const SUSPECT_OFFSET_BYTES = 8;

export class ThreadHeartbeat {
  readonly memory: SharedArrayBuffer;
  readonly #counters: Int32Array;
  readonly #suspect: Float64Array;

  constructor(memory = new SharedArrayBuffer(SIZE_BYTES)) {
    this.memory = memory;
    this.#counters = new Int32Array(memory);
    this.#suspect = new Float64Array(memory, SUSPECT_OFFSET_BYTES, 2);
  }

  /** The prober: alive. */
  beat(): void {
    Atomics.add(this.#counters, BEATS, 1);
  }

  get beats(): number {
    return Atomics.load(this.#counters, BEATS);
  }

  get threadId(): number {
    return Atomics.load(this.#counters, THREAD_ID);
  }

  set threadId(id: number) {
    Atomics.store(this.#counters, THREAD_ID, id);
  }

  /** Plain memory, not Atomics: it is written several times a check, and read only when the thread writes no more. */
  touch(checkId: number, configId: number): void {
    this.#suspect[0] = checkId;
    this.#suspect[1] = configId;
  }

  /** 0 when no check ever was. */
  get suspect(): number {
    return this.#suspect[0] ?? 0;
  }

  /** 0 when it stands for no more than itself. */
  get suspectConfig(): number {
    return this.#suspect[1] ?? 0;
  }
}
