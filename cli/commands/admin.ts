/** `sonde admin`: the operator's acts on the control plane, on the stores themselves, beside a running service. */
import type { Command } from "commander";
import { addGroup } from "../admin/act.ts";
import { groups } from "../admin/index.ts";

export function addAdmin(program: Command): void {
  const admin = program
    .command("admin")
    .description("the operator's commands: people, plans, keys, locations, and what else the API does not offer")
    .addHelpText(
      "after",
      "\nWorks on the stores that SONDE_DATA_DIR or SONDE_DATABASE_URL name, beside a running service, which sees it at its next request.\n" +
        "\nExamples:\n  sonde admin workspace create --name Acme --plan pro\n  sonde admin key list --workspace 1 --json\n",
    );
  for (const group of groups) addGroup(admin, group);
}
