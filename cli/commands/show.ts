/** `sonde show`: one monitor with its configs, its latest checks and its open incident. */
import type { Command } from "commander";
import type { IncidentRow } from "../client.ts";
import { type MonitorShown, monitorWords, type ResultsShown } from "../monitor-words.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions } from "../service-options.ts";
import { tableOptions } from "../table.ts";

/** As many as the line of latencies shows. */
const CHECKS = 40;

export function addShow(program: Command): void {
  addServiceOptions(program.command("show"))
    .argument("<monitor>", "such as srv_1")
    .description("show one monitor: its status and the reason, its configurations, its incident")
    .addHelpText("after", "\nExamples:\n  sonde show srv_1\n  sonde show srv_1 --json\n")
    .action(async (word: string, options: ServiceOptions) => {
      const client = connectTo(options);
      const id = encodeURIComponent(word);
      const monitor = await client.get<MonitorShown>(`/servers/${id}`);
      if (options.json === true) return printJson(monitor);
      const results = await client.get<ResultsShown>(`/results/server/${id}`, { period: "24h", limit: CHECKS });
      const { incidents } = await client.get<{ incidents: IncidentRow[] }>("/incidents", {
        server_id: monitor.id,
        status: "active",
      });
      process.stdout.write(monitorWords(monitor, results, incidents[0], tableOptions()));
    });
}
