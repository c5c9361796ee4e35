/** `sonde monitors`: what is watched and how it stands. */
import type { Command } from "commander";
import type { Client, IncidentRow, MonitorRow, ResultRowShown } from "../client.ts";
import { latencyOf } from "../monitor-words.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions } from "../service-options.ts";
import { sparkline } from "../sparkline.ts";
import { type Column, renderTable, tableOptions } from "../table.ts";

interface Options extends ServiceOptions {
  readonly status?: string;
  readonly name?: string;
  readonly limit?: string;
}

export function addMonitors(program: Command): void {
  addServiceOptions(program.command("monitors"))
    .description("list the monitors of a running service")
    .option("--status <status>", "only healthy, down, degraded, partial, paused or unknown ones")
    .option("--name <text>", "only those whose name contains the text")
    .option("--limit <n>", "at most so many (1 to 1000)")
    .addHelpText("after", "\nExample:\n  sonde monitors --status down\n")
    .action(async (options: Options) => {
      const client = connectTo(options);
      const { status, name, limit } = options;
      const answer = await client.get<{ servers: MonitorRow[]; total: number }>("/servers", {
        family: "all",
        explain: 1,
        status,
        name,
        limit,
      });
      if (options.json === true) return printJson(answer);
      if (answer.servers.length === 0) {
        const isAll = status === undefined && name === undefined;
        process.stdout.write(isAll ? "No monitors yet: sonde add --help shows how to add one\n" : "No such monitors\n");
        return;
      }
      const incidents = await client.get<{ incidents: IncidentRow[] }>("/incidents", { status: "active", limit: 1000 });
      const recent = process.stdout.isTTY ? await recentOf(client) : undefined;
      process.stdout.write(`${monitorTable(answer.servers, incidents.incidents, recent)}\n`);
      if (answer.total > answer.servers.length) process.stdout.write(`${answer.servers.length} of ${answer.total}\n`);
    });
}

/** Checks in the line of latencies, and rows that are looked at for all monitors together. */
const RECENT = { checks: 12, rows: 1_000 } as const;

/** Latencies of each monitor's latest checks, the oldest first. */
async function recentOf(client: Client): Promise<Recent> {
  const query = { period: "1h", limit: RECENT.rows };
  const { results } = await client.get<{ results: ResultRowShown[] }>("/results", query);
  const recent = new Map<string, (number | null)[]>();
  for (const row of results) {
    const latencies = recent.get(row.server_id) ?? [];
    recent.set(row.server_id, latencies);
    if (latencies.length < RECENT.checks) latencies.unshift(latencyOf(row));
  }
  return recent;
}

type Recent = ReadonlyMap<string, readonly (number | null)[]>;

/**
 * One line per monitor: the demo's live table is the same.
 * @param recent latencies for a line of them; absent: there is no such column
 */
export function monitorTable(
  monitors: readonly MonitorRow[],
  incidents: readonly IncidentRow[],
  recent?: Recent,
  options = tableOptions(),
): string {
  const open = new Map(incidents.map((incident) => [incident.server_id, incident]));
  const columns: Column[] = [
    { head: "id" },
    { head: "name", least: 12 },
    { head: "kind", dropped: 4 },
    { head: "status" },
    { head: "latency ms", dropped: 6 },
    { head: "late ms", dropped: 1 },
    { head: "last checked", dropped: 2 },
    { head: "incident", least: 6, dropped: 5 },
  ];
  const rows = monitors.map((monitor) => {
    const incident = open.get(monitor.id);
    return [
      monitor.id,
      monitor.name,
      monitor.protocol,
      monitor.status,
      monitor.latency_ms,
      monitor.lateness_ms,
      monitor.last_checked,
      incident === undefined ? "" : `${incident.id} ${incident.severity}`,
      ...(recent === undefined ? [] : [sparkline(recent.get(monitor.id) ?? [], RECENT.checks)]),
    ];
  });
  return renderTable(recent === undefined ? columns : [...columns, { head: "last hour", dropped: 3 }], rows, options);
}
