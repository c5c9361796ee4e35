/** The queue of one workspace and one engine, whose processes are started one after the other: when the next is due, and which configs it gets. */
import type { Engine } from "../../model/subscription.ts";
import { startsInMs, takeBatch } from "./batch.ts";
import type { OutboundRequest } from "./outbound-request.ts";

/** Pause after a process that died early or did not start without fault of a config, ms: doubled each time. */
const FIRST_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 10_000;

export class BatchQueue {
  readonly engine: Engine;
  /** Unique among the queues. */
  readonly name: string;
  isStarting = false;
  #waiting: OutboundRequest[] = [];
  #lastStartAtMs = Number.NEGATIVE_INFINITY;
  #lastStartMs = 0;
  #backOffMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(engine: Engine, name: string) {
    this.engine = engine;
    this.name = name;
  }

  /** Whether the queue can be dropped: nothing waits or starts, and its last start is too long ago to delay the next. */
  isIdle(nowMs: number): boolean {
    return this.#waiting.length === 0 && !this.isStarting && nowMs - this.#lastStartAtMs > MAX_BACK_OFF_MS;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(request: OutboundRequest): void {
    this.#waiting.push(request);
  }

  /** @param open outbounds that are open in all cores. @returns 0: now */
  dueInMs(open: number, nowMs: number): number {
    return startsInMs({
      waiting: this.#waiting.length,
      oldestMs: nowMs - (this.#waiting[0]?.requestedAtMs ?? nowMs),
      open,
      sinceLastStartMs: nowMs - this.#lastStartAtMs,
      lastStartMs: this.#lastStartMs,
      backOffMs: this.#backOffMs,
    });
  }

  /** Calls `then` once after `inMs`; a later call replaces an earlier one. */
  startIn(inMs: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, inMs);
  }

  /** Cancels startIn(). */
  clearTimer(): void {
    clearTimeout(this.#timer);
  }

  takeBatch(): readonly OutboundRequest[] {
    const { batch, rest } = takeBatch(this.#waiting.filter(({ isClosed }) => !isClosed));
    this.#waiting = rest;
    return batch;
  }

  startBegan(nowMs: number): void {
    this.isStarting = true;
    this.#lastStartAtMs = nowMs;
  }

  startEnded(nowMs: number): void {
    this.isStarting = false;
    this.#lastStartMs = nowMs - this.#lastStartAtMs;
  }

  /** The next start waits, longer each time. */
  backOff(): void {
    this.#backOffMs = Math.min(MAX_BACK_OFF_MS, this.#backOffMs === 0 ? FIRST_BACK_OFF_MS : this.#backOffMs * 2);
  }

  recovered(): void {
    this.#backOffMs = 0;
  }
}
