/** How far a long command is: one line that is drawn over on a terminal, a line for each step elsewhere. */
import { plain } from "../table.ts";

const DRAW_EVERY_MS = 200;

export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  #words = "";
  #drawnAtMs = 0;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** @param share of 1; absent: it is not known */
  readonly tell = (words: string, share?: number): void => {
    const isNew = words !== this.#words;
    this.#words = words;
    if (!this.#stream.isTTY) {
      if (isNew) this.#stream.write(`${plain(words)} …\n`);
      return;
    }
    const nowMs = performance.now();
    if (!isNew && nowMs - this.#drawnAtMs < DRAW_EVERY_MS) return;
    this.#drawnAtMs = nowMs;
    const percent = share === undefined ? "" : ` ${Math.floor(share * 100)} %`;
    this.#stream.write(`\r${plain(words)}${percent} …\u001b[K`);
  };

  close(): void {
    if (this.#stream.isTTY) this.#stream.write("\r\u001b[K");
  }
}
