/** How far a long command is: one line that is drawn over on a terminal, a line for each step elsewhere. */
import { plain } from "../table.ts";

const DRAW_EVERY_MS = 200;

export class ProgressLine {
  #words = "";
  #drawnAtMs = 0;

  /** @param share of 1; absent: it is not known */
  readonly tell = (words: string, share?: number): void => {
    const isNew = words !== this.#words;
    this.#words = words;
    if (!process.stderr.isTTY) {
      if (isNew) process.stderr.write(`${plain(words)} …\n`);
      return;
    }
    const nowMs = performance.now();
    if (!isNew && nowMs - this.#drawnAtMs < DRAW_EVERY_MS) return;
    this.#drawnAtMs = nowMs;
    const percent = share === undefined ? "" : ` ${Math.floor(share * 100)} %`;
    process.stderr.write(`\r${plain(words)}${percent} …\u001b[K`);
  };

  close(): void {
    if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  }
}
