/** Metrics of a checker that is a process of its own, in Prometheus' names and units. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Kind } from "../model/kind.ts";
import type { CheckOutcome } from "../model/result.ts";
import { LATENESS_BUCKETS_S } from "../scheduler/metrics.ts";

export interface CheckerGauges {
  readonly inFlight: number;
  readonly isFit: boolean;
  readonly isLinked: boolean;
  readonly probers: number;
  readonly overBudget: number;
  readonly clockOffsetMs: number;
}

export interface CheckerMetrics {
  count(kind: Kind, outcome: CheckOutcome): void;
  /** Counts runs that were not begun, because they came too late or while the checker was stopping. */
  unrun(count: number): void;
  text(gauges: CheckerGauges): Promise<string>;
}

export function createCheckerMetrics(): CheckerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const checks = new Counter({
    name: "sonde_checker_checks_total",
    help: "Checks that this checker ran",
    labelNames: ["kind", "verdict"],
    registers,
  });
  const lateness = new Histogram({
    name: "sonde_checker_lateness_seconds",
    help: "Started minus due, the way here included",
    buckets: LATENESS_BUCKETS_S,
    registers,
  });
  const unrun = new Counter({
    name: "sonde_checker_unrun_total",
    help: "Runs that were not begun, because they came too late or the checker was stopping",
    registers,
  });
  const inFlight = new Gauge({ name: "sonde_checker_running", help: "Checks in flight", registers });
  const isFit = new Gauge({
    name: "sonde_checker_fit",
    help: "1 while the checker trusts what it measures",
    registers,
  });
  const isLinked = new Gauge({
    name: "sonde_checker_linked",
    help: "1 while runs can be taken and answered over Redis",
    registers,
  });
  const probers = new Gauge({ name: "sonde_checker_probers", help: "Prober threads that are up", registers });
  const overBudget = new Gauge({
    name: "sonde_checker_checks_over_budget",
    help: "Checks that take so much of a prober's thread that they are run apart from others, and seldom",
    registers,
  });
  const offset = new Gauge({
    name: "sonde_checker_clock_offset_seconds",
    help: "The checker's clock minus Redis's; beyond 2 s it gets nothing to run",
    registers,
  });
  return {
    count(kind, outcome) {
      checks.inc({ kind, verdict: outcome.verdict });
      lateness.observe(outcome.latenessMs / 1_000);
    },
    unrun: (count) => unrun.inc(count),
    async text(values) {
      inFlight.set(values.inFlight);
      isFit.set(values.isFit ? 1 : 0);
      isLinked.set(values.isLinked ? 1 : 0);
      probers.set(values.probers);
      overBudget.set(values.overBudget);
      offset.set(values.clockOffsetMs / 1_000);
      return registry.metrics();
    },
  };
}
