/**
 * Whether the control plane is to be asked for news. Each question is a few queries that nearly always find nothing, and they are most of what an
 * idle scheduler costs. A database that has a stamp (SQLite) says in microseconds whether anything was committed, by any process.
 */
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";

/** It is asked this often although nothing was committed, ms. Our choice: for what is due by time alone. */
const ALWAYS_MS = 5_000;

export class CommitWatch {
  readonly #stampOf: ControlPlane["stamp"];
  readonly #monotonicNowMs: () => number;
  /** Of the last question that said yes; null: there is none, or what followed it failed. */
  #stamp: number | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  /** @param monotonicNowMs ms, since any moment */
  constructor(stampOf: ControlPlane["stamp"], monotonicNowMs: () => number) {
    this.#stampOf = stampOf;
    this.#monotonicNowMs = monotonicNowMs;
  }

  /** To be asked before the queries: what is committed meanwhile is news for the next question. Without a stamp the answer is always yes. */
  hasNews(): boolean {
    const nowMs = this.#monotonicNowMs();
    const stamp = this.#readStamp();
    if (stamp !== null && stamp === this.#stamp && nowMs - this.#askedAtMs < ALWAYS_MS) return false;
    this.#stamp = stamp;
    this.#askedAtMs = nowMs;
    return true;
  }

  /** A database that cannot be read is asked all the same: the queries say what is wrong with it. */
  #readStamp(): number | null {
    try {
      return this.#stampOf();
    } catch {
      return null;
    }
  }

  /** A query failed: the next question says yes. */
  forget(): void {
    this.#stamp = null;
  }
}
