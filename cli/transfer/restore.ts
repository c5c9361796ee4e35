/** `sonde restore`: puts a backup into an empty data folder. */
import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import type { Manifest } from "../../store/backup/manifest.ts";
import { CommandError } from "../command.ts";
import { loadOwnConfig } from "../own-config.ts";
import { printJson } from "../service-options.ts";
import { plain } from "../table.ts";
import { ProgressLine } from "./progress.ts";
import { rowsOf } from "./words.ts";

export interface RestoreCommandOptions {
  readonly data?: string;
  readonly key?: string;
  readonly json?: boolean;
}

export async function runRestore(file: string, options: RestoreCommandOptions): Promise<void> {
  const config = loadOwnConfig();
  if (options.key !== undefined) requireKey(options.key);
  const dataDir = options.data === undefined ? config.dataDir : resolve(options.data);
  const progress = new ProgressLine();
  const { restoreBackup } = await import("../../store/backup/restore.ts");
  const manifest = await restoreBackup({
    file: resolve(file),
    dataDir,
    keyFile: options.key === undefined ? null : resolve(options.key),
    keyElsewhere: config.sealingKeyFile,
    progress: progress.tell,
  }).finally(() => progress.close());
  if (options.json === true) printJson(factsOf(manifest, dataDir));
  else process.stdout.write(textOf(manifest, dataDir));
}

function requireKey(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new CommandError(`--key: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function factsOf({ version, madeAt, host, tables, results, sealingKeyId }: Manifest, dataDir: string): object {
  return { data: dataDir, version, made_at: madeAt, host, tables, results, sealing_key: sealingKeyId };
}

function textOf({ version, madeAt, host, tables, results }: Manifest, dataDir: string): string {
  const [monitors, rows] = [rowsOf(tables.monitors ?? 0, "monitor"), rowsOf(results.results ?? 0, "result")];
  return `${dataDir} holds the backup of ${plain(host)}, ${plain(madeAt)}, release ${plain(version)}: ${monitors}, ${rows}. Start the service on it (sonde up).\n`;
}
