/** `sonde pause` and `sonde resume`: checks of monitors stop, and go on. */
import type { Command } from "commander";
import type { MonitorRow } from "../client.ts";
import { addServiceOptions, connectTo, type ServiceOptions } from "../service-options.ts";
import { forEach } from "../several.ts";

export function addPause(program: Command): void {
  define(program, "pause", "stop the checks of monitors; they keep their history", false);
}

export function addResume(program: Command): void {
  define(program, "resume", "check paused monitors again, the first time at once", true);
}

function define(program: Command, name: "pause" | "resume", description: string, active: boolean): void {
  addServiceOptions(program.command(name))
    .argument("<monitor...>", "such as srv_1")
    .description(description)
    .addHelpText("after", `\nExample:\n  sonde ${name} srv_1 srv_2\n`)
    .action(async (ids: readonly string[], options: ServiceOptions) => {
      const client = connectTo(options);
      await forEach(ids, options, {
        act: (id) => client.put<MonitorRow>(`/servers/${encodeURIComponent(id)}`, { active }),
        say: ({ id, name: called, status }) => `${id}  ${called}: ${active ? status : "paused"}`,
      });
    });
}
