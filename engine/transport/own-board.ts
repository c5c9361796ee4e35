/**
 * Our own endpoints that change while we run: addresses of stores behind names, and ports of proxy cores. They are in shared memory: the main
 * thread writes them once, and the guard of every thread sees them at its next judgement, without a message and however busy its thread is.
 *
 * A counter that is odd during a write protects the entries (a sequence lock); each port is one bit, set and cleared independently.
 */

/** Of all entries as text; some thousand of them. */
const TEXT_BYTES = 64 * 1024;
const PORT_WORDS = 65_536 / 32;
/** version, length of the text, then the bits of the ports. */
const HEAD_WORDS = 2;
const PORTS_AT = HEAD_WORDS;
const TEXT_AT_BYTES = (HEAD_WORDS + PORT_WORDS) * 4;
/** After this many reads that overlap a write the reader keeps its old copy and tries again next time. */
const TRIES = 8;

export class OwnBoard {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #text: Uint8Array;
  /** How often, by this board's own writer. */
  readonly #opened = new Map<number, number>();

  /** @param memory another's board; a new one when absent */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(TEXT_AT_BYTES + TEXT_BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, HEAD_WORDS + PORT_WORDS);
    this.#text = new Uint8Array(memory, TEXT_AT_BYTES, TEXT_BYTES);
  }

  /** Changes with the entries; 0 while there are none. */
  get version(): number {
    return Atomics.load(this.#words, 0);
  }

  /** One writer at a time: the main thread. @returns false when they do not fit, and nothing was changed */
  write(entries: readonly string[]): boolean {
    const bytes = new TextEncoder().encode(entries.join("\n"));
    if (bytes.length > TEXT_BYTES) return false;
    Atomics.add(this.#words, 0, 1);
    this.#text.set(bytes);
    Atomics.store(this.#words, 1, bytes.length);
    Atomics.add(this.#words, 0, 1);
    return true;
  }

  /** Undefined when they are being written again and again. */
  read(): { readonly version: number; readonly entries: readonly string[] } | undefined {
    for (let tries = 0; tries < TRIES; tries++) {
      const { version } = this;
      if (version % 2 !== 0) continue;
      const copy = this.#text.slice(0, Atomics.load(this.#words, 1));
      if (this.version !== version) continue;
      const text = new TextDecoder().decode(copy);
      return { version, entries: text === "" ? [] : text.split("\n") };
    }
    return undefined;
  }

  /** A listener of ours on this machine, 1 to 65535. Counted: the next may have the port before the end of the last is known. */
  openPort(port: number): void {
    this.#opened.set(port, (this.#opened.get(port) ?? 0) + 1);
    Atomics.or(this.#words, PORTS_AT + (port >>> 5), 1 << (port & 31));
  }

  closePort(port: number): void {
    const left = (this.#opened.get(port) ?? 0) - 1;
    if (left > 0) {
      this.#opened.set(port, left);
      return;
    }
    this.#opened.delete(port);
    Atomics.and(this.#words, PORTS_AT + (port >>> 5), ~(1 << (port & 31)));
  }

  hasPort(port: number): boolean {
    return (Atomics.load(this.#words, PORTS_AT + (port >>> 5)) & (1 << (port & 31))) !== 0;
  }

  /** The first open port of a range, both ends included; -1 when there is none. */
  firstPort(from: number, to: number): number {
    for (let port = from; port <= to; ) {
      if ((port & 31) === 0 && Atomics.load(this.#words, PORTS_AT + (port >>> 5)) === 0) port += 32;
      else if (this.hasPort(port)) return port;
      else port++;
    }
    return -1;
  }
}
