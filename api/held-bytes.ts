/**
 * What the connections of a server hold of requests that are not whole, or not looked at yet, together. Each of them is bounded, and there may be thousands:
 * without a key, a few hundred that send all but the last byte of a long body would take gigabytes. Beyond the bound the one that has held longest ends:
 * an honest body is whole within moments, and one that stalls is the oldest soon. Pure.
 */

/** Of one server, bytes; our choice: sixty of the usual longest body at one time. */
export const MOST_HELD_BYTES = 64 * 1_048_576;

export interface Holder {
  /** It ends, and holds nothing any more. */
  giveUp(): void;
}

export class HeldBytes {
  readonly #most: number;
  /** The one that has held longest first. */
  readonly #held = new Map<Holder, number>();
  #bytes = 0;

  constructor(most = MOST_HELD_BYTES) {
    this.#most = most;
  }

  /** @param bytes what it holds now; 0: nothing */
  set(holder: Holder, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0);
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    for (const [oldest, size] of this.#held) {
      if (this.#bytes <= this.#most) return;
      this.#held.delete(oldest);
      this.#bytes -= size;
      oldest.giveUp();
    }
  }
}
