/**
 * Objects by the descriptor they belong to. Descriptors are small numbers that the kernel gives again, so a list is enough; a Map would leave
 * much for V8's collector of old objects (model/id-table.ts says why).
 */
export class ByDescriptor<Value extends object> {
  readonly #values: (Value | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(fd: number): Value | undefined {
    return this.#values[fd];
  }

  set(fd: number, value: Value): void {
    // Without gaps, because V8 keeps a list with large gaps as a slow table.
    while (this.#values.length <= fd) this.#values.push(undefined);
    if (this.#values[fd] === undefined) this.#size += 1;
    this.#values[fd] = value;
  }

  /** Removes and returns it. */
  take(fd: number): Value | undefined {
    const value = this.#values[fd];
    if (value === undefined) return undefined;
    this.#values[fd] = undefined;
    this.#size -= 1;
    return value;
  }

  /** A copy, in the order of the descriptors. */
  values(): Value[] {
    return this.#values.filter((value) => value !== undefined);
  }

  clear(): void {
    this.#values.length = 0;
    this.#size = 0;
  }
}
