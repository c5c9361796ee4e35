/** The queue of one workspace and one engine, whose processes are started one after the other: when the next is due, and which configs it gets. */
import { startsInMs, takeBatch } from "./batch.ts";
import type { Engine } from "./core.ts";
import type { Ticket } from "./ticket.ts";

/** After processes that died or would not start for no config's fault, ms: doubled each time. */
const FIRST_BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 10_000;

export class Lane {
  readonly engine: Engine;
  /** Its own among lanes. */
  readonly name: string;
  isStarting = false;
  #waiting: Ticket[] = [];
  #lastStartAtMs = Number.NEGATIVE_INFINITY;
  #lastStartMs = 0;
  #backOffMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(engine: Engine, name: string) {
    this.engine = engine;
    this.name = name;
  }

  /** Since the last start, ms; whether what it remembers of it still decides anything. */
  isIdle(nowMs: number): boolean {
    return this.#waiting.length === 0 && !this.isStarting && nowMs - this.#lastStartAtMs > LONGEST_BACK_OFF_MS;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(ticket: Ticket): void {
    this.#waiting.push(ticket);
  }

  /** @param open outbounds that are open in all cores. @returns 0: now */
  dueInMs(open: number, nowMs: number): number {
    return startsInMs({
      waiting: this.#waiting.length,
      oldestMs: nowMs - (this.#waiting[0]?.askedAtMs ?? nowMs),
      open,
      sinceLastStartMs: nowMs - this.#lastStartAtMs,
      lastStartMs: this.#lastStartMs,
      backOffMs: this.#backOffMs,
    });
  }

  /** Of calls before the time has come the last one counts. */
  later(inMs: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, inMs);
  }

  /** Nothing is due any more. */
  rest(): void {
    clearTimeout(this.#timer);
  }

  takeBatch(): readonly Ticket[] {
    const { batch, rest } = takeBatch(this.#waiting.filter(({ isGone }) => !isGone));
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
    this.#backOffMs = Math.min(LONGEST_BACK_OFF_MS, this.#backOffMs === 0 ? FIRST_BACK_OFF_MS : this.#backOffMs * 2);
  }

  recovered(): void {
    this.#backOffMs = 0;
  }
}
