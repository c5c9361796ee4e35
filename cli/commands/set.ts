/** `sonde set`: changes fields of a monitor. */
import type { Command } from "commander";
import type { MonitorRow } from "../client.ts";
import { addServiceOptions, connectTo, printJson, type ServiceOptions, tellWarnings } from "../service-options.ts";
import { plain } from "../table.ts";

export function addSet(program: Command): void {
  addServiceOptions(program.command("set"))
    .argument("<monitor>", "such as srv_1")
    .argument("<field=value...>", "fields of the API; field@file takes what a file holds")
    .description("change fields of a monitor of a running service")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde set srv_1 interval=30 name='Shop, front page'\n  sonde set srv_2 'tags=[\"prod\",\"eu\"]'\n  sonde set srv_3 method=POST body@order.json bearer_token@token.txt\n",
    )
    .action(async (id: string, fields: readonly string[], options: ServiceOptions) => {
      const { fieldOfWord } = await import("../check/field-words.ts");
      const client = await connectTo(options);
      const body = Object.fromEntries(fields.map(fieldOfWord));
      const changed = await client.put<MonitorRow>(`/servers/${encodeURIComponent(id)}`, body);
      tellWarnings(changed);
      if (options.json === true) return printJson(changed);
      process.stdout.write(`${changed.id}  ${plain(changed.name)}: ${Object.keys(body).join(", ")} changed\n`);
    });
}
