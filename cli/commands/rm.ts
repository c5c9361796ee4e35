/** `sonde rm`: deletes monitors with their results and incidents. */
import type { Command } from "commander";
import { askYes, canAsk } from "../ask.ts";
import { CommandError } from "../command.ts";
import { addServiceOptions, connectTo, type ServiceOptions } from "../service-options.ts";
import { forEach } from "../several.ts";

interface Options extends ServiceOptions {
  readonly yes?: boolean;
}

export function addRm(program: Command): void {
  addServiceOptions(program.command("rm"))
    .argument("<monitor...>", "such as srv_1")
    .option("--yes", "do not ask; needed where there is no terminal")
    .description("delete monitors with their results and incidents; sonde pause keeps them")
    .addHelpText("after", "\nExamples:\n  sonde rm srv_1\n  sonde rm srv_1 srv_2 --yes\n")
    .action(async (ids: readonly string[], options: Options) => {
      const client = connectTo(options);
      if (options.yes !== true) {
        if (!canAsk()) throw new CommandError("there is no terminal to ask on: give --yes to delete them");
        if (!(await askYes(`Delete ${ids.join(", ")} with results and incidents?`)))
          throw new CommandError("nothing was deleted");
      }
      await forEach(ids, options, {
        act: (id) => client.remove<{ readonly id: string }>(`/servers/${encodeURIComponent(id)}`),
        say: ({ id }) => `${id}  deleted`,
      });
    });
}
