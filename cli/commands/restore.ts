/** `sonde restore`. */
import type { Command } from "commander";
import type { RestoreCommandOptions } from "../transfer/restore.ts";

export function addRestore(program: Command): void {
  program
    .command("restore")
    .argument("<file>", "a file that sonde backup wrote")
    .description("put a backup into an empty data folder: all of it or nothing")
    .option("--data <folder>", "the data folder (otherwise SONDE_DATA_DIR)")
    .option("--key <file>", "the sealing key that its secrets need; it is copied into the folder")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde restore sonde.tar.gz --data data --key sealing.key\n  SONDE_DATA_DIR=/var/lib/sonde sonde restore /var/backups/sonde.tar.gz --key /etc/sonde/sealing.key\n",
    )
    .action(async (file: string, options: RestoreCommandOptions) =>
      (await import("../transfer/restore.ts")).runRestore(file, options),
    );
}
