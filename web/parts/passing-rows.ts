/**
 * Which rows of a long list are drawn in part, because many pass at once and each of them is in view for less than a glance. They are drawn whole when
 * fewer pass, a few in each frame, so that no frame has all of them to draw. Pure.
 */
import type { RowWindow } from "./window.ts";

/** With so many new rows in one frame, they pass: at 60 frames a second, 240 rows a second. */
const MANY = 4;
/** Rows that are drawn whole in one frame. */
const AT_ONCE = 5;

export class PassingRows {
  /** Their places in the whole list. */
  readonly #indices = new Set<number>();

  get isEmpty(): boolean {
    return this.#indices.size === 0;
  }

  has(index: number): boolean {
    return this.#indices.has(index);
  }

  /** @returns whether many rows pass */
  moved(before: RowWindow, { first, end }: RowWindow): boolean {
    for (const index of this.#indices) if (index < first || index >= end) this.#indices.delete(index);
    const fresh: number[] = [];
    for (let index = first; index < end; index++) if (index < before.first || index >= before.end) fresh.push(index);
    if (fresh.length < MANY) return false;
    for (const index of fresh) this.#indices.add(index);
    return true;
  }

  /** Draws some of them whole. @returns whether there are more */
  settle(): boolean {
    let left = AT_ONCE;
    for (const index of this.#indices) {
      if (left-- === 0) return true;
      this.#indices.delete(index);
    }
    return false;
  }
}
