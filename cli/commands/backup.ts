/** `sonde backup`. */
import type { Command } from "commander";
import type { BackupCommandOptions } from "../transfer/backup.ts";

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("copy the data folder into one file while the service runs, and verify the copy")
    .option("--out <file>", "the file to write (otherwise sonde-<host>-<time>.tar.gz in this folder)")
    .option("--with-key", "include the sealing key and owner.key: the file alone then opens every secret")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde backup --out /var/backups/sonde.tar.gz\n  SONDE_DATA_DIR=/var/lib/sonde sonde backup --json\n",
    )
    .action(async (options: BackupCommandOptions) => (await import("../transfer/backup.ts")).runBackup(options));
}
