/** Metrics of the proxy cores, in Prometheus' names and units. */
import { Gauge, Registry } from "prom-client";
import type { CoreStats } from "./supervisor.ts";

const HELP: Readonly<Record<keyof CoreStats, readonly [name: string, help: string]>> = {
  running: ["sonde_cores_running", "Processes of proxy cores"],
  started: ["sonde_cores_started_total", "Processes of proxy cores that were started"],
  crashed: [
    "sonde_cores_crashed_total",
    "Processes of proxy cores that died by themselves, or were killed because they hung or grew",
  ],
  quarantined: ["sonde_cores_quarantined", "Configs that a core refuses or dies of, and that it is not given any more"],
  waiting: ["sonde_outbounds_waiting", "Share links that wait for a proxy core"],
  open: ["sonde_outbounds_open", "Share links that are open in a proxy core"],
  refused: [
    "sonde_cores_refused_total",
    "Connections and datagrams of proxy cores to what none of their configs names, which were refused",
  ],
  residentBytes: ["sonde_cores_resident_bytes", "Resident memory of the proxy cores"],
};

const registry = new Registry();
const gauges = Object.entries(HELP).map(([key, [name, help]]) => ({
  key: key as keyof CoreStats,
  gauge: new Gauge({ name, help, registers: [registry] }),
}));

export async function coresMetrics(stats: CoreStats | undefined): Promise<string> {
  if (stats === undefined) return "";
  for (const { key, gauge } of gauges) gauge.set(stats[key]);
  return registry.metrics();
}
