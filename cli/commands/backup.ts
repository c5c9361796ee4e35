/** `sonde backup`. */
import type { Command } from "commander";
import type { BackupCommandOptions } from "../transfer/backup.ts";

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("copy the data folder into one file, while the service runs, and read it back")
    .option("--out <file>", "the file that is made (otherwise sonde-<host>-<time>.tar.gz in this folder)")
    .option("--with-key", "put the sealing key and owner.key into it, too: the file alone opens every secret then")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde backup --out /var/backups/sonde.tar.gz\n  SONDE_DATA_DIR=/var/lib/sonde sonde backup --json\n",
    )
    .action(async (options: BackupCommandOptions) => (await import("../transfer/backup.ts")).runBackup(options));
}
