/**
 * Series of single monitors for Prometheus, up to a bound that the operator sets (SONDE_MONITOR_METRICS): series cost memory there, and names
 * of monitors are labels, which everything that may read /metrics sees.
 */
import { Gauge, Registry } from "prom-client";
import { formatId } from "../model/ids.ts";
import type { MonitorFigures, Monitors } from "../store/sql/monitors/port.ts";

const MS_PER_DAY = 86_400_000;
const LABELS = ["monitor", "name", "type", "project"] as const;

/** @param most monitors with series; 0: none, and nothing is read. @returns Prometheus text */
export async function monitorMetrics(
  monitors: Pick<Monitors, "figures">,
  most: number,
  nowMs: number,
): Promise<string> {
  if (most === 0) return "";
  const { rows, total } = await monitors.figures(most);
  const registry = new Registry();
  const registers = [registry];
  const labelNames = [...LABELS];
  const up = new Gauge({
    name: "sonde_monitor_up",
    help: "0 while the monitor is down, 1 while it is healthy, degraded or partial; none while it is paused or unknown",
    labelNames,
    registers,
  });
  const latency = new Gauge({
    name: "sonde_monitor_latency_seconds",
    help: "Latency of the latest check, where it passed",
    labelNames,
    registers,
  });
  const certificate = new Gauge({
    name: "sonde_monitor_certificate_days",
    help: "Days until the certificate expires that was seen last",
    labelNames,
    registers,
  });
  const leftOut = new Gauge({
    name: "sonde_monitors_without_series",
    help: "Monitors beyond SONDE_MONITOR_METRICS: the newest ones have no series",
    registers,
  });
  for (const row of rows) {
    const labels = labelsOf(row);
    if (row.status !== "unknown") up.set(labels, row.status === "down" ? 0 : 1);
    if (row.latencyMs !== null) latency.set(labels, row.latencyMs / 1_000);
    if (row.certificateExpiresAtMs !== null) certificate.set(labels, (row.certificateExpiresAtMs - nowMs) / MS_PER_DAY);
  }
  leftOut.set(total - rows.length);
  return registry.metrics();
}

function labelsOf({ id, name, kind, projectId }: MonitorFigures): Record<(typeof LABELS)[number], string> {
  return { monitor: formatId("server", id), name, type: kind, project: formatId("project", projectId) };
}
