/** `sonde move`. */
import type { Command } from "commander";
import type { MoveCommandOptions } from "../transfer/move.ts";

export function addMove(program: Command): void {
  program
    .command("move")
    .description("move all data from the data folder to PostgreSQL, Redis and ClickHouse, or back, while nothing runs")
    .requiredOption("--to <kind>", "servers (those of the settings) or folder (SONDE_DATA_DIR)")
    .option("--anew", "discard an unfinished move, and begin from the start")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde move --to servers\n  SONDE_DATA_DIR=/var/lib/sonde sonde move --to folder --json\n",
    )
    .action(async (options: MoveCommandOptions) => (await import("../transfer/move.ts")).runMove(options));
}
