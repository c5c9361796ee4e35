/** Takes so many bytes at a time from a stream of chunks. */
import { damaged } from "./tar.ts";

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #left: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Exactly so many, in one piece: for what is known to be small. @throws StoreError when there are fewer */
  async take(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.stream(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Exactly so many, as they come. @throws StoreError when there are fewer */
  async *stream(length: number): AsyncGenerator<Uint8Array> {
    let wanted = length;
    while (wanted > 0) {
      if (this.#left.length === 0 && !(await this.#more())) throw damaged("it is cut short");
      const piece = this.#left.subarray(0, wanted);
      this.#left = this.#left.subarray(piece.length);
      wanted -= piece.length;
      yield piece;
    }
  }

  async isAtEnd(): Promise<boolean> {
    return this.#left.length === 0 && !(await this.#more());
  }

  /** @returns false at the end */
  async #more(): Promise<boolean> {
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      if (next.value.length === 0) continue;
      this.#left = next.value;
      return true;
    }
  }
}
