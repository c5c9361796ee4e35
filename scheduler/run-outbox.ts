/**
 * What waits to be sent to checkers: runs of one short moment go to one checker in one message, because most of what a message costs it
 * costs whatever is in it. Who was sent nothing for that long gets the next at once, so a small installation waits for nothing.
 */
import type { CheckerReport } from "../store/state/checkers.ts";

/** Of one message: a server of 256 configs alone may have a hundred kilobytes. */
const RUNS_PER_MESSAGE = 128;
const MESSAGE_BYTES = 256 * 1_024;

export interface RunOutboxOptions<Item> {
  /** One message to a checker in this time, ms; full ones go at once. */
  readonly gapMs: number;
  readonly monotonicNowMs: () => number;
  readonly sizeBytes: (item: Item) => number;
  readonly post: (to: CheckerReport, items: readonly Item[]) => void;
}

interface Box<Item> {
  readonly to: CheckerReport;
  items: Item[];
  sizeBytes: number;
  postedAtMs: number;
  timer: NodeJS.Timeout | undefined;
}

export class RunOutbox<Item> {
  readonly #options: RunOutboxOptions<Item>;
  /** By checker. */
  readonly #boxes = new Map<string, Box<Item>>();

  constructor(options: RunOutboxOptions<Item>) {
    this.#options = options;
  }

  add(to: CheckerReport, items: readonly Item[]): void {
    const box = this.#boxOf(to);
    for (const item of items) {
      const sizeBytes = this.#options.sizeBytes(item);
      const isFull = box.items.length === RUNS_PER_MESSAGE || box.sizeBytes + sizeBytes > MESSAGE_BYTES;
      if (isFull && box.items.length > 0) this.#post(box);
      box.items.push(item);
      box.sizeBytes += sizeBytes;
    }
    const waitMs = box.postedAtMs + this.#options.gapMs - this.#options.monotonicNowMs();
    if (waitMs <= 0) this.#post(box);
    else box.timer ??= setTimeout(() => this.#post(box), waitMs);
  }

  /** Nothing that waits is sent any more. */
  close(): void {
    for (const { timer } of this.#boxes.values()) clearTimeout(timer);
    this.#boxes.clear();
  }

  #boxOf(to: CheckerReport): Box<Item> {
    const known = this.#boxes.get(to.id);
    if (known !== undefined) return known;
    this.#forgetIdle();
    const box = { to, items: [], sizeBytes: 0, postedAtMs: Number.NEGATIVE_INFINITY, timer: undefined };
    this.#boxes.set(to.id, box);
    return box;
  }

  #post(box: Box<Item>): void {
    clearTimeout(box.timer);
    box.timer = undefined;
    const { items } = box;
    if (items.length === 0) return;
    box.items = [];
    box.sizeBytes = 0;
    box.postedAtMs = this.#options.monotonicNowMs();
    this.#options.post(box.to, items);
  }

  /** Checkers come and go: their ids are new at each start. */
  #forgetIdle(): void {
    const nowMs = this.#options.monotonicNowMs();
    for (const [id, { items, postedAtMs }] of this.#boxes) {
      if (items.length === 0 && nowMs - postedAtMs > this.#options.gapMs) this.#boxes.delete(id);
    }
  }
}
