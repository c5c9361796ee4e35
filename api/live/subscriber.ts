/** One open page: what it was not told yet, at most one entry for each monitor, however long its connection takes nothing. */
import type { LiveCheck } from "../../model/live-message.ts";
import { formatIso } from "../../model/time.ts";

/** Where its events go. */
export interface EventSink {
  send(name: string, data: unknown): void;
  /** A line that is no event: proxies end what is silent. */
  keepAlive(): void;
  /** Its connection takes no more for now. */
  readonly full: boolean;
  end(): void;
}

/** Monitors that one page may watch result by result. */
export const MOST_WATCHED = 100;

export class Subscriber {
  readonly #sink: EventSink;
  readonly #watched: ReadonlySet<number>;
  readonly #pending = new Map<number, LiveCheck>();
  /** Before `hello` nothing else is sent. */
  #isGreeted = false;

  constructor(sink: EventSink, watched: readonly number[]) {
    this.#sink = sink;
    this.#watched = new Set(watched.slice(0, MOST_WATCHED));
  }

  greet(data: unknown): void {
    this.#sink.send("hello", data);
    this.#isGreeted = true;
  }

  /** Checks are told once a second. */
  checks(checks: readonly LiveCheck[]): void {
    for (const check of checks) {
      if (check.isChanged || this.#pending.has(check.monitorId) || this.#watched.has(check.monitorId))
        this.#pending.set(check.monitorId, check);
    }
  }

  /** At once. What a page is told before it was greeted it reads by itself. */
  event(name: string, data: unknown): void {
    if (this.#isGreeted) this.#sink.send(name, data);
  }

  /** @param nowMs Unix ms */
  flush(nowMs: number): void {
    if (!this.#isGreeted || this.#sink.full || this.#pending.size === 0) return;
    const rows = [...this.#pending.values()].map(({ monitorId, letter, latencyMs, checkedAtMs }) => [
      monitorId,
      letter,
      latencyMs,
      checkedAtMs === null ? null : Math.max(0, Math.floor((nowMs - checkedAtMs) / 1_000)),
    ]);
    this.#pending.clear();
    this.#sink.send("s", { at: formatIso(nowMs), m: rows });
  }

  keepAlive(): void {
    if (!this.#sink.full) this.#sink.keepAlive();
  }

  end(): void {
    this.#sink.end();
  }
}
