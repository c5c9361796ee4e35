/** `sonde ack`: says that an incident was seen. */
import type { Command } from "commander";
import type { IncidentRow } from "../client.ts";
import { addServiceOptions, connectTo, type ServiceOptions } from "../service-options.ts";
import { forEach } from "../several.ts";

interface Options extends ServiceOptions {
  readonly note?: string;
}

export function addAck(program: Command): void {
  addServiceOptions(program.command("ack"))
    .argument("<incident...>", "such as inc_1")
    .option("--note <text>", "what is known or done, at most 500 characters")
    .description("acknowledge incidents of a running service")
    .addHelpText("after", "\nExample:\n  sonde ack inc_9 --note 'deploy rolled back'\n")
    .action(async (ids: readonly string[], options: Options) => {
      const client = connectTo(options);
      const body = options.note === undefined ? {} : { note: options.note };
      await forEach(ids, options, {
        act: (id) => client.post<IncidentRow>(`/incidents/${encodeURIComponent(id)}/acknowledge`, body),
        say: ({ id, server_name: name, status }) => `${id}  ${name}: seen (${status})`,
      });
    });
}
