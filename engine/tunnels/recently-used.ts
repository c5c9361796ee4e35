/** What a holder made and can make again. */
export interface Holder {
  /** Lets go of it. */
  forget(): void;
}

/**
 * Bounds how many holders keep their cached value: the most recently used ones. It refers to them weakly, so that keys are freed with their monitor and not when
 * enough others have been used.
 */
export class RecentlyUsed {
  readonly #limit: number;
  /** The one used last is the last. */
  readonly #holders = new Set<WeakRef<Holder>>();

  /** @param limit how many, at least 1 */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param holder always the same reference for a holder */
  use(holder: WeakRef<Holder>): void {
    this.#holders.delete(holder);
    this.#holders.add(holder);
    if (this.#holders.size <= this.#limit) return;
    const [oldest = holder] = this.#holders;
    this.#holders.delete(oldest);
    oldest.deref()?.forget();
  }
}
