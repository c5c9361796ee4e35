/**
 * Queue of runs to checkers. A message costs almost the same whatever is in it, so runs of a short interval go to one checker in one
 * message. A checker that got no message in that interval gets the next run at once, so a small installation does not wait. Pure.
 */
import type { After } from "../../engine/transport/after.ts";
import type { CheckerReport } from "../../store/state/checkers.ts";

/** Of one message: a server of 256 configs alone may have a hundred kilobytes. */
const RUNS_PER_MESSAGE = 128;
const MESSAGE_BYTES = 256 * 1_024;

export interface RunOutboxOptions<Item> {
  /** One message to a checker in this time, ms; full ones go at once. */
  readonly gapMs: number;
  readonly monotonicNowMs: () => number;
  readonly after: After;
  readonly sizeBytes: (item: Item) => number;
  readonly post: (to: CheckerReport, items: readonly Item[]) => void;
}

interface Box<Item> {
  readonly to: CheckerReport;
  items: Item[];
  sizeBytes: number;
  postedAtMs: number;
  /** Prevents the message that is to be sent at the end of the gap. */
  cancel: (() => void) | null;
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
    else box.cancel ??= this.#options.after(waitMs, () => this.#post(box));
  }

  /** Nothing that waits is sent any more. */
  close(): void {
    for (const { cancel } of this.#boxes.values()) cancel?.();
    this.#boxes.clear();
  }

  #boxOf(to: CheckerReport): Box<Item> {
    const known = this.#boxes.get(to.id);
    if (known !== undefined) return known;
    this.#forgetIdle();
    const box = { to, items: [], sizeBytes: 0, postedAtMs: Number.NEGATIVE_INFINITY, cancel: null };
    this.#boxes.set(to.id, box);
    return box;
  }

  #post(box: Box<Item>): void {
    box.cancel?.();
    box.cancel = null;
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
