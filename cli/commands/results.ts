/** `sonde results`: what the latest checks said, and on request why. */
import type { Command } from "commander";
import type { ResultRowShown } from "../client.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions } from "../service-options.ts";
import { plain, renderTable, shorten, tableOptions } from "../table.ts";

interface Options extends ServiceOptions {
  readonly period?: string;
  readonly limit?: string;
  readonly failures?: boolean;
  readonly explain?: boolean;
}

/** Longest message in the table; `--explain` and `--json` show all of it. */
const MESSAGE_COLUMNS = 60;

export function addResults(program: Command): void {
  addServiceOptions(program.command("results"))
    .argument("[monitor]", "only of this monitor, such as srv_1")
    .description("show results of a running service, newest first")
    .option("--period <period>", "15m, 1h, 24h or 7d", "1h")
    .option("--limit <n>", "at most so many (1 to 1000)", "20")
    .option("--failures", "only those that were down")
    .option("--explain", "say why each failed: stage, address tried, phases, the peer's words")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde results --failures --explain\n  sonde results srv_4 --period 24h --json\n",
    )
    .action(async (monitor: string | undefined, options: Options) => {
      const client = connectTo(options);
      const path = pathOf(monitor, options.failures === true);
      const status = monitor !== undefined && options.failures === true ? "down" : undefined;
      const query = {
        period: options.period,
        limit: options.limit,
        explain: options.explain === true ? 1 : undefined,
        status,
      };
      const answer = await client.get<{ results?: ResultRowShown[]; failures?: ResultRowShown[] }>(path, query);
      if (options.json === true) return printJson(answer);
      const rows = answer.results ?? answer.failures ?? [];
      if (rows.length === 0) {
        const what = options.failures === true ? "failures" : "results";
        process.stdout.write(`No ${what} in the last ${options.period}: --period 7d shows older ones\n`);
        return;
      }
      process.stdout.write(options.explain === true ? explanations(rows) : `${resultTable(rows)}\n`);
    });
}

function pathOf(monitor: string | undefined, onlyFailures: boolean): string {
  if (monitor !== undefined) return `/results/server/${encodeURIComponent(monitor)}`;
  return onlyFailures ? "/results/failures" : "/results";
}

function resultTable(rows: readonly ResultRowShown[]): string {
  return renderTable(
    [
      { head: "tested at", dropped: 3 },
      { head: "monitor", dropped: 4 },
      { head: "name", least: 10 },
      { head: "kind", dropped: 1 },
      "status",
      { head: "latency ms", dropped: 2 },
      { head: "message", least: 12 },
    ],
    rows.map((row) => [
      row.tested_at,
      row.server_id,
      row.server_name,
      row.protocol,
      row.status,
      row.latency_ms,
      shorten(plain(row.error_message ?? ""), MESSAGE_COLUMNS),
    ]),
    tableOptions(),
  );
}

function explanations(rows: readonly ResultRowShown[]): string {
  return rows.map((row) => `${explain(row).join("\n")}\n`).join("\n");
}

function explain(row: ResultRowShown): readonly string[] {
  const head = `${row.tested_at}  ${row.server_id}  ${plain(row.server_name)}  ${row.protocol}  ${row.status}`;
  const facts = Object.entries(row.explain ?? {})
    .filter(([, value]) => value !== null && value !== "" && value !== undefined)
    .map(([name, value]) => factLine(name, typeof value === "object" ? JSON.stringify(value) : String(value)));
  const message = row.error_message === null ? [] : [factLine("message", row.error_message)];
  return [head, ...message, ...facts];
}

/** The longest name is `error_category`. */
function factLine(name: string, value: string): string {
  return `  ${name.padEnd(14)} ${plain(value)}`;
}
