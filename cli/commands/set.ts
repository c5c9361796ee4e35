/** `sonde set`: changes fields of a monitor. */
import type { Command } from "commander";
import type { MonitorRow } from "../client.ts";
import { CommandError } from "../command.ts";
import {
  addServiceOptions,
  connectTo,
  printJson,
  type ServiceOptions,
  tellWarnings,
  warningsOf,
} from "../service-options.ts";
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
      const client = connectTo(options);
      const body = Object.fromEntries(fields.map(fieldOfWord));
      const changed = await client.put<MonitorRow>(`/servers/${encodeURIComponent(id)}`, body);
      tellWarnings(changed);
      const warnings = warningsOf(changed);
      const taken = Object.keys(body).filter((name) => !warnings.some((text) => text.includes(`field "${name}" `)));
      if (options.json === true) printJson(changed);
      else if (taken.length > 0)
        process.stdout.write(`${plain(`${changed.id}  ${changed.name}: ${taken.join(", ")} changed`)}\n`);
      // A script that misspells a field must not go on as if it were set.
      if (warnings.length > 0) throw new CommandError("not all of it was set: see above what was ignored");
    });
}
