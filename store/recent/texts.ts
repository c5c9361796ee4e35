/** Texts by number, each kept once: ten thousand rows of a target that is away have one message. Bounded by count and by length. */

/** A row without a message. */
export const NO_TEXT = 0;
/** A row whose message had no room: it cannot be shown from memory. */
export const LOST_TEXT = 1;
const FIRST = 2;
/** Numbers fit 16 bits. */
const MOST_TEXTS = 65_536 - FIRST;

export class Texts {
  readonly #mostCharacters: number;
  readonly #numbers = new Map<string, number>();
  readonly #texts: (string | undefined)[] = [];
  /** Rows that have the text. */
  readonly #uses: number[] = [];
  readonly #free: number[] = [];
  #characters = 0;

  constructor(mostCharacters: number) {
    this.#mostCharacters = mostCharacters;
  }

  /** Of all texts together. */
  get characters(): number {
    return this.#characters;
  }

  /** @returns the number for a row that has the text from now on, until it is released */
  take(text: string | null): number {
    if (text === null) return NO_TEXT;
    const known = this.#numbers.get(text);
    if (known !== undefined) {
      this.#uses[known - FIRST] = (this.#uses[known - FIRST] ?? 0) + 1;
      return known;
    }
    const isFull = this.#numbers.size >= MOST_TEXTS || this.#characters + text.length > this.#mostCharacters;
    if (isFull) return LOST_TEXT;
    const number = this.#free.pop() ?? this.#texts.length + FIRST;
    this.#texts[number - FIRST] = text;
    this.#uses[number - FIRST] = 1;
    this.#numbers.set(text, number);
    this.#characters += text.length;
    return number;
  }

  /** @param number neither of the two words above */
  textOf(number: number): string {
    return this.#texts[number - FIRST] ?? "";
  }

  release(number: number): void {
    if (number < FIRST) return;
    const uses = (this.#uses[number - FIRST] ?? 0) - 1;
    this.#uses[number - FIRST] = uses;
    const text = this.#texts[number - FIRST];
    if (uses > 0 || text === undefined) return;
    this.#texts[number - FIRST] = undefined;
    this.#numbers.delete(text);
    this.#characters -= text.length;
    this.#free.push(number);
  }
}
