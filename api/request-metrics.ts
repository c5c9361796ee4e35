/** Metrics of requests, in Prometheus' names and units. By route, because a path may hold an id or a heartbeat's token. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ReadGate } from "./read-gate.ts";

/** Seconds; from an answer out of a cache to a test that is waited for (75 s). */
const BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 75];
/** Label of requests for unknown paths: callers choose those, so they get no label of their own. */
const NO_ROUTE = { method: "other", route: "none" } as const;

/** What a route is counted by. */
interface Counted {
  readonly method: string;
  readonly path: string;
}

export interface RequestMetrics {
  /** @param route null: there is none for what was asked */
  count(route: Counted | null, status: number, seconds: number): void;
  /** Prometheus text. */
  text(): Promise<string>;
}

const REFUSES_NONE = { refused: 0, share: 1 } as const;

/** @param reads counts itself what it refuses */
export function createRequestMetrics(reads: Pick<ReadGate, "refused" | "share"> = REFUSES_NONE): RequestMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Counter({
    name: "sonde_reads_refused_total",
    help: "Reads that were answered 503 so that no check is late",
    registers,
    collect() {
      this.reset();
      this.inc(reads.refused);
    },
  });
  new Gauge({
    name: "sonde_reads_budget_ratio",
    help: "How much of the API's thread reads may use: 1, all of it, while checks begin in time",
    registers,
    collect() {
      this.set(reads.share);
    },
  });
  const requests = new Counter({
    name: "sonde_http_requests_total",
    help: "Answered requests",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const duration = new Histogram({
    name: "sonde_http_request_duration_seconds",
    help: "From the whole request to its answer",
    labelNames: ["method", "route"],
    buckets: BUCKETS_S,
    registers,
  });
  const labels = new Map<Counted, { readonly method: string; readonly route: string }>();
  const labelsOf = (route: Counted): { readonly method: string; readonly route: string } => {
    const known = labels.get(route) ?? { method: route.method, route: route.path };
    labels.set(route, known);
    return known;
  };
  return {
    count(route, status, seconds) {
      const { method, route: path } = route === null ? NO_ROUTE : labelsOf(route);
      requests.inc({ method, route: path, status });
      duration.observe({ method, route: path }, seconds);
    },
    text: () => registry.metrics(),
  };
}
