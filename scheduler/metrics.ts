/** Metrics of the scheduler's thread, in Prometheus' names and units. */
import type { Logger } from "pino";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Kind } from "../model/kind.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import type { Refusals } from "../store/state/refusals.ts";

/** Seconds; from a tick of the wheel to a whole minute. */
export const LATENESS_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

export interface SchedulerGauges {
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly silentMonitors: number;
  readonly backlogRows: number;
  readonly lateRows: number;
  readonly spoolBytes: number;
  readonly spoolRows: number;
  /** Whole seconds. */
  readonly spoolOldestS: number;
  readonly unfitProbers: number;
  readonly openIncidents: number;
  readonly shards: number;
  readonly allShards: number;
  readonly quarantined: number;
  readonly overBudget: number;
}

/** Since the start. */
export interface SchedulerCounts {
  readonly lostRows: number;
  readonly droppedRows: number;
  readonly skippedTurns: number;
  readonly secondLooks: number;
  readonly shardsTaken: number;
  readonly shardsGivenBack: number;
  readonly shardsLost: number;
  readonly refusedRows: number;
  readonly setAsideRows: number;
}

export interface SchedulerMetrics {
  count(kind: Kind, outcome: CheckOutcome): void;
  /** Counts a secret that could not be opened. */
  sealedFault(error: unknown, log: Pick<Logger, "error">): void;
  text(values: SchedulerGauges & SchedulerCounts, refusals: Pick<Refusals, "counts" | "troubled">): Promise<string>;
}

const GAUGE_HELP: Readonly<Record<keyof SchedulerGauges, readonly [name: string, help: string]>> = {
  monitors: ["sonde_monitors", "Active monitors in the plan"],
  running: ["sonde_checks_running", "Checks in flight"],
  waiting: ["sonde_checks_waiting", "Checks that are due and wait for a cap"],
  silentMonitors: ["sonde_monitors_silent", "Monitors without a result for two intervals"],
  backlogRows: ["sonde_sink_backlog_rows", "Outcomes that wait for the control plane"],
  lateRows: [
    "sonde_sink_late_rows",
    "Results that wait in memory because the disk takes none; their statuses and incidents are written",
  ],
  spoolBytes: ["sonde_spool_bytes", "Bytes of results that wait on disk for ClickHouse"],
  spoolRows: ["sonde_spool_rows", "Results that wait on disk for ClickHouse"],
  spoolOldestS: ["sonde_spool_oldest_seconds", "How long the oldest of them has waited, whole seconds; 0: none waits"],
  unfitProbers: ["sonde_probers_unfit", "Probers that do not trust their own measurements"],
  openIncidents: ["sonde_incidents_open", "Open incidents"],
  shards: ["sonde_shards_held", "Shards of monitors that this scheduler holds"],
  allShards: ["sonde_shards", "Shards that the monitors are spread over, whichever scheduler holds them"],
  quarantined: ["sonde_configs_quarantined", "Configurations that are not run because they brought a prober down"],
  overBudget: [
    "sonde_checks_over_budget",
    "Checks that take so much of a prober's thread that they are run apart from others, and seldom",
  ],
};

const COUNTER_HELP: Readonly<Record<keyof SchedulerCounts, readonly [name: string, help: string]>> = {
  lostRows: ["sonde_sink_lost_rows_total", "Results that were dropped because too many waited for the disk"],
  droppedRows: [
    "sonde_spool_dropped_rows_total",
    "Results without a change of status that were dropped because the spool was full",
  ],
  skippedTurns: [
    "sonde_turns_skipped_total",
    "Turns that were not taken: the one before still ran, or this process stood still",
  ],
  secondLooks: ["sonde_second_looks_total", "Failures of a crowded moment that were run again before they counted"],
  shardsTaken: ["sonde_shards_taken_total", "Shards taken"],
  shardsGivenBack: ["sonde_shards_given_back_total", "Shards given back because other schedulers came"],
  shardsLost: ["sonde_shards_lost_total", "Shards that others took because this scheduler was taken for dead"],
  refusedRows: [
    "sonde_sink_refused_rows_total",
    "Results that were not written, because another scheduler had taken the shard; their turns are its",
  ],
  setAsideRows: [
    "sonde_sink_set_aside_rows_total",
    "Results that a store refused for what is in them, since the start; they are in set-aside.ndjson beside the spool",
  ],
};

export function createMetrics(): SchedulerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const checks = new Counter({
    name: "sonde_checks_total",
    help: "Finished checks",
    labelNames: ["kind", "verdict"],
    registers,
  });
  const sealedFaults = new Counter({
    name: "sonde_sealed_faults_total",
    help: "Secrets of the database that did not open: another key, or a text that was changed or moved",
    registers,
  });
  const lateness = new Histogram({
    name: "sonde_check_lateness_seconds",
    help: "Started minus due",
    buckets: LATENESS_BUCKETS_S,
    registers,
  });
  const finished = new FinishedChecks(checks);
  const setFigures = openFigures(registers);
  const setRefusals = openRefusals(registers);
  /** How often a counter of this file grew. */
  let counted = 0;
  let written = { of: "", text: "" };
  return {
    count(kind, outcome) {
      counted += 1;
      finished.count(kind, outcome.verdict);
      lateness.observe(outcome.latenessMs / 1_000);
    },
    sealedFault(error, log) {
      counted += 1;
      sealedFaults.inc();
      log.error({ err: error }, "a secret of the database does not open: its check cannot run");
    },
    async text(values, refusals) {
      const of = JSON.stringify([counted, values, [...refusals.counts], refusals.troubled()]);
      // An idle service has the same text each second, and making it takes longer than all else of a report.
      if (of === written.of) return written.text;
      finished.tell();
      setRefusals(refusals);
      setFigures(values);
      written = { of, text: await registry.metrics() };
      return written.text;
    },
  };
}

/** The library finds a counter by a text that it makes of the labels, which for each check costs more than counting. So counts are added up per text here. */
class FinishedChecks {
  readonly #counter: Counter<"kind" | "verdict">;
  /** Not yet passed to the library. */
  readonly #counts = new Map<Kind, Map<Verdict, number>>();

  constructor(counter: Counter<"kind" | "verdict">) {
    this.#counter = counter;
  }

  count(kind: Kind, verdict: Verdict): void {
    const known = this.#counts.get(kind);
    if (known === undefined) this.#counts.set(kind, new Map([[verdict, 1]]));
    else known.set(verdict, (known.get(verdict) ?? 0) + 1);
  }

  tell(): void {
    for (const [kind, verdicts] of this.#counts) {
      for (const [verdict, count] of verdicts) {
        if (count === 0) continue;
        this.#counter.inc({ kind, verdict }, count);
        verdicts.set(verdict, 0);
      }
    }
  }
}

/** @returns what takes what was refused since the start */
function openRefusals(registers: Registry[]): (refusals: Pick<Refusals, "counts" | "troubled">) => void {
  const refused = new Counter({
    name: "sonde_checkers_refused_total",
    help: "Outcomes, reports and messages of a location's checkers that were refused",
    labelNames: ["location"],
    registers,
  });
  const troubled = new Gauge({
    name: "sonde_location_troubled",
    help: "1 while what a location's checkers send is refused again and again: its key may be stolen",
    labelNames: ["location"],
    registers,
  });
  return (refusals) => {
    const inTrouble = new Set(refusals.troubled());
    refused.reset();
    for (const [location, count] of refusals.counts) {
      refused.inc({ location }, count);
      troubled.set({ location }, inTrouble.has(location) ? 1 : 0);
    }
  };
}

/** @returns what takes the figures of this moment */
function openFigures(registers: Registry[]): (values: SchedulerGauges & SchedulerCounts) => void {
  const gauges = Object.entries(GAUGE_HELP).map(
    ([key, [name, help]]) => [key as keyof SchedulerGauges, new Gauge({ name, help, registers })] as const,
  );
  const counters = Object.entries(COUNTER_HELP).map(
    ([key, [name, help]]) => [key as keyof SchedulerCounts, new Counter({ name, help, registers })] as const,
  );
  return (values) => {
    for (const [key, gauge] of gauges) gauge.set(values[key]);
    // The parts count by themselves and report their sums; the counter is raised by the difference.
    for (const [key, counter] of counters) {
      counter.reset();
      counter.inc(values[key]);
    }
  };
}
