/** `sonde incidents`: stretches of down or degraded. */
import { type Command, Option } from "commander";
import type { IncidentRow } from "../client.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions } from "../service-options.ts";
import { plain, renderTable, shorten, tableOptions } from "../table.ts";

interface Options extends ServiceOptions {
  readonly status?: string;
  readonly limit?: string;
}

const MESSAGE_COLUMNS = 50;

export function addIncidents(program: Command): void {
  addServiceOptions(program.command("incidents"))
    .description("list the incidents of a running service, open ones first")
    .addOption(new Option("--status <status>", "only active or recovered ones").choices(["active", "recovered"]))
    .option("--limit <n>", "at most so many (1 to 1000)")
    .addHelpText("after", "\nExample:\n  sonde incidents --status active\n")
    .action(async (options: Options) => {
      const client = connectTo(options);
      const answer = await client.get<{ incidents: IncidentRow[] }>("/incidents", {
        status: options.status,
        limit: options.limit,
      });
      if (options.json === true) return printJson(answer);
      const none = `No ${options.status === undefined ? "" : `${options.status} `}incidents`;
      process.stdout.write(`${answer.incidents.length === 0 ? none : incidentTable(answer.incidents)}\n`);
    });
}

function incidentTable(incidents: readonly IncidentRow[]): string {
  return renderTable(
    [
      "id",
      { head: "monitor", dropped: 4 },
      { head: "name", least: 10 },
      { head: "status", dropped: 3 },
      { head: "severity", dropped: 5 },
      { head: "started", dropped: 6 },
      { head: "ended", dropped: 1 },
      { head: "seen", dropped: 2 },
      { head: "message", least: 12 },
    ],
    incidents.map((incident) => [
      incident.id,
      incident.server_id,
      incident.server_name,
      incident.status,
      incident.severity,
      incident.started_at,
      incident.ended_at,
      incident.acknowledged ? "yes" : "no",
      shorten(plain(incident.error_message), MESSAGE_COLUMNS),
    ]),
    tableOptions(),
  );
}
