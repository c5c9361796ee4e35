/** Metrics of the scheduler's thread, in Prometheus' names and units. */
import type { Logger } from "pino";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Kind } from "../model/kind.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { Refusals } from "../store/state/refusals.ts";

/** Seconds; from a tick of the wheel to a whole minute. */
export const LATENESS_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

export interface SchedulerGauges {
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly silentMonitors: number;
  readonly backlogRows: number;
  readonly spoolBytes: number;
  readonly spoolRows: number;
  readonly droppedRows: number;
  readonly skippedTurns: number;
  readonly secondLooks: number;
  readonly unfitProbers: number;
  readonly openIncidents: number;
  readonly shards: number;
  readonly shardsTaken: number;
  readonly shardsGivenBack: number;
  readonly shardsLost: number;
  readonly refusedRows: number;
  readonly quarantined: number;
  readonly overBudget: number;
  readonly setAsideRows: number;
}

export interface SchedulerMetrics {
  count(kind: Kind, outcome: CheckOutcome): void;
  /** A secret that did not open. */
  sealedFault(error: unknown, log: Pick<Logger, "error">): void;
  text(gauges: SchedulerGauges, refusals: Pick<Refusals, "counts" | "troubled">): Promise<string>;
}

const GAUGE_HELP: Readonly<Record<keyof SchedulerGauges, readonly [name: string, help: string]>> = {
  monitors: ["sonde_monitors", "Active monitors in the plan"],
  running: ["sonde_checks_running", "Checks in flight"],
  waiting: ["sonde_checks_waiting", "Checks that are due and wait for a cap"],
  silentMonitors: ["sonde_monitors_silent", "Monitors without a result for two intervals"],
  backlogRows: ["sonde_sink_backlog_rows", "Outcomes that wait for the sink"],
  spoolBytes: ["sonde_spool_bytes", "Bytes of results that wait on disk for ClickHouse"],
  spoolRows: ["sonde_spool_rows", "Results that wait on disk for ClickHouse"],
  droppedRows: [
    "sonde_spool_dropped_rows",
    "Results without a change of status that were dropped because the spool was full",
  ],
  skippedTurns: [
    "sonde_turns_skipped",
    "Turns that were not taken: the one before still ran, or this process stood still",
  ],
  secondLooks: ["sonde_second_looks", "Failures of a crowded moment that were run again before they counted"],
  unfitProbers: ["sonde_probers_unfit", "Probers that do not trust their own measurements"],
  openIncidents: ["sonde_incidents_open", "Open incidents"],
  shards: ["sonde_shards_held", "Shards of monitors that this scheduler holds"],
  shardsTaken: ["sonde_shards_taken", "Shards taken since the start"],
  shardsGivenBack: ["sonde_shards_given_back", "Shards given back since the start, because other schedulers came"],
  shardsLost: [
    "sonde_shards_lost",
    "Shards that others took since the start, because this scheduler was taken for dead",
  ],
  quarantined: ["sonde_configs_quarantined", "Configurations that are not run because they brought a prober down"],
  overBudget: [
    "sonde_checks_over_budget",
    "Checks that take so much of a prober's thread that they are run apart from others, and seldom",
  ],
  refusedRows: [
    "sonde_sink_refused_rows",
    "Results that were not written, because another scheduler had taken the shard; their turns are its",
  ],
  setAsideRows: [
    "sonde_sink_set_aside_rows",
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
  const gauges = Object.entries(GAUGE_HELP).map(
    ([key, [name, help]]) => [key as keyof SchedulerGauges, new Gauge({ name, help, registers })] as const,
  );
  const refused = new Gauge({
    name: "sonde_checkers_refused",
    help: "Outcomes, reports and messages of a location's checkers that were refused since the start",
    labelNames: ["location"],
    registers,
  });
  const troubled = new Gauge({
    name: "sonde_location_troubled",
    help: "1 while what a location's checkers send is refused again and again: its key may be stolen",
    labelNames: ["location"],
    registers,
  });
  return {
    count(kind, outcome) {
      checks.inc({ kind, verdict: outcome.verdict });
      lateness.observe(outcome.latenessMs / 1_000);
    },
    sealedFault(error, log) {
      sealedFaults.inc();
      log.error({ err: error }, "a secret of the database does not open: its check cannot run");
    },
    async text(values, refusals) {
      const inTrouble = new Set(refusals.troubled());
      for (const [location, count] of refusals.counts) {
        refused.set({ location }, count);
        troubled.set({ location }, inTrouble.has(location) ? 1 : 0);
      }
      for (const [key, gauge] of gauges) gauge.set(values[key]);
      return registry.metrics();
    },
  };
}
