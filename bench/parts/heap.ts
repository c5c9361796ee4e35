/** What the wheel is measured against: a binary heap on typed arrays that can move and remove timers by id, as good as we can make it. */

export interface Timers {
  insert(id: number, atMs: number): void;
  remove(id: number): boolean;
  advance(nowMs: number, onDue: (id: number, dueAtMs: number) => void): number;
}

const ABSENT = -1;

export function createHeap(capacity: number): Timers {
  const heap = new Int32Array(capacity);
  const place = new Int32Array(capacity).fill(ABSENT);
  const dueAtMs = new Float64Array(capacity);
  let size = 0;

  const due = (id: number): number => dueAtMs[id] as number;

  function put(id: number, index: number): void {
    heap[index] = id;
    place[id] = index;
  }

  function up(id: number, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as number;
      if (due(above) <= due(id)) break;
      put(above, index);
      index = parent;
    }
    put(id, index);
  }

  function down(id: number, from: number): void {
    let index = from;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= size) break;
      if (child + 1 < size && due(heap[child + 1] as number) < due(heap[child] as number)) child += 1;
      const below = heap[child] as number;
      if (due(below) >= due(id)) break;
      put(below, index);
      index = child;
    }
    put(id, index);
  }

  function remove(id: number): boolean {
    const index = place[id] as number;
    if (index === ABSENT) return false;
    place[id] = ABSENT;
    size -= 1;
    const last = heap[size] as number;
    if (last === id) return true;
    if (index > 0 && due(heap[(index - 1) >> 1] as number) > due(last)) up(last, index);
    else down(last, index);
    return true;
  }

  return {
    insert(id, atMs) {
      remove(id);
      dueAtMs[id] = atMs;
      size += 1;
      up(id, size - 1);
    },
    remove,
    advance(nowMs, onDue) {
      let reported = 0;
      while (size > 0 && due(heap[0] as number) <= nowMs) {
        const id = heap[0] as number;
        remove(id);
        reported += 1;
        onDue(id, due(id));
      }
      return reported;
    },
  };
}
