/**
 * Wheel: a hierarchical timing wheel. Pure: the caller gives it the time. Resolution 1 ms.
 *
 * Time is cut into ticks of 1 ms, counted from the wheel's origin. Level 0 has 32 slots of one tick, level 1 has 32 slots of 32 ticks,
 * and so on: eight levels reach 2^40 ms, 34 years from the origin.
 *
 *   level    0      1       2        3         4       5         6         7
 *   slot     1 ms   32 ms   1.02 s   32.8 s    17.5 m  9.3 h     12.4 d    397 d
 *   block    32 ms  1.02 s  32.8 s   17.5 min  9.3 h   12.4 d    397 d     34.8 a
 *
 * A timer sits in the lowest level whose current block holds its tick. So every occupied slot is ahead of the present within its
 * block, the lowest occupied level has the earliest timers, and one word of bits per level finds them: empty time costs nothing.
 *
 *   absent ──insert──▶ slot of level n ──its slot begins──▶ slot of a lower level ──▶ … ──▶ level 0 ──its tick──▶ due ──▶ reported, absent
 *      ▲                     │                                                                │
 *      └──────remove─────────┴────────────────────────────────────────────────────────────────┘
 *
 * Cost: insert, move, remove O(1) (at most eight steps); a timer moves down at most seven times in its life; 18 bytes per timer.
 * Readers may rely on: never early; within 1 ms of `nowMs` never late; the due time is reported as it was given, so what is computed
 * from it does not drift; order is that of ticks, and within one tick that of insertion. Time never runs backwards in a wheel: after a step of
 * the clock make a new one.
 */

const SLOT_BITS = 5;
const SLOTS = 1 << SLOT_BITS;
const LEVELS = 8;
/** Each slot is a circular list with a head of its own; heads come first in the link arrays, timers after them. */
const HEADS = LEVELS * SLOTS;
/** First tick that has no slot. */
const END_TICK = 2 ** (SLOT_BITS * LEVELS);
/** By level. */
const SLOT_TICKS: readonly number[] = Array.from({ length: LEVELS }, (_, level) => SLOTS ** level);

/** In place of a head: not in the wheel. */
const ABSENT = -1;
/** In place of a head: taken out by a running advance, not reported yet. */
const DUE = -2;

const FIRST_CAPACITY = 1_024;
/** Timers of a slot that nextMs looks at. */
const MOST_LOOKED_AT = 32;

export interface Wheel {
  /**
   * Sets a timer, or moves it when it is set. One that is due already comes with the next advance.
   * @param id whole number from 0, dense: memory grows with the largest
   * @throws RangeError for a time that is not finite or more than 34 years after the wheel's origin
   */
  insert(id: number, atMs: number): void;
  /** @returns false when it was not set */
  remove(id: number): boolean;
  /**
   * Reports every timer that is due, each once, after taking it out. The listener may insert and remove; what it inserts comes with
   * a later advance, however due it is, and what it removes is not reported. A time before the latest is taken for the latest.
   * @returns how many were reported
   */
  advance(nowMs: number, onDue: (id: number, dueAtMs: number) => void): number;
  /** Earliest time at which advance may have something to do, never after the first timer; Infinity when nothing is set. */
  nextMs(): number;
  /** Timers set. */
  readonly size: number;
}

export function createWheel(nowMs: number): Wheel {
  return new TypedArrayWheel(nowMs);
}

class TypedArrayWheel implements Wheel {
  readonly #originMs: number;
  /** The latest tick that was advanced to. */
  #tick = 0;
  #size = 0;
  /** One bit per slot that holds a timer, by level. */
  readonly #occupied = new Int32Array(LEVELS);
  /** Neighbours in a slot's list, by node: a head's number (level * SLOTS + slot), or HEADS + id. */
  #next = new Int32Array(HEADS + FIRST_CAPACITY);
  #previous = new Int32Array(HEADS + FIRST_CAPACITY);
  /** By id. */
  #dueAtMs = new Float64Array(FIRST_CAPACITY);
  /** By id: the head of its list, ABSENT or DUE. */
  #head = new Int16Array(FIRST_CAPACITY).fill(ABSENT);
  /** Ids that the running advance took out, in order. */
  readonly #due: number[] = [];
  #isAdvancing = false;

  constructor(nowMs: number) {
    if (!Number.isFinite(nowMs)) throw new RangeError(`a wheel cannot begin at ${nowMs}`);
    this.#originMs = Math.floor(nowMs);
    for (let head = 0; head < HEADS; head++) this.#next[head] = this.#previous[head] = head;
  }

  get size(): number {
    return this.#size;
  }

  insert(id: number, atMs: number): void {
    // Rounded up, so that a timer is never early.
    const tick = Math.ceil(atMs - this.#originMs);
    if (!(tick < END_TICK && tick > Number.NEGATIVE_INFINITY)) throw new RangeError(`a wheel cannot hold ${atMs} ms`);
    if (!Number.isInteger(id) || id < 0) throw new RangeError(`a timer's id is a whole number from 0, not ${id}`);
    if (id >= this.#head.length) this.#grow(id);
    const head = this.#head[id] as number;
    if (head === ABSENT) this.#size += 1;
    else if (head !== DUE) this.#unlink(id, head);
    this.#dueAtMs[id] = atMs;
    this.#link(id, tick);
  }

  remove(id: number): boolean {
    const head = this.#head[id] ?? ABSENT;
    if (head === ABSENT) return false;
    if (head !== DUE) this.#unlink(id, head);
    this.#head[id] = ABSENT;
    this.#size -= 1;
    return true;
  }

  advance(nowMs: number, onDue: (id: number, dueAtMs: number) => void): number {
    if (!Number.isFinite(nowMs)) throw new RangeError(`a wheel cannot advance to ${nowMs}`);
    if (this.#isAdvancing) throw new Error("advance was called from its own listener");
    this.#collect(Math.max(this.#tick, Math.min(Math.floor(nowMs - this.#originMs), END_TICK - 1)));
    const due = this.#due;
    let index = 0;
    let reported = 0;
    this.#isAdvancing = true;
    try {
      while (index < due.length) {
        const id = due[index++] as number;
        if (this.#head[id] !== DUE) continue;
        this.#head[id] = ABSENT;
        this.#size -= 1;
        reported += 1;
        onDue(id, this.#dueAtMs[id] as number);
      }
    } finally {
      this.#isAdvancing = false;
      // A listener that threw leaves the rest to the next advance.
      for (; index < due.length; index++) this.#putBack(due[index] as number);
      due.length = 0;
    }
    return reported;
  }

  nextMs(): number {
    for (let level = 0; level < LEVELS; level++) {
      if (this.#occupied[level] !== 0) return this.#originMs + this.#earliestTick(level);
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Of a short list the first timer itself, so that an idle caller need not wake up to move it down; of a long one when its slot begins. */
  #earliestTick(level: number): number {
    const slotTick = this.#firstTick(level);
    if (level === 0) return slotTick;
    const head = level * SLOTS + lowestBit(this.#occupied[level] as number);
    let tick = Number.POSITIVE_INFINITY;
    let node = this.#next[head] as number;
    for (let looked = 0; node !== head; node = this.#next[node] as number) {
      if (++looked > MOST_LOOKED_AT) return slotTick;
      tick = Math.min(tick, Math.ceil((this.#dueAtMs[node - HEADS] as number) - this.#originMs));
    }
    return tick;
  }

  /** Moves to the tick: takes out the timers that are due by then, and moves the timers of each slot that begins on the way one level down. */
  #collect(target: number): void {
    let level = 0;
    while (level < LEVELS) {
      if (this.#occupied[level] === 0) {
        level += 1;
        continue;
      }
      const first = this.#firstTick(level);
      // Higher levels begin after this level's block, so nothing up there is earlier.
      if (first > target) break;
      this.#tick = first;
      this.#empty(level);
      level = 0;
    }
    this.#tick = target;
  }

  /** Empties the level's first slot: timers of level 0 are due, timers of other levels move down. */
  #empty(level: number): void {
    const slot = lowestBit(this.#occupied[level] as number);
    const head = level * SLOTS + slot;
    let node = this.#next[head] as number;
    this.#next[head] = this.#previous[head] = head;
    this.#occupied[level] = (this.#occupied[level] as number) & ~(1 << slot);
    while (node !== head) {
      const id = node - HEADS;
      node = this.#next[node] as number;
      if (level === 0) {
        this.#head[id] = DUE;
        this.#due.push(id);
      } else {
        this.#link(id, Math.ceil((this.#dueAtMs[id] as number) - this.#originMs));
      }
    }
  }

  #firstTick(level: number): number {
    const slotTicks = SLOT_TICKS[level] as number;
    const blockTicks = slotTicks * SLOTS;
    return Math.floor(this.#tick / blockTicks) * blockTicks + lowestBit(this.#occupied[level] as number) * slotTicks;
  }

  #link(id: number, dueTick: number): void {
    const now = this.#tick;
    const tick = dueTick > now ? dueTick : now;
    let level = 0;
    let slotTicks = 1;
    while (Math.floor(tick / (slotTicks * SLOTS)) !== Math.floor(now / (slotTicks * SLOTS))) {
      slotTicks *= SLOTS;
      level += 1;
    }
    const slot = Math.floor(tick / slotTicks) & (SLOTS - 1);
    const head = level * SLOTS + slot;
    const node = HEADS + id;
    const last = this.#previous[head] as number;
    this.#next[last] = node;
    this.#previous[node] = last;
    this.#next[node] = head;
    this.#previous[head] = node;
    this.#head[id] = head;
    this.#occupied[level] = (this.#occupied[level] as number) | (1 << slot);
  }

  #unlink(id: number, head: number): void {
    const next = this.#next[HEADS + id] as number;
    const previous = this.#previous[HEADS + id] as number;
    this.#next[previous] = next;
    this.#previous[next] = previous;
    if (this.#next[head] === head) {
      const level = head >> SLOT_BITS;
      this.#occupied[level] = (this.#occupied[level] as number) & ~(1 << (head & (SLOTS - 1)));
    }
  }

  #putBack(id: number): void {
    if (this.#head[id] === DUE) this.#link(id, this.#tick);
  }

  #grow(id: number): void {
    const capacity = Math.max(id + 1, this.#head.length * 2);
    const head = new Int16Array(capacity).fill(ABSENT);
    head.set(this.#head);
    this.#head = head;
    this.#next = grown(this.#next, new Int32Array(HEADS + capacity));
    this.#previous = grown(this.#previous, new Int32Array(HEADS + capacity));
    const dueAtMs = new Float64Array(capacity);
    dueAtMs.set(this.#dueAtMs);
    this.#dueAtMs = dueAtMs;
  }
}

function grown(from: Int32Array<ArrayBuffer>, to: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  to.set(from);
  return to;
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
