/** What has come out so far. Pure. */
import type { Kind } from "../../model/kind.ts";
import { percentileOf } from "../../model/percentile.ts";
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

/** Of what is healthy and has a latency, ms; null: nothing is. */
export interface LatencySpread {
  readonly count: number;
  /** Of them measured beside many other checks, so that they may be too high. */
  readonly crowded: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export function latencySpread(results: readonly BulkResult[]): LatencySpread | null {
  const healthy = results.filter(({ view }) => view.status === "healthy" && view.latency_ms !== null);
  const latencies = healthy.map(({ view }) => view.latency_ms ?? 0);
  const at = (share: number): number => percentileOf(latencies, share) ?? 0;
  if (healthy.length === 0) return null;
  const crowded = healthy.filter(({ view }) => view.latency_crowded).length;
  return { count: healthy.length, crowded, min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
