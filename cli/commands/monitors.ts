/** `sonde monitors`: what is watched and how it stands. */
import type { Command } from "commander";
import type { IncidentRow, MonitorRow } from "../client.ts";
import { addServiceOptions, connectTo, printJson, type ServiceWords } from "../service-options.ts";
import { renderTable } from "../table.ts";

interface Words extends ServiceWords {
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
    .action(async (words: Words) => {
      const client = await connectTo(words);
      const { status, name, limit } = words;
      const answer = await client.get<{ servers: MonitorRow[]; total: number }>("/servers", {
        family: "all",
        explain: 1,
        status,
        name,
        limit,
      });
      if (words.json === true) return printJson(answer);
      const incidents = await client.get<{ incidents: IncidentRow[] }>("/incidents", { status: "active", limit: 1000 });
      process.stdout.write(`${monitorTable(answer.servers, incidents.incidents)}\n`);
      if (answer.total > answer.servers.length) process.stdout.write(`${answer.servers.length} of ${answer.total}\n`);
    });
}

/** One line per monitor: the demo's live table is the same. */
export function monitorTable(monitors: readonly MonitorRow[], incidents: readonly IncidentRow[]): string {
  const open = new Map(incidents.map((incident) => [incident.server_id, incident]));
  return renderTable(
    ["id", "name", "kind", "status", "latency ms", "late ms", "last checked", "incident"],
    monitors.map((monitor) => {
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
      ];
    }),
  );
}
