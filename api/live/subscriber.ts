/** One open page: what it alone was not sent yet, at most one entry for each monitor, however long its connection takes nothing. */
import type { LiveCheck } from "../../model/live-message.ts";
import { formatIso } from "../../model/time.ts";
import { sseEvent } from "../sse.ts";

/** Where its events go. */
export interface EventSink {
  /** @param event as text: written once for all pages of a project */
  send(event: string): void;
  /** Says that the stream still leads here. */
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
    this.#sink.send(sseEvent("hello", data));
    this.#isGreeted = true;
  }

  /** Whether it gets checks that the others do not get. */
  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  /** Checks are sent once a second. */
  checks(checks: readonly LiveCheck[]): void {
    for (const check of checks) {
      if (check.isChanged || this.#pending.has(check.monitorId) || this.#watched.has(check.monitorId))
        this.#pending.set(check.monitorId, check);
    }
  }

  /** At once. What happens before the greeting the page reads by itself. */
  event(text: string): void {
    if (this.#isGreeted) this.#sink.send(text);
  }

  /** @param shared what all pages of the project get now @param nowMs Unix ms */
  flush(shared: SharedChecks, nowMs: number): void {
    const takesNothing = !this.#isGreeted || this.#sink.full;
    if (!this.isWatching) {
      if (!takesNothing && this.#pending.size === 0) {
        if (shared.checks.size > 0) this.#sink.send(shared.event(nowMs));
        return;
      }
      for (const [id, check] of shared.checks) this.#pending.set(id, check);
    }
    if (takesNothing || this.#pending.size === 0) return;
    const event = checksEvent(this.#pending, nowMs);
    this.#pending.clear();
    this.#sink.send(event);
  }

  keepAlive(): void {
    if (!this.#sink.full) this.#sink.keepAlive();
  }

  end(): void {
    this.#sink.end();
  }
}

/** What all pages of a project get next, unless they watch one monitor: it is collected and written once for all of them. */
export class SharedChecks {
  readonly checks = new Map<number, LiveCheck>();
  #event: string | null = null;

  add(checks: readonly LiveCheck[]): void {
    for (const check of checks) {
      if (check.isChanged || this.checks.has(check.monitorId)) this.checks.set(check.monitorId, check);
    }
  }

  event(nowMs: number): string {
    this.#event ??= checksEvent(this.checks, nowMs);
    return this.#event;
  }
}

/** @param nowMs Unix ms */
function checksEvent(checks: ReadonlyMap<number, LiveCheck>, nowMs: number): string {
  const rows = [...checks.values()].map(({ monitorId, letter, latencyMs, checkedAtMs }) => [
    monitorId,
    letter,
    latencyMs,
    checkedAtMs === null ? null : Math.max(0, Math.floor((nowMs - checkedAtMs) / 1_000)),
  ]);
  return sseEvent("s", { at: formatIso(nowMs), m: rows });
}
