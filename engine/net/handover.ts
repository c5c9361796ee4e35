/**
 * Hands over a by-product of a parser. The parser attaches it to the object that it returns, and its user takes it from there once, so that a
 * text is parsed only once where it is run. A by-product that is never taken is collected with its object.
 */
export class Handover<Key extends object, Value> {
  readonly #left = new WeakMap<Key, Value>();

  leave(key: Key, value: Value): void {
    this.#left.set(key, value);
  }

  /** @returns undefined when it was taken before, or when this is not the object that the parser returned */
  take(key: Key): Value | undefined {
    const value = this.#left.get(key);
    this.#left.delete(key);
    return value;
  }
}
