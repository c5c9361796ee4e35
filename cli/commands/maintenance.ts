/** `sonde maintenance`: periods in which checks change no status, incidents or alerts. */
import type { Command } from "commander";
import { usageError } from "../command.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions } from "../service-options.ts";
import { forEach } from "../several.ts";
import { plain, renderTable, tableOptions } from "../table.ts";

interface MaintenanceRow {
  readonly id: string;
  readonly server_id: string;
  readonly server_name: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly state: string;
}

interface ListOptions extends ServiceOptions {
  readonly state?: string;
  readonly monitor?: string;
}

interface AddOptions extends ServiceOptions {
  readonly tag?: string;
  readonly from?: string;
  readonly until?: string;
  readonly minutes?: number;
}

export function addMaintenance(program: Command): void {
  const group = program
    .command("maintenance")
    .description("list, begin and end maintenance, in which checks change no status, incidents or alerts");
  addServiceOptions(group.command("list"))
    .option("--state <state>", "only active, next or ended ones; without it active and next")
    .option("--monitor <id>", "only of this monitor, such as srv_1")
    .description("list current and planned maintenance")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde maintenance list\n  sonde maintenance list --state ended --monitor srv_1\n",
    )
    .action(async ({ state, monitor, ...options }: ListOptions) => {
      const client = connectTo(options);
      const query = { state, server_id: monitor };
      const answer = await client.get<{ maintenances: MaintenanceRow[] }>("/maintenances", query);
      if (options.json === true) return printJson(answer);
      const none = state === undefined ? "No maintenance is on or planned" : "No such maintenance";
      process.stdout.write(`${answer.maintenances.length === 0 ? none : table(answer.maintenances)}\n`);
    });
  addServiceOptions(group.command("add"))
    .argument("[monitor...]", "such as srv_1")
    .option("--tag <tag>", "all monitors with this tag")
    .option("--minutes <n>", "how long", minutesOf)
    .option("--until <time>", "or until when, such as 2026-11-21T22:00:00Z")
    .option("--from <time>", "from when on; otherwise from now on")
    .description("begin or plan maintenance for monitors or a tag")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde maintenance add srv_1 srv_2 --minutes 90\n  sonde maintenance add --tag prod --from 2026-11-21T22:00:00Z --minutes 30\n",
    )
    .action(add);
  addServiceOptions(group.command("end"))
    .argument("<maintenance...>", "such as mnt_1")
    .description("end maintenance now; what has not begun is removed")
    .addHelpText("after", "\nExample:\n  sonde maintenance end mnt_1\n")
    .action(async (ids: readonly string[], options: ServiceOptions) => {
      const client = connectTo(options);
      await forEach(ids, options, {
        act: (id) => client.post<MaintenanceRow>(`/maintenances/${encodeURIComponent(id)}/end`, {}),
        say: ({ id, server_name: name }) => `${id}  ${plain(name)}: ended`,
      });
    });
}

async function add(ids: readonly string[], { tag, from, until, minutes, ...options }: AddOptions): Promise<void> {
  if (ids.length === 0 && tag === undefined) throw usageError("which monitors? Name them, or give --tag");
  if ((until === undefined) === (minutes === undefined)) throw usageError("until when? Give --minutes or --until");
  const client = connectTo(options);
  const body = {
    ...(ids.length > 0 && { server_ids: ids }),
    ...(tag !== undefined && { tag }),
    ...(from !== undefined && { starts_at: timeOf(from, "--from") }),
    ends_at: until === undefined ? endOf(from, minutes ?? 0) : timeOf(until, "--until"),
  };
  const answer = await client.post<{ maintenances: MaintenanceRow[] }>("/maintenances", body);
  if (options.json === true) return printJson(answer);
  process.stdout.write(`${table(answer.maintenances)}\n`);
}

function endOf(from: string | undefined, minutes: number): string {
  const startMs = from === undefined ? Date.now() : Date.parse(from);
  return new Date(startMs + minutes * 60_000).toISOString();
}

/** @returns the text as it stands: the service reads it */
function timeOf(text: string, option: string): string {
  if (Number.isNaN(Date.parse(text))) throw usageError(`${option} must be a time such as 2026-11-21T22:00:00Z`);
  return text;
}

function table(rows: readonly MaintenanceRow[]): string {
  const cells = rows.map((row) => [
    row.id,
    row.server_id,
    row.server_name,
    row.state,
    shortTime(row.starts_at),
    shortTime(row.ends_at),
  ]);
  return renderTable(
    [
      "id",
      { head: "monitor", dropped: 1 },
      { head: "name", least: 10 },
      { head: "state", dropped: 2 },
      { head: "from (UTC)", dropped: 3 },
      "until (UTC)",
    ],
    cells,
    tableOptions(),
  );
}

/** Without parts of a second. */
function shortTime(iso: string): string {
  return iso.replace("T", " ").replace(/\.\d+Z$/, "");
}

function minutesOf(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1) throw usageError("--minutes must be a whole number, 1 or more");
  return Number(text);
}
