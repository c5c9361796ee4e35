/**
 * Deadlines of the checks in flight. Checks share a few lengths, and deadlines of one length expire in the order they were set, so each
 * length is a queue: setting and clearing cost a few pointers, where a timer per check costs an object and a heap.
 * Pure: time comes as an argument, monotonic ms.
 */

/** Base class of entries with a deadline; its fields belong to Deadlines. */
export class DeadlineLink {
  expiresAtMs = 0;
  queue: DeadlineQueue | null = null;
  previous: DeadlineLink | null = null;
  next: DeadlineLink | null = null;
}

interface DeadlineQueue {
  first: DeadlineLink | null;
  last: DeadlineLink | null;
}

/** Lengths whose queues are kept when empty; a contract timeout is one of 111 whole seconds. */
const KEPT_QUEUES = 256;

export class Deadlines<Entry extends DeadlineLink> {
  readonly #queues = new Map<number, DeadlineQueue>();

  /** @param nowMs must not go back between two calls */
  add(entry: Entry, lengthMs: number, nowMs: number): void {
    let queue = this.#queues.get(lengthMs);
    if (queue === undefined) {
      if (this.#queues.size >= KEPT_QUEUES) this.#dropEmptyQueues();
      queue = { first: null, last: null };
      this.#queues.set(lengthMs, queue);
    }
    entry.expiresAtMs = nowMs + lengthMs;
    entry.queue = queue;
    entry.previous = queue.last;
    entry.next = null;
    if (queue.last === null) queue.first = entry;
    else queue.last.next = entry;
    queue.last = entry;
  }

  /** Does nothing for an entry that is not (or no longer) waiting. */
  remove(entry: Entry): void {
    const queue = entry.queue;
    if (queue === null) return;
    if (entry.previous === null) queue.first = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === null) queue.last = entry.previous;
    else entry.next.previous = entry.previous;
    entry.queue = null;
    entry.previous = null;
    entry.next = null;
  }

  /** Removes and returns what expired at or before `nowMs`. */
  takeDue(nowMs: number): Entry[] {
    const due: Entry[] = [];
    for (const queue of this.#queues.values()) {
      for (let entry = queue.first; entry !== null && entry.expiresAtMs <= nowMs; entry = queue.first) {
        this.remove(entry as Entry);
        due.push(entry as Entry);
      }
    }
    return due;
  }

  /** The earliest deadline; undefined when nothing waits. */
  nextAtMs(): number | undefined {
    let next: number | undefined;
    for (const queue of this.#queues.values()) {
      const atMs = queue.first?.expiresAtMs;
      if (atMs !== undefined && (next === undefined || atMs < next)) next = atMs;
    }
    return next;
  }

  #dropEmptyQueues(): void {
    for (const [lengthMs, queue] of this.#queues) if (queue.first === null) this.#queues.delete(lengthMs);
  }
}
