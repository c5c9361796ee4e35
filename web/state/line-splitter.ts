/** No line of ours is longer, characters. */
const LONGEST_LINE = 1_000_000;

/** Pieces of text become the values of whole lines; a line that is no JSON is passed over. */
export class LineSplitter {
  readonly #take: (value: unknown) => void;
  #rest = "";

  constructor(take: (value: unknown) => void) {
    this.#take = take;
  }

  push(piece: string): void {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > LONGEST_LINE) this.#rest = "";
    for (const line of lines) {
      if (line.trim() === "") continue;
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        continue;
      }
      this.#take(value);
    }
  }
}
