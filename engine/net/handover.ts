/**
 * What a parser read besides what it returns. It is left with the returned object and taken from it once by the code that needs it, so that a
 * text is parsed once where it is run. What is never taken ends with its object.
 */
export class Handover<Key extends object, Value> {
  readonly #left = new WeakMap<Key, Value>();

  leave(key: Key, value: Value): void {
    this.#left.set(key, value);
  }

  /** @returns undefined when it was taken before, or another object stands for it */
  take(key: Key): Value | undefined {
    const value = this.#left.get(key);
    this.#left.delete(key);
    return value;
  }
}
