/** Long work on a thread that others share: it makes room for them by time, because how long an item takes depends on the machine. */

/** Lets other work on this thread run. */
export type Breathe = () => Promise<void>;

/** So long others wait at most for a piece of it, ms; our choice: far below what a person who opens a page notices. */
const LONGEST_PIECE_MS = 5;
/** Items between two looks at the clock. */
const LOOK_EVERY = 16;

export class Pace {
  readonly #breathe: Breathe;
  #sinceMs = performance.now();
  #items = 0;

  constructor(breathe: Breathe) {
    this.#breathe = breathe;
  }

  /** Asked after each item: whether it is time to make room. */
  isOver(): boolean {
    this.#items += 1;
    return this.#items % LOOK_EVERY === 0 && performance.now() - this.#sinceMs >= LONGEST_PIECE_MS;
  }

  async rest(): Promise<void> {
    await this.#breathe();
    this.#sinceMs = performance.now();
  }
}
