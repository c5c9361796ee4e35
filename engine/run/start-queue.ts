/**
 * Which run may start next in a prober: ordinary runs in the order they came, and runs that must be alone. Pure.
 *
 * The start of a tunnel costs several times as much as an uptime check (key agreements), so tunnels and other checks start alternately: many
 * tunnels that are due at once delay only other tunnels, not ports or websites.
 *
 * Runs that must be alone wait until nothing is in flight and then go one after the other; after one second of that, the waiting ordinary
 * runs start before the next second, so neither sort starves the other.
 */

/** How long alone runs may keep ordinary ones waiting, ms. */
const ALONE_PHASE_MS = 1_000;

export class StartQueue<Run> {
  readonly #light = new Fifo<Run>();
  readonly #heavy = new Fifo<Run>();
  readonly #alone = new Fifo<Run>();
  /** When the running phase of alone runs began; null between two of them. */
  #aloneSinceMs: number | null = null;
  /** Ordinary runs that still go before the next phase of alone runs. */
  #ordinaryBeforeAlone = 0;
  #aloneInFlight = false;
  #wasHeavy = false;

  get waiting(): number {
    return this.#ordinary + this.#alone.size;
  }

  add(run: Run, alone: boolean, isHeavy = false): void {
    if (alone) this.#alone.push(run);
    else if (isHeavy) this.#heavy.push(run);
    else this.#light.push(run);
  }

  /** The next run that may start while `inFlight` others are running; undefined when none may. */
  take(inFlight: number, nowMs: number): Run | undefined {
    if (this.#aloneInFlight && inFlight > 0) return undefined;
    this.#aloneInFlight = false;
    if (this.#alone.size === 0) {
      this.#aloneSinceMs = null;
      this.#ordinaryBeforeAlone = 0;
      return this.#takeOrdinary();
    }
    if (this.#aloneSinceMs !== null && nowMs - this.#aloneSinceMs >= ALONE_PHASE_MS) {
      this.#aloneSinceMs = null;
      this.#ordinaryBeforeAlone = this.#ordinary;
    }
    if (this.#ordinaryBeforeAlone > 0) {
      this.#ordinaryBeforeAlone--;
      return this.#takeOrdinary();
    }
    if (inFlight > 0) return undefined;
    this.#aloneSinceMs ??= nowMs;
    this.#aloneInFlight = true;
    return this.#alone.shift();
  }

  takeAll(): Run[] {
    const all: Run[] = [];
    for (const queue of [this.#alone, this.#light, this.#heavy]) {
      for (let run = queue.shift(); run !== undefined; run = queue.shift()) all.push(run);
    }
    this.#aloneInFlight = false;
    this.#aloneSinceMs = null;
    this.#ordinaryBeforeAlone = 0;
    return all;
  }

  get #ordinary(): number {
    return this.#light.size + this.#heavy.size;
  }

  #takeOrdinary(): Run | undefined {
    const isHeavyNext = this.#heavy.size > 0 && (this.#light.size === 0 || !this.#wasHeavy);
    this.#wasHeavy = isHeavyNext;
    return isHeavyNext ? this.#heavy.shift() : this.#light.shift();
  }
}

/** First in, first out, in constant time: a head that moves through chunks that are dropped when they are used up. */
class Fifo<Item> {
  #in: Item[] = [];
  #out: Item[] = [];
  #head = 0;

  get size(): number {
    return this.#in.length + this.#out.length - this.#head;
  }

  push(item: Item): void {
    this.#in.push(item);
  }

  shift(): Item | undefined {
    if (this.#head === this.#out.length) {
      this.#out = this.#in;
      this.#in = [];
      this.#head = 0;
    }
    return this.#head < this.#out.length ? this.#out[this.#head++] : undefined;
  }
}
