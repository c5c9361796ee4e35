/** Metrics of the process that opens foreign keys, in Prometheus' names and units. */
import { Gauge, Registry } from "prom-client";
import type { OpenerStats } from "./opener-process.ts";

const HELP: Readonly<Record<keyof OpenerStats, readonly [name: string, help: string]>> = {
  started: ["sonde_key_openers_started_total", "Processes to open foreign keys in that were started"],
  killed: ["sonde_key_openers_killed_total", "Processes that were killed because a key, or their start, took too long"],
  opened: ["sonde_keys_opened_total", "Foreign keys that a process has answered for, refused ones among them"],
  waiting: ["sonde_keys_waiting", "Foreign keys that wait to be opened"],
};

const registry = new Registry();
const gauges = Object.entries(HELP).map(([key, [name, help]]) => ({
  key: key as keyof OpenerStats,
  gauge: new Gauge({ name, help, registers: [registry] }),
}));

export function keyOpenerMetrics(stats: OpenerStats): Promise<string> {
  for (const { key, gauge } of gauges) gauge.set(stats[key]);
  return registry.metrics();
}
