/** Slots of an empty table: two to the power of so many bits. */
const SMALLEST_BITS = 6;
const SMALLEST = 2 ** SMALLEST_BITS;
/** 2^32 divided by the golden ratio, odd (Knuth, volume 3, section 6.4, Fibonacci hashing). */
const SCATTER = 0x9e37_79b1;

/**
 * Objects by a number, for what comes and goes with each check. Map and Set are slow here, not by themselves but by V8's collector: when one of them
 * grows or shrinks it makes a new table, and the old one keeps what it held and a link to the new one
 * (v8/src/objects/ordered-hash-table.cc, Rehash). Once one table has become old, every later one is kept until the next full collection, and with
 * it what was in it: nearly every check's objects were then collected as old ones, each costing several times what a young one does.
 *
 * Open addressing with linear probing; removal moves later entries back (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R),
 * so a table that stays as full as it is never grows. It does not shrink. Ids are scattered, because those of one moment follow one another: side by
 * side they would be one long row of full slots, and each removal would walk to its end.
 */
export class IdTable<Value extends object> {
  #ids = new Float64Array(SMALLEST);
  #values: (Value | undefined)[] = new Array<Value | undefined>(SMALLEST).fill(undefined);
  #size = 0;
  /** Bits of a scattered id that its place does not need. */
  #shift = 32 - SMALLEST_BITS;

  get size(): number {
    return this.#size;
  }

  get(id: number): Value | undefined {
    return this.#values[this.#slotOf(id)];
  }

  has(id: number): boolean {
    return this.get(id) !== undefined;
  }

  /** @param id a whole number from 0 to 2^53 - 1 */
  set(id: number, value: Value): void {
    let slot = this.#slotOf(id);
    if (this.#values[slot] === undefined) {
      if ((this.#size + 1) * 2 > this.#ids.length) {
        this.#grow();
        slot = this.#slotOf(id);
      }
      this.#size += 1;
      this.#ids[slot] = id;
    }
    this.#values[slot] = value;
  }

  /** Removes and returns it. */
  take(id: number): Value | undefined {
    const slot = this.#slotOf(id);
    const value = this.#values[slot];
    if (value !== undefined) this.#empty(slot);
    return value;
  }

  /** A copy, in the order of their ids. */
  values(): Value[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.#values.length; slot++) if (this.#values[slot] !== undefined) slots.push(slot);
    const ids = this.#ids;
    slots.sort((one, other) => (ids[one] ?? 0) - (ids[other] ?? 0));
    return slots.flatMap((slot) => this.#values[slot] ?? []);
  }

  /** @returns where the id is, or the empty slot where it belongs; at least half of the slots are empty */
  #slotOf(id: number): number {
    const last = this.#ids.length - 1;
    let slot = this.#homeOf(id);
    while (this.#values[slot] !== undefined && this.#ids[slot] !== id) slot = (slot + 1) & last;
    return slot;
  }

  #homeOf(id: number): number {
    return Math.imul(id, SCATTER) >>> this.#shift;
  }

  #empty(from: number): void {
    const last = this.#ids.length - 1;
    let hole = from;
    for (let slot = (hole + 1) & last; this.#values[slot] !== undefined; slot = (slot + 1) & last) {
      const id = this.#ids[slot] ?? 0;
      // It may move back to the hole unless it belongs between the hole and where it is.
      if (((slot - this.#homeOf(id)) & last) < ((slot - hole) & last)) continue;
      this.#ids[hole] = id;
      this.#values[hole] = this.#values[slot];
      hole = slot;
    }
    this.#values[hole] = undefined;
    this.#size -= 1;
  }

  #grow(): void {
    const [ids, values] = [this.#ids, this.#values];
    this.#ids = new Float64Array(ids.length * 2);
    this.#shift -= 1;
    this.#values = new Array<Value | undefined>(values.length * 2).fill(undefined);
    values.forEach((value, from) => {
      if (value === undefined) return;
      const id = ids[from] ?? 0;
      const slot = this.#slotOf(id);
      this.#ids[slot] = id;
      this.#values[slot] = value;
    });
  }
}
