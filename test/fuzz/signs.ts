/** What the fuzzing thread shows without a message: which input it runs, also while it hangs or after it ran out of heap. */

/** Int32: inputs begun, number of the target, bytes of the input. */
const WORDS = 3;
const INPUT_AT = WORDS * Int32Array.BYTES_PER_ELEMENT;
/** No target takes longer inputs. */
const MOST_INPUT_BYTES = 2 * 2 ** 20;

export class Signs {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory = new SharedArrayBuffer(INPUT_AT + MOST_INPUT_BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, WORDS);
    this.#bytes = new Uint8Array(memory, INPUT_AT);
  }

  /** The thread: begins an input. @param target its place in the list */
  begin(target: number, input: Uint8Array): void {
    this.#bytes.set(input.subarray(0, MOST_INPUT_BYTES));
    this.#words[1] = target;
    this.#words[2] = Math.min(input.length, MOST_INPUT_BYTES);
    Atomics.add(this.#words, 0, 1);
  }

  /** How many were begun: it stands still while one runs. */
  get begun(): number {
    return Atomics.load(this.#words, 0);
  }

  /** The last that was begun. */
  get last(): { readonly target: number; readonly input: Buffer } {
    const [, target = 0, size = 0] = this.#words;
    return { target, input: Buffer.from(this.#bytes.subarray(0, size)) };
  }
}
