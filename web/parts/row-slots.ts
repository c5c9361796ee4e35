/**
 * Which row of the document shows which row of a long list. A row that leaves the view shows the one that comes into it: changing its text takes a
 * browser a fraction of the time that making its elements takes. The row that has the focus never shows another thing: a key would act on
 * what the person did not choose. Pure.
 */

export interface PlacedRow {
  /** Of the whole list. */
  readonly index: number;
  /** Rows of the document that are the same have the same key. */
  readonly key: string;
}

export class RowSlots {
  /** Of each row of the document, in the order in which they follow each other around the list. */
  #keys: string[] = [];
  #made = 0;
  /** The row of the document that comes first. */
  #start = 0;
  #placed = new Map<number, { readonly key: string; readonly id: string }>();

  /**
   * @param first index of the first row that is drawn
   * @param ids what the rows are about, from the first on
   * @param atOnce how many rows there are at most
   * @param focused index of the row that had the focus when they were last placed; null: none
   * @param inOrder whether rows must follow each other in the document too, which moves elements
   * @returns the rows as the document has them
   */
  place(
    first: number,
    ids: readonly string[],
    atOnce: number,
    focused: number | null,
    inOrder: boolean,
  ): readonly PlacedRow[] {
    while (this.#keys.length < atOnce) this.#keys.push(this.#newKey());
    this.#keys.length = atOnce;
    const held = focused === null ? undefined : this.#placed.get(focused);
    if (held !== undefined) this.#hold(held, first, ids);
    if (inOrder || held !== undefined) this.#start = first % atOnce;
    const rows: PlacedRow[] = [];
    this.#placed = new Map();
    for (let turn = 0; turn < atOnce; turn++) {
      const slot = (this.#start + turn) % atOnce;
      const offset = (slot - (first % atOnce) + atOnce) % atOnce;
      const [key, id] = [this.#keys[slot], ids[offset]];
      if (key === undefined || id === undefined) continue;
      rows.push({ index: first + offset, key });
      this.#placed.set(first + offset, { key, id });
    }
    return rows;
  }

  /** The row with the focus goes where its thing goes; where that is no longer drawn, its place gets a new row. */
  #hold(held: { readonly key: string; readonly id: string }, first: number, ids: readonly string[]): void {
    const slot = this.#keys.indexOf(held.key);
    if (slot < 0) return;
    const offset = ids.indexOf(held.id);
    if (offset < 0) {
      this.#keys[slot] = this.#newKey();
      return;
    }
    const wanted = (first + offset) % this.#keys.length;
    this.#keys[slot] = this.#keys[wanted] ?? this.#newKey();
    this.#keys[wanted] = held.key;
  }

  #newKey(): string {
    return String(this.#made++);
  }
}
