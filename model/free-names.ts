/** Names that are given once. Where one is taken, numbers are tried from the last one that was given: ten thousand equal names take no longer than others. */
export class FreeNames {
  readonly #taken = new Set<string>();
  /** By name, the number that was given last. */
  readonly #counts = new Map<string, number>();

  take(name: string): void {
    this.#taken.add(name);
  }

  /** @param numbered the name with a number, from 2 on @returns the first that is free; it is taken then */
  free(name: string, numbered: (count: number) => string): string {
    let found = name;
    if (this.#taken.has(name)) {
      let count = this.#counts.get(name) ?? 1;
      do found = numbered(++count);
      while (this.#taken.has(found));
      this.#counts.set(name, count);
    }
    this.#taken.add(found);
    return found;
  }
}
