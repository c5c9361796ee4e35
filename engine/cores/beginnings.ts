/**
 * Limits how many checks begin at once in a core: a batch gets ready all at once, and if its hundreds of checks began together, each would measure
 * the load of the others. The next check begins when one ends, or has waited for its server for a while.
 */

/** At once; our choice. */
const FEW = 16;
/**
 * Where so many wait, each is marked as measured in a crowd in any case (run.ts, CROWDED_SAMPLE_FROM), and more at once cost less: cores, servers
 * and our own threads are woken for several instead of each. Beyond this nothing is gained.
 */
const CROWD = 100;
const MANY = 48;
/** After which a check no longer counts as one that begins, ms. */
const BEGUN_AFTER_MS = 50;

type Begin = (giveBack: () => void) => void;

export class Beginnings {
  readonly #waiting: Begin[] = [];
  #begun = 0;

  /** Calls when it may begin, perhaps at once, with what is called when it is over. */
  take(begin: Begin): void {
    this.#waiting.push(begin);
    this.#next();
  }

  #next(): void {
    while (this.#begun < (this.#waiting.length >= CROWD ? MANY : FEW)) {
      const begin = this.#waiting.shift();
      if (begin === undefined) return;
      this.#start(begin);
    }
  }

  #start(begin: Begin): void {
    this.#begun += 1;
    let isHeld = true;
    const giveBack = (): void => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(timer);
      this.#begun -= 1;
      this.#next();
    };
    const timer = setTimeout(giveBack, BEGUN_AFTER_MS);
    timer.unref();
    begin(giveBack);
  }
}
