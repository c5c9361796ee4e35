/** What the wheel is measured against: a binary heap on typed arrays that can move and remove timers by id, as good as we can make it. */

export interface Timers {
  insert(id: number, atMs: number): void;
  remove(id: number): boolean;
  advance(nowMs: number, onDue: (id: number, dueAtMs: number) => void): number;
}

const ABSENT = -1;

export function createHeap(capacity: number): Timers {
  return new Heap(capacity);
}

class Heap implements Timers {
  readonly #heap: Int32Array;
  readonly #position: Int32Array;
  readonly #dueAtMs: Float64Array;
  #size = 0;

  constructor(capacity: number) {
    this.#heap = new Int32Array(capacity);
    this.#position = new Int32Array(capacity).fill(ABSENT);
    this.#dueAtMs = new Float64Array(capacity);
  }

  insert(id: number, atMs: number): void {
    this.remove(id);
    this.#dueAtMs[id] = atMs;
    this.#size += 1;
    this.#up(id, this.#size - 1);
  }

  remove(id: number): boolean {
    const index = this.#position[id] as number;
    if (index === ABSENT) return false;
    this.#position[id] = ABSENT;
    this.#size -= 1;
    const last = this.#heap[this.#size] as number;
    if (last === id) return true;
    if (index > 0 && this.#due(this.#heap[(index - 1) >> 1] as number) > this.#due(last)) this.#up(last, index);
    else this.#down(last, index);
    return true;
  }

  advance(nowMs: number, onDue: (id: number, dueAtMs: number) => void): number {
    let reported = 0;
    while (this.#size > 0 && this.#due(this.#heap[0] as number) <= nowMs) {
      const id = this.#heap[0] as number;
      this.remove(id);
      reported += 1;
      onDue(id, this.#due(id));
    }
    return reported;
  }

  #due(id: number): number {
    return this.#dueAtMs[id] as number;
  }

  #put(id: number, index: number): void {
    this.#heap[index] = id;
    this.#position[id] = index;
  }

  #up(id: number, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent] as number;
      if (this.#due(above) <= this.#due(id)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(id, index);
  }

  #down(id: number, from: number): void {
    let index = from;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= this.#size) break;
      if (
        child + 1 < this.#size &&
        this.#due(this.#heap[child + 1] as number) < this.#due(this.#heap[child] as number)
      ) {
        child += 1;
      }
      const below = this.#heap[child] as number;
      if (this.#due(below) >= this.#due(id)) break;
      this.#put(below, index);
      index = child;
    }
    this.#put(id, index);
  }
}
