/** What has come out so far. Pure. */
import type { Kind } from "../../model/kind.ts";
import type { CheckView } from "../check/outcome.ts";
import type { BulkItem } from "./list.ts";

export interface BulkResult {
  readonly item: BulkItem;
  readonly view: CheckView;
}

/** A rate is measured over so much of the past, and not before so much has passed, ms. */
const RATE_MS = { over: 10_000, least: 500 } as const;

export class Tally {
  readonly total: number;
  readonly results: BulkResult[] = [];
  readonly byProtocol = new Map<Kind, { checked: number; healthy: number }>();
  /** By category. */
  readonly failures = new Map<string, number>();
  healthy = 0;
  /** Ended as faults of ours; they are among the failures. */
  unmeasured = 0;
  /** Why, for the first of them. */
  unmeasuredReason: string | null = null;
  /** By id, Mbit/s; null: the download brought nothing. */
  readonly speeds = new Map<string, number | null>();
  /** Taken over from a run before. */
  resumed = 0;
  #counts: { readonly atMs: number; readonly fresh: number }[] = [];

  constructor(total: number) {
    this.total = total;
  }

  get checked(): number {
    return this.results.length;
  }

  add(result: BulkResult, isResumed = false): void {
    const { kind } = result.item;
    const { status, error_category, error_message } = result.view;
    this.results.push(result);
    if (isResumed) this.resumed += 1;
    const protocol = this.byProtocol.get(kind) ?? { checked: 0, healthy: 0 };
    this.byProtocol.set(kind, protocol);
    protocol.checked += 1;
    if (status === "healthy") {
      this.healthy += 1;
      protocol.healthy += 1;
      return;
    }
    const reason = error_category ?? "unknown";
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
    if (status !== "unknown") return;
    this.unmeasured += 1;
    this.unmeasuredReason ??= error_message;
  }

  /** To be called now and then. @returns checks a second lately; null while too little is known */
  rate(nowMs: number): number | null {
    this.#counts.push({ atMs: nowMs, fresh: this.checked - this.resumed });
    while (this.#counts.length > 2 && (this.#counts[1]?.atMs ?? nowMs) <= nowMs - RATE_MS.over) this.#counts.shift();
    const [first] = this.#counts;
    if (first === undefined || nowMs - first.atMs < RATE_MS.least) return null;
    return ((this.checked - this.resumed - first.fresh) * 1_000) / (nowMs - first.atMs);
  }
}

/** The fastest first; without a latency last, then as in the list. */
export function byLatency(results: readonly BulkResult[]): BulkResult[] {
  return results
    .filter(({ view }) => view.status === "healthy")
    .sort((one, other) => (one.view.latency_ms ?? Infinity) - (other.view.latency_ms ?? Infinity) || 0);
}
